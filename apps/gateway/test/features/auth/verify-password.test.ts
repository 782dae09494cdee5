/** Users with the password hash of another system: logins, the replacement of the hash, and `current_password`. */
import { expect, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import type { Token, User } from "@latchkey/contracts";
import { bindImportedHash, QueueFull, WorkerCrashed } from "@latchkey/hashing";
import { signOneTimeToken } from "../../support/one-time-token.ts";
import { eachDatabase, type Service } from "../../support/service.ts";

const PASSWORD = "correct horse battery";
const OTHER = "another passphrase";
const EMAIL = "eve@example.org";
const STORED_FORM = /^[0-9a-f]{32}\$[0-9a-f]{64}$/;
const IMPORTED = `pbkdf2_sha256$1$salt$${pbkdf2Sync(PASSWORD, "salt", 1, 32, "sha256").toString("base64")}`;

const bcrypt = (cost: number) => `$2b$${cost}$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy`;

async function importUser({ database }: Service, importedHash = IMPORTED) {
  const hashedPassword = bindImportedHash(importedHash);
  await database.users.import([{ email: EMAIL, username: "eve", hashedPassword, importedHash }]);
  return stored(database);
}

async function stored(database: Service["database"], email = EMAIL) {
  const user = await database.users.findByEmail(email);
  if (!user) throw new Error("The user does not exist");
  return user;
}

const restoreImportedHash = ({ sql }: Service) =>
  sql(`update users set hashed_password = '${bindImportedHash(IMPORTED)}', imported_hash = '${IMPORTED}'`);

const logIn = ({ call }: Service, password: string) =>
  call("POST", "/auth/login", { body: { email: EMAIL, password } });

eachDatabase((startService) => {
  test("a login never opens the account of another user who took over the e-mail during the derivation", async () => {
    let replaceUser = async (): Promise<unknown> => undefined;
    await using service = await startService({
      wrapHasher: ({ hash }) => ({ hash: (...call) => replaceUser().then(() => hash(...call)) }),
    });
    const { id } = await importUser(service);
    // Earlier releases imported users with this version, which new users have, too.
    await service.sql("update users set token_version = 0");
    const { users } = service.database;
    replaceUser = async () => {
      await users.delete(id);
      await users.create({ email: EMAIL, username: "mallory", hashedPassword: "other$digest" });
    };
    expect((await logIn(service, PASSWORD)).status).toBe(401);
  });

  test("parallel first logins succeed, the hash is replaced once, and their tokens stay valid", async () => {
    await using service = await startService();
    const before = await importUser(service);
    const responses = await Promise.all(Array.from({ length: 8 }, () => logIn(service, PASSWORD)));
    const tokens = responses.map((response) => response.expect<Token>(200).access_token);
    const after = await stored(service.database);
    const hashedPassword = expect.stringMatching(STORED_FORM);
    const lastLoginAt = expect.any(String);
    expect(after).toEqual({ ...before, hashedPassword, importedHash: null, lastLoginAt });
    expect(after.hashedPassword).not.toBe(before.hashedPassword);
    expect((await logIn(service, OTHER)).status).toBe(401);
    tokens.push(await service.login({ email: EMAIL, password: PASSWORD }));
    for (const token of tokens) expect((await service.call("GET", "/auth/me", { token })).status).toBe(200);
    await service.request("/healthz");
    expect(service.log.filter(({ event }) => event === "password.rehashed")).toMatchObject([
      { format: "django_pbkdf2", user_id: before.id, email_digest: expect.any(String) },
    ]);
  });

  test("a wrong password fails after the verification and a full derivation; the hash is void after a release that does not know it has changed the password", async () => {
    await using service = await startService();
    const { email } = await service.register({ password: OTHER });
    const { hashedPassword } = await stored(service.database, email);
    const before = await importUser(service);
    const derivations = service.derivations();
    expect((await logIn(service, OTHER)).status).toBe(401);
    expect(service.derivations()).toBe(derivations + 2);
    expect(await stored(service.database)).toEqual(before);
    await service.sql(`update users set hashed_password = '${hashedPassword}' where email = '${EMAIL}'`);
    expect((await logIn(service, PASSWORD)).status).toBe(401);
    expect((await logIn(service, OTHER)).status).toBe(200);
  });

  test("a reset link outlives the replacement of an imported hash, but no password change of another release", async () => {
    await using service = await startService();
    const { email } = await service.register({ password: OTHER });
    const other = await stored(service.database, email);
    const token = signOneTimeToken("reset", await importUser(service));
    const confirm = () =>
      service.call("POST", "/auth/password-reset/confirm", { body: { token, password: OTHER } });
    expect((await logIn(service, PASSWORD)).status).toBe(200);
    const { hashedPassword, importedHash } = await stored(service.database);
    expect(importedHash).toBeNull();
    const change = (hash: string) =>
      service.sql(`update users set hashed_password = '${hash}' where email = '${EMAIL}'`);
    await change(other.hashedPassword);
    expect((await confirm()).status).toBe(400);
    await change(hashedPassword);
    expect([(await confirm()).status, (await confirm()).status]).toEqual([204, 400]);
  });

  test("current_password is verified against the imported hash, replaces it, and authorises the change", async () => {
    await using service = await startService();
    await importUser(service);
    const token = await service.login({ email: EMAIL, password: PASSWORD });
    const patch = (body: object) => service.call("PATCH", "/auth/me", { token, body });
    await restoreImportedHash(service);
    expect((await patch({ current_password: OTHER, username: "no" })).status).toBe(403);
    expect((await stored(service.database)).importedHash).toBe(IMPORTED);
    const renamed = await patch({ current_password: PASSWORD, username: "eva" });
    expect(renamed.expect<User>(200).username).toBe("eva");
    expect((await stored(service.database)).importedHash).toBeNull();
    await restoreImportedHash(service);
    expect((await patch({ current_password: PASSWORD, password: OTHER })).status).toBe(200);
    expect((await logIn(service, PASSWORD)).status).toBe(401);
    expect((await logIn(service, OTHER)).status).toBe(200);
  });

  test("a login replaces the hash while a PATCH of the user derives, and both succeed", async () => {
    const statuses: number[] = [];
    await using service = await startService({
      wrapHasher: ({ hash }) => ({
        hash: async (password, options) => {
          if (password === OTHER) statuses.push((await logIn(service, PASSWORD)).status);
          return hash(password, options);
        },
      }),
    });
    await importUser(service);
    const token = await service.login({ email: EMAIL, password: PASSWORD });
    await restoreImportedHash(service);
    const patched = await service.call("PATCH", "/auth/me", { token, body: { password: OTHER } });
    statuses.push(patched.status, (await logIn(service, OTHER)).status);
    expect(statuses).toEqual([200, 200, 200]);
  });

  test("a login fails if the e-mail belongs to another user after its verification", async () => {
    await using service = await startService({
      env: { RATE_LIMIT_ENABLED: "true" },
      wrapHasher: ({ verifyImported }) => ({
        verifyImported: async (...call) => {
          await service.sql("delete from users");
          await service.register({ email: EMAIL, password: OTHER });
          await service.sql("delete from user_networks");
          return verifyImported(...call);
        },
      }),
    });
    await importUser(service);
    expect((await logIn(service, PASSWORD)).status).toBe(401);
    expect(await service.sql("select * from user_networks")).toEqual([]);
  });

  test("a login returns 503 if its verification or the replacement of its hash fails, and changes nothing", async () => {
    for (const [hasher, code] of [
      [{ hash: () => Promise.reject(new QueueFull(1)) }, "HASH_QUEUE_FULL"],
      [
        { verifyImported: () => Promise.reject(new WorkerCrashed(new Error("out of memory"))) },
        "HASH_WORKER_CRASHED",
      ],
    ] as const) {
      await using service = await startService({ wrapHasher: () => hasher });
      const before = await importUser(service);
      const response = await logIn(service, OTHER);
      expect([response.status, response.body]).toMatchObject([503, { code }]);
      expect(await stored(service.database)).toEqual(before);
    }
  });

  test("a login returns 503 before any derivation if too many verifications wait, and others do not", async () => {
    await using service = await startService({ env: { HASH_QUEUE_LIMIT: "200" } });
    const user = await service.createUser();
    await importUser(service, bcrypt(10));
    const ended = new AbortController();
    const { signal } = ended;
    // All five run for two seconds, unless they are aborted.
    const waiting = Array.from({ length: 5 }, async () =>
      service.hasher.verifyImported(PASSWORD, bcrypt(13), { signal }),
    );
    const before = service.derivations();
    expect(await logIn(service, PASSWORD)).toMatchObject({ status: 503, body: { code: "HASH_QUEUE_FULL" } });
    expect(await service.login(user)).toBeString();
    expect(service.derivations()).toBe(before + 1);
    ended.abort();
    await Promise.allSettled(waiting);
  });
});
