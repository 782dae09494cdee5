/** Password resets and e-mail verifications over HTTP, from the request to the confirmation; the mails are rows of the outbox. */
import { describe, expect, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import type { User } from "@latchkey/contracts";
import { createKeyPair } from "@latchkey/testing/keys";
import { createOneTimeTokens } from "../../../src/tokens/one-time-tokens.ts";
import { signOneTimeToken } from "../../support/one-time-token.ts";
import { eachDatabase, SECRET_KEY, type Service, shareService, startService } from "../../support/service.ts";

const PASSWORD = "a new long passphrase";
const INVALID = { detail: "Invalid or expired link", code: "ONE_TIME_TOKEN_INVALID" };

const confirm = (service: Service, token: string, password = PASSWORD) =>
  service.call("POST", "/auth/password-reset/confirm", { body: { token, password } });
const request = (service: Service, email: string) =>
  service.call("POST", "/auth/password-reset", { body: { email } });
const verify = (service: Service, token: string) =>
  service.call("POST", "/auth/email-verification/confirm", { body: { token } });

const resetToken = async (service: Service, id: number): Promise<string> =>
  signOneTimeToken("reset", await service.readUser(id));

const kindsOf = async (service: Service): Promise<string[]> =>
  (await service.sql<{ kind: string }>("select kind from outbox order by id")).map(({ kind }) => kind);

eachDatabase((start) => {
  test("a reset sets the password, revokes all tokens, replaces the networks, verifies the e-mail and notifies", async () => {
    await using service = await start({ env: { RATE_LIMIT_ENABLED: "true" } });
    const { id, email, password, token } = await service.createUser();
    await service.database.users.update(id, {
      hashedPassword: (await service.readUser(id)).hashedPassword,
      passwordChangeTokenId: "kept",
    });
    await service.database.users.storeNetwork(id, "elsewhere");
    expect((await request(service, ` ${email.toUpperCase()}`)).status).toBe(202);
    expect(await kindsOf(service)).toEqual(["verification", "reset"]);
    const reset = await confirm(service, await resetToken(service, id));
    expect([reset.status, reset.text]).toEqual([204, ""]);
    expect(await kindsOf(service)).toEqual(["verification", "password"]);
    expect((await service.call("GET", "/auth/me", { token })).status).toBe(401);
    expect((await service.call("POST", "/auth/login", { body: { email, password } })).status).toBe(401);
    expect(await service.sql("select network_digest from user_networks")).toEqual([
      { network_digest: expect.not.stringMatching("elsewhere") },
    ]);
    expect(await service.readUser(id)).toMatchObject({ passwordChangeTokenId: null });
    const renewed = await service.login({ email, password: PASSWORD });
    const me = await service.call("GET", "/auth/me", { token: renewed });
    expect(me.expect<User>(200).email_verified).toBe(true);
  });

  test("of 50 parallel confirmations of one link, one succeeds", async () => {
    await using service = await start();
    const { user } = await service.register();
    const token = await resetToken(service, user.id);
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => confirm(service, token, `${PASSWORD} ${index}`)),
    );
    const counts = Map.groupBy(results, ({ status }) => status);
    expect([counts.get(204)?.length, counts.get(400)?.length]).toEqual([1, 49]);
    expect(counts.get(400)?.[0]?.body).toEqual(INVALID);
  });
});

