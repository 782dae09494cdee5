/** The stored form of passwords at production cost, and that no response or log line contains it. */
import { expect, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import { startService } from "../../support/service.ts";

const ITERATIONS = 600_000;

test("register stores <32 hex>$<64 hex>: PBKDF2-HMAC-SHA256 with 600,000 iterations and the text of the salt", async () => {
  await using service = await startService({ hashing: "production" });
  const { user, password } = await service.register({ password: "pässword 🦊 with a tail " });
  const { hashedPassword } = await service.readUser(user.id);
  expect(hashedPassword).toMatch(/^[0-9a-f]{32}\$[0-9a-f]{64}$/);
  const [salt = "", digest] = hashedPassword.split("$");
  expect(digest).toBe(pbkdf2Sync(password, salt, ITERATIONS, 32, "sha256").toString("hex"));
});

test("every login costs one derivation of 600,000 iterations: correct, wrong, unknown, inactive and damaged alike", async () => {
  await using service = await startService({ hashing: "production" });
  const { email, password } = await service.register();
  const inactive = await service.register();
  const damaged = await service.register();
  await service.sql(`update users set is_active = false where id = ${inactive.user.id}`);
  await service.sql(`update users set hashed_password = 'damaged' where id = ${damaged.user.id}`);
  const attempts = [
    [{ email, password }, 200],
    [{ email, password: "wrong password" }, 401],
    [{ email, password: "" }, 401],
    [{ email: "nobody@example.org", password }, 401],
    [{ email: inactive.email, password: "wrong password" }, 401],
    [{ email: damaged.email, password }, 401],
  ] as const;
  for (const [body, expected] of attempts) {
    const before = service.hasher.stats();
    const { status } = await service.call("POST", "/auth/login", { body });
    const after = service.hasher.stats();
    expect([status, after.completed - before.completed, after.iterations - before.iterations]).toEqual([
      expected,
      1,
      ITERATIONS,
    ]);
  }
});

test("no response and no log line contains a hash, a salt or a password, and no log line an e-mail, a username or a path", async () => {
  await using service = await startService();
  const { email, username, id, token } = await service.createUser({ password: "pa55phrase-of-ada" });
  const password = "pa55phrase-of-ada";
  const salted = (await service.readUser(id)).hashedPassword.split("$");
  const other = await service.createUser();
  const changed = await service.call("PATCH", "/auth/me", { token, body: { password } });
  const responses = await Promise.all([
    service.call("GET", "/auth/me", { token }),
    service.call("PATCH", "/auth/me", { token, body: { password, username: other.username } }),
    service.call("POST", "/auth/register", { body: { email, username, password } }),
    service.call("POST", "/auth/login", { body: { email, password } }),
    service.call("POST", "/auth/login", { body: { email: other.email, password } }),
    service.call("POST", "/auth/login", { body: { email: [password], password } }),
    service.call("GET", `/todos?limit=${password}`),
    service.call("GET", `/${password}`),
  ]);
  expect(changed.status).toBe(200);
  expect(responses.map(({ status }) => status)).toEqual([200, 409, 409, 200, 401, 422, 422, 404]);
  salted.push(...(await service.readUser(id)).hashedPassword.split("$"));
  const logged = JSON.stringify(service.log);
  for (const secret of [password, ...salted, "hashed_password", "hashedPassword"]) {
    for (const { text } of [changed, ...responses]) expect(text).not.toContain(secret);
    expect(logged).not.toContain(secret);
  }
  for (const secret of [token, email, username]) expect(logged).not.toContain(secret);
});
