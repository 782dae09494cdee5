/** Registration: its responses, and that the database enforces uniqueness under concurrency. */
import { expect, test } from "bun:test";
import type { User } from "@latchkey/contracts";
import { type Database, DatabaseUnavailable } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { eachDatabase, newCredentials } from "../../support/service.ts";

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TAKEN = { detail: "A user with this e-mail or username already exists", code: "USER_ALREADY_EXISTS" };

eachDatabase((startService) => {
  test("register returns 201 with the active user and RFC 3339 timestamps in UTC with milliseconds", async () => {
    await using service = await startService();
    const { email, username, password } = newCredentials();
    const response = await service.call("POST", "/auth/register", { body: { email, username, password } });
    const user = response.expect<User>(201);
    expect(response.headers.get("content-type")).toMatch(/^application\/json;\s?charset=utf-8$/i);
    expect(Object.keys(user)).toEqual([
      "id",
      "email",
      "email_verified",
      "username",
      "is_active",
      "created_at",
      "updated_at",
    ]);
    expect(user).toMatchObject({ email, email_verified: false, username, is_active: true });
    expect(Number.isSafeInteger(user.id) && user.id > 0).toBe(true);
    expect(user.created_at).toMatch(TIMESTAMP);
    expect(user.updated_at).toBe(user.created_at);
    expect(Math.abs(Date.parse(user.created_at) - Date.now())).toBeLessThan(10_000);
  });

  test("e-mails are trimmed and lowercased, so every spelling belongs to the same user", async () => {
    await using service = await startService();
    const { user } = await service.register({ email: " \t\n Ada.Lovelace@EXAMPLE.Org \r\n" });
    expect(user.email).toBe("ada.lovelace@example.org");
    for (const email of [
      "ada.lovelace@example.org",
      "ADA.LOVELACE@EXAMPLE.ORG",
      "  Ada.Lovelace@Example.org ",
    ]) {
      const again = await service.call("POST", "/auth/register", { body: { ...newCredentials(), email } });
      expect([again.status, again.body]).toEqual([409, TAKEN]);
    }
  });

  test("every registration responds after its derivation, also if the e-mail or the username is taken", async () => {
    let derive = async (): Promise<void> => undefined;
    const wrapHasher = (hasher: Hasher): Hasher => ({
      ...hasher,
      hash: (...call) => derive().then(() => hasher.hash(...call)),
    });
    await using service = await startService({ wrapHasher });
    const { email, username } = await service.register();
    for (const [taken, status] of [
      [{ email }, 409],
      [{ username }, 409],
      [{}, 201],
    ] as const) {
      const started = Promise.withResolvers<string>();
      const finished = Promise.withResolvers<void>();
      derive = () => {
        started.resolve("derivation");
        return finished.promise;
      };
      const body = { ...newCredentials(), ...taken };
      const response = service.call("POST", "/auth/register", { body });
      expect(await Promise.race([response, started.promise])).toBe("derivation");
      finished.resolve();
      expect((await response).status).toBe(status);
      if (status === 409) expect((await response).body).toEqual(TAKEN);
    }
    expect(await service.sql("select id from users")).toHaveLength(2);
  });

  test("a registration returns 503 without a derivation if the database is unreachable", async () => {
    const wrapDatabase = (database: Database): Database => ({
      ...database,
      users: { ...database.users, findByEmail: () => Promise.reject(new DatabaseUnavailable("DEADLINE")) },
    });
    await using service = await startService({ wrapDatabase });
    const { status } = await service.call("POST", "/auth/register", { body: newCredentials() });
    expect([status, service.derivations()]).toEqual([503, 0]);
  });

  test("of twelve concurrent registrations with one e-mail in twelve spellings, exactly one succeeds", async () => {
    await using service = await startService();
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const email = `${" ".repeat(index)}${index % 2 ? "ONE@example.org" : "one@EXAMPLE.org"}`;
        return service.call("POST", "/auth/register", { body: { ...newCredentials(), email } });
      }),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)]);
    expect(await service.sql("select id from users")).toHaveLength(1);
  });

  test("a username is stored unchanged: whitespace, case and any script", async () => {
    await using service = await startService();
    for (const username of [" ", "  padded  ", "Ada", "ADA", "李", "'; drop table users; --", "\u007f\t"]) {
      const { user } = await service.register({ username });
      expect(user.username).toBe(username);
    }
  });

  test("unknown members are ignored, including names of columns", async () => {
    await using service = await startService();
    const body = {
      ...newCredentials(),
      id: 77,
      is_active: false,
      hashed_password: "x",
      created_at: null,
      role: {},
    };
    const user = (await service.call("POST", "/auth/register", { body })).expect<User>(201);
    expect(user).toMatchObject({ is_active: true });
    expect(user.id).not.toBe(77);
    expect(await service.login(body)).toBeString();
  });

  test("whitespace around an e-mail does not count towards its length", async () => {
    await using service = await startService();
    const email = `${" ".repeat(300)}a@example.org${" ".repeat(300)}`;
    expect((await service.register({ email })).user.email).toBe("a@example.org");
  });
});