describe("with one service", () => {
  const service = shareService();

  test("a verification link works repeatedly until it expires, and requests stop when the e-mail is verified", async () => {
    const { id, token } = await service().createUser();
    const user = await service().readUser(id);
    const ask = () => service().call("POST", "/auth/email-verification", { token });
    expect((await ask()).status).toBe(202);
    const rows = () => service().sql(`select id from outbox where user_id = ${id}`);
    expect(await rows()).toHaveLength(2);
    const link = signOneTimeToken("verification", user);
    for (let use = 0; use < 2; use++) expect((await verify(service(), link)).status).toBe(204);
    expect((await service().readUser(id)).emailVerified).toBe(true);
    expect([(await ask()).status, (await rows()).length]).toEqual([202, 2]);
    await service().call("DELETE", "/auth/me", { token });
    expect((await verify(service(), link)).status).toBe(204);
  });

  test("the response to a reset request is the same for every valid e-mail", async () => {
    const { email } = await service().register();
    const shapeOf = async (to: string) => {
      const { status, headers, text } = await request(service(), to);
      const { "x-request-id": _, date: __, ...rest } = Object.fromEntries(headers);
      return { status, text, rest };
    };
    const expected = await shapeOf("nobody@example.org");
    expect(expected).toMatchObject({ status: 202, text: "" });
    for (let index = 0; index < 5; index++) expect(await shapeOf(email)).toEqual(expected);
    const rows = await service().sql("select id from outbox where kind = 'reset'");
    expect(rows.length).toBeGreaterThanOrEqual(6);
  });

  test("a reset link is rejected after any change of the password or revocation, and for an inactive user", async () => {
    const changes: ((id: number, token: string) => Promise<unknown>)[] = [
      (_, token) => service().call("PATCH", "/auth/me", { token, body: { password: PASSWORD } }),
      (_, token) => service().call("DELETE", "/auth/tokens", { token }),
      (id) => service().database.users.setActive(id, false),
      (id) => service().database.users.delete(id),
    ];
    for (const change of changes) {
      const { id, token } = await service().createUser();
      const link = await resetToken(service(), id);
      await change(id, token);
      expect((await confirm(service(), link)).body).toEqual(INVALID);
    }
    const renamed = await service().createUser();
    const link = await resetToken(service(), renamed.id);
    await service().call("PATCH", "/auth/me", { token: renamed.token, body: { username: "renamed" } });
    expect((await confirm(service(), link)).status).toBe(204);
  });

  test("malformed, altered, expired and other purposes' tokens are rejected, without a derivation", async () => {
    const { id, token } = await service().createUser();
    const user = await service().readUser(id);
    const link = signOneTimeToken("reset", user);
    const [text = "", signature = ""] = link.split(".");
    const altered = Buffer.from(JSON.stringify(["reset", 1, Date.now() + 60_000, ""])).toString("base64url");
    const before = service().derivations();
    const forged = [
      ...["", "x", token, text, `${text}.`, `${text}.${signature.slice(1)}`, `${altered}.${signature}`],
      ...[`${link}.${signature}`, `${link} `, "é".repeat(1000), signOneTimeToken("verification", user)],
      signOneTimeToken("reset", user, Date.now()),
    ];
    for (const one of forged) expect((await confirm(service(), one)).body).toEqual(INVALID);
    expect((await verify(service(), link)).body).toEqual(INVALID);
    expect((await service().call("GET", "/auth/me", { token: link })).status).toBe(401);
    expect(service().derivations()).toBe(before);
    expect((await confirm(service(), link)).status).toBe(204);
  });
});

test("no published key signs a link: only the secret, the previous secret and the private key do", async () => {
  const [own, next, previous] = [createKeyPair("EdDSA"), createKeyPair("ES256"), createKeyPair("EdDSA")];
  const previousSecret = SECRET_KEY.split("").reverse().join("");
  await using service = await startService({
    env: {
      AUTH_SECRET_KEY: undefined,
      AUTH_ALGORITHM: "EdDSA",
      AUTH_PRIVATE_KEY: own.privatePem,
      AUTH_SECRET_KEY_PREVIOUS: previousSecret,
      AUTH_NEXT_PUBLIC_KEY: next.publicPem,
      AUTH_PREVIOUS_PUBLIC_KEY: previous.publicPem,
    },
  });
  const { id } = await service.createUser();
  const jwks = await service.call("GET", "/.well-known/jwks.json");
  const published = [own, next, previous].flatMap(({ publicPem }) => {
    const key = createPublicKey(publicPem);
    const { x = "" } = key.export({ format: "jwk" });
    const der = key.export({ type: "spki", format: "der" });
    return [publicPem, publicPem.trim(), der, x, Buffer.from(x, "base64url")];
  });
  const user = await service.readUser(id);
  const confirmWith = (material: string | Uint8Array) =>
    confirm(service, createOneTimeTokens([material]).sign("reset", Date.now() + 60_000, user));
  for (const material of [...published, jwks.text, "", next.privatePem])
    expect((await confirmWith(material)).body).toEqual(INVALID);
  expect((await confirmWith(previousSecret)).status).toBe(204);
});

test("requests count against the limit of mails, confirmations against that of password changes", async () => {
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_MAIL: "2/hour", RATE_LIMIT_PASSWORD_CHANGE: "1/hour" },
  });
  const { token } = await service.createUser();
  expect((await request(service, "a@example.org")).status).toBe(202);
  expect((await service.call("POST", "/auth/email-verification", { token })).status).toBe(202);
  expect((await request(service, "b@example.org")).status).toBe(429);
  expect((await confirm(service, "x")).status).toBe(400);
  expect((await confirm(service, "x")).status).toBe(429);
});

test("in production without a mail server, the routes and the pages do not exist and no mail is written", async () => {
  await using service = await startService({ env: { NODE_ENV: "production" } });
  const { token } = await service.createUser();
  await service.call("PATCH", "/auth/me", { token, body: { password: PASSWORD } });
  const requests = ["/auth/password-reset", "/auth/email-verification"];
  const paths = [...requests, ...requests.map((path) => `${path}/confirm`), "/account/forgot-password"];
  for (const path of paths) {
    // Not `service.call`, which compares responses with the document of a service that sends mail.
    const response = await fetch(service.url + path, { method: "POST" });
    const expected = [path, 404, '{"detail":"Not Found","code":"NOT_FOUND"}'];
    expect([path, response.status, await response.text()]).toEqual(expected);
  }
  expect(await kindsOf(service)).toEqual([]);
});
