/** The stored form of passwords at production cost, and that no response or log line contains it. */
import { expect, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import { eachDatabase, type Service } from "../../support/service.ts";

const ITERATIONS = 600_000;

async function storedHashOf({ sql }: Service, id: number): Promise<string> {
  const [row] = await sql<{ hashed_password: string }>(`select hashed_password from users where id = ${id}`);
  return row?.hashed_password ?? "";
}

/** PBKDF2 of another implementation; the salt is the text itself. */
function independentHash(password: string, salt: string): string {
  return `${salt}$${pbkdf2Sync(password, Buffer.from(salt, "utf8"), ITERATIONS, 32, "sha256").toString("hex")}`;
}

eachDatabase((startService) => {
  test("register stores <32 hex>$<64 hex>: PBKDF2-HMAC-SHA256 with 600,000 iterations and the text of the salt", async () => {
    await using service = await startService({ hashing: "production" });
    const { user, password } = await service.register({ password: "pässword 🦊 with a tail " });
    const stored = await storedHashOf(service, user.id);
    expect(stored).toMatch(/^[0-9a-f]{32}\$[0-9a-f]{64}$/);
    expect(stored).toBe(independentHash(password, stored.slice(0, 32)));
  });

  test("PATCH stores a new password in the same form with a new salt", async () => {
    await using service = await startService({ hashing: "production" });
    const { id, token } = await service.createUser();
    const before = await storedHashOf(service, id);
    await service.call("PATCH", "/auth/me", { token, body: { password: "another password" } });
    const stored = await storedHashOf(service, id);
    expect(stored.slice(0, 32)).not.toBe(before.slice(0, 32));
    expect(stored).toBe(independentHash("another password", stored.slice(0, 32)));
  });

  test("login accepts a hash from another implementation", async () => {
    await using service = await startService({ hashing: "production" });
    const { email, user } = await service.register();
    const stored = independentHash("made elsewhere", "0123456789abcdef0123456789abcdef");
    await service.sql(`update users set hashed_password = '${stored}' where id = ${user.id}`);
    expect(await service.login({ email, password: "made elsewhere" })).toBeString();
  });

  test("two users with the same password have different salts and digests", async () => {
    await using service = await startService();
    const [ada, bob] = [await service.register(), await service.register()];
    expect(ada.password).toBe(bob.password);
    const parts = [ada, bob].map(async ({ user }) => (await storedHashOf(service, user.id)).split("$"));
    expect(new Set((await Promise.all(parts)).flat()).size).toBe(4);
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

  test("any damaged hash in the database returns 401", async () => {
    await using service = await startService();
    const { email, password, user } = await service.register();
    const good = await storedHashOf(service, user.id);
    const damaged = [
      "",
      "$",
      "x",
      good.toUpperCase(),
      good.slice(0, -1),
      `${good}0`,
      ` ${good}`,
      good.replace("$", ":"),
    ];
    for (const stored of damaged) {
      await service.sql(`update users set hashed_password = '${stored}' where id = ${user.id}`);
      expect((await service.call("POST", "/auth/login", { body: { email, password } })).status).toBe(401);
    }
  });

  test("no response and no log line contains a hash, a salt or a password", async () => {
    await using service = await startService();
    const { email, username, id, token } = await service.createUser({ password: "pa55phrase-of-ada" });
    const password = "pa55phrase-of-ada";
    const salted = (await storedHashOf(service, id)).split("$");
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
    salted.push(...(await storedHashOf(service, id)).split("$"));
    const logged = JSON.stringify(service.log);
    for (const secret of [password, ...salted, "hashed_password", "hashedPassword"]) {
      for (const { text } of [changed, ...responses]) expect(text).not.toContain(secret);
      expect(logged).not.toContain(secret);
    }
    expect(logged).not.toContain(token);
  });
});
