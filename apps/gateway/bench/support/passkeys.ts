/** Logins with passkeys. A benchmark needs many: each passkey logs in eight times in five minutes. */
import { openDatabase } from "@latchkey/database";
import { post, request } from "@latchkey/testing/service-process";
import { querySqlite } from "@latchkey/testing/sqlite";
import { createAuthenticator, type PasskeyOptions } from "../../test/support/authenticator.ts";

const PASSKEYS_PER_USER = 10;

type Begun = { readonly options: PasskeyOptions; readonly state: string };

/** Stores this many passkeys, all with one key, and returns the functions that make them usable again, and log in with the next one. */
export async function createPasskeys(
  { url, databaseUrl }: { url: string; databaseUrl: string },
  count: number,
) {
  const json = async <Body>(response: Response): Promise<Body> => {
    if (!response.ok) throw new Error(`${response.url} returned ${response.status}`);
    return (await response.json()) as Body;
  };
  const { create, get } = createAuthenticator();
  const user = { email: "passkey@example.org", username: "passkey", password: "correct horse battery" };
  await post(`${url}/auth/register`, user);
  await using database = await openDatabase({ url: databaseUrl });
  const { users, passkeys } = database;
  const { id = 0 } = (await users.findByEmail(user.email)) ?? {};
  await users.update(id, { emailVerified: true });
  const { access_token: token } = await json<{ access_token: string }>(await post(`${url}/auth/login`, user));
  const body = { current_password: user.password };
  const begun = await request(`${url}/auth/passkeys/options`, { method: "POST", body, token });
  const { options, state } = await json<Begun>(begun);
  const created = { state, response: create(options), name: "Phone" };
  await json(await request(`${url}/auth/passkeys`, { method: "POST", body: created, token }));
  const [{ publicKey = "" } = {}] = await passkeys.list(id);

  const keys: { id: string; userHandle: string }[] = [];
  for (let index = 0; keys.length < count; index++) {
    const name = `passkey${index}`;
    const email = `${name}@example.org`;
    const { id: userId } = await users.create({ email, username: name, hashedPassword: "salt$digest" });
    const userHandle = Buffer.from(name.padEnd(16)).toString("base64url");
    await passkeys.chooseUserHandle(userId, userHandle);
    for (let revision = 0; revision < PASSKEYS_PER_USER; revision++) {
      const id = crypto.randomUUID().replaceAll("-", "");
      const condition = { version: 0, tokenId: null, tokenVersion: 0, revision };
      const passkey = { id, userId, publicKey, counter: 0, name };
      await passkeys.create(passkey, condition, { notifies: false });
      keys.push({ id, userHandle });
    }
  }
  let next = 0;
  return {
    reset: () => querySqlite(databaseUrl, "update passkeys set used_statements = '{}'"),
    /** Both requests of a login. */
    async logIn(): Promise<void> {
      const { id = "", userHandle } = keys[next++ % keys.length] ?? {};
      const { options, state } = await json<Begun>(
        await request(`${url}/auth/login/passkey/options`, { method: "POST" }),
      );
      const response = get(options, { id, userHandle });
      await json(await post(`${url}/auth/login/passkey`, { state, response }));
    },
  };
}
