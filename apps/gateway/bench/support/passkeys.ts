/** Logins with passkeys. A benchmark needs many: each passkey logs in eight times in five minutes. */
import { querySqlite } from "@latchkey/testing/sqlite";
import { createAuthenticator, type PasskeyOptions } from "../../test/support/authenticator.ts";
import type { CallOptions } from "../../test/support/client.ts";
import { logIn, send } from "./clients.ts";

type Begun = { readonly options: PasskeyOptions; readonly state: string };

/** Stores this many copies of a user's passkey. Returns how to make them usable again, and how to log in with the next one. */
export async function createPasskeys(
  { url, databaseUrl }: { readonly url: string; readonly databaseUrl: string },
  count: number,
) {
  const sendTo = async <Body>(path: string, status: number, options: CallOptions): Promise<Body> =>
    (await send(url + path, options)).expect(status);
  const { create, get } = createAuthenticator();
  const user = { email: "passkey@example.org", username: "passkey", password: "correct horse battery" };
  await send(`${url}/auth/register`, { body: user });
  await querySqlite(databaseUrl, "update users set email_verified = 1");
  const token = await logIn(url, user);
  const body = { current_password: user.password };
  const { options, state } = await sendTo<Begun>("/auth/passkeys/options", 200, { body, token });
  const created = { state, response: create(options), name: "Phone" };
  await sendTo("/auth/passkeys", 201, { body: created, token });
  const copies = `with recursive copies(i) as (select 0 union all select i + 1 from copies where i < ${count})`;
  await querySqlite(
    databaseUrl,
    `insert into passkeys (credential_id, user_id, public_key, counter, name)
      ${copies} select printf('%032d', i), user_id, public_key, counter, name from copies, passkeys`,
  );
  let next = 0;
  return {
    reset: () => querySqlite(databaseUrl, "update passkeys set used_statements = '{}'"),
    /** Both requests of a login. */
    async logIn(): Promise<void> {
      const id = `${next++ % count}`.padStart(32, "0");
      const { options, state } = await sendTo<Begun>("/auth/login/passkey/options", 200, {});
      const body = { state, response: get(options, { id }) };
      await sendTo("/auth/login/passkey", 200, { body });
    },
  };
}
