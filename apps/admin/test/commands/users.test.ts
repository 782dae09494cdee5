/** `users …` on every kind of database, while another process has the database open, as the service does. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { toUser, type User } from "@latchkey/contracts";
import { createHasher } from "@latchkey/hashing";
import { querySqlite } from "@latchkey/testing/sqlite";
import {
  DATABASES,
  type DatabaseSource,
  openSharedDatabase,
  type SharedDatabase,
} from "../support/databases.ts";
import { expectSentence } from "../support/tool.ts";

const PASSWORD = "correct horse battery staple";
const NEW_PASSWORD = "another one, just as long";

const create = (shared: SharedDatabase, name: string) =>
  shared.json<User>(["users", "create", `${name}@example.com`, "--username", name], PASSWORD);

/** Changes the password as the service does for PATCH /auth/me: the token of the request stays valid. */
const changeOwnPassword = ({ database }: SharedDatabase, id: number) =>
  database.users.update(id, { hashedPassword: "salt$digest", passwordChangeTokenId: "kept" });

/** Whether a login of the service would succeed. */
async function canLogIn(shared: SharedDatabase, email: string, password: string): Promise<boolean> {
  await using hasher = createHasher({ workers: 1, kernel: "portable" });
  const user = await shared.database.users.findByEmail(email);
  return user !== null && (await hasher.verify(password, user.hashedPassword));
}

describe.each(Object.entries(DATABASES))("users on %s", (kind, openSource) => {
  let source: DatabaseSource;
  beforeAll(async () => {
    source = await openSource();
  });
  afterAll(() => source[Symbol.asyncDispose]());

  test("create prints the user as the API does, and the user can log in", async () => {
    await using shared = await openSharedDatabase(source);
    const ada = await shared.json<User>(
      ["users", "create", " Ada@Example.COM ", "-u", "ada"],
      `${PASSWORD}\n`,
    );
    const stored = await shared.database.users.findByEmail("ada@example.com");
    expect(stored).toMatchObject({ username: "ada", isActive: true, emailVerified: false });
    expect<User | null>(ada).toEqual(stored && toUser(stored));
    expect(await canLogIn(shared, "ada@example.com", PASSWORD)).toBe(true);
    const shown = { ...ada, familiar_networks: 0 };
    expect(await shared.json<User>(["users", "show", "ADA@example.com"])).toEqual(shown);
    expect(await shared.json<User>(["users", "show", String(ada.id)])).toEqual(shown);
    expect(await shared.json<User[]>(["users", "list"])).toEqual([ada]);
  });

  test("a missing schema results in a message that names migrate, and migrate creates the schema", async () => {
    await using shared = await openSharedDatabase(source, { migrated: false });
    const before = await shared.tool(["users", "create", "ada@example.com", "-u", "ada"], PASSWORD);
    expect(before).toMatchObject({ code: 69, stdout: "" });
    expect(before.stderr).toContain("bun run migrate");
    expectSentence(before.stderr);
    expect((await shared.tool(["migrate"])).code).toBe(0);
    expect(await shared.json<object>(["migrate"])).toEqual({
      database: shared.database.kind,
      schema: "current",
    });
    await create(shared, "ada");
  });

  test("delete --domain asks, and deletes the users of exactly this domain in batches", async () => {
    await using shared = await openSharedDatabase(source);
    const { users } = shared.database;
    const names = Array.from({ length: 1_201 }, (_, index) => `u${index}`);
    const insert = (domain: string) => (username: string) => ({
      email: `${username}@${domain}`,
      username: username + domain,
      hashedPassword: "salt$digest",
      importedHash: null,
    });
    await users.import(names.map(insert("a.example")));
    await users.import(
      ["u"].flatMap((name) =>
        ["sub.a.example", "xa.example", "a_example.org"].map((domain) => insert(domain)(name)),
      ),
    );
    const command = ["users", "delete", "--domain", " A.Example"];
    expect((await shared.tool(command, "")).code).toBe(64);
    const { code, stdout, stderr } = await shared.tool([...command, "--yes"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Deleted 1201 users of a.example.\n" });
    expect(stderr.match(/"event":"user.deleted"/g)).toHaveLength(1_201);
    expect(await shared.json<object>(["users", "delete", "--domain", "_.example", "--yes"])).toEqual({
      deleted: 0,
    });
    expect(await users.list({ after: 0, limit: 9 })).toHaveLength(3);
  });

  // The statements of the other commands are tested with the repositories of both databases.
  if (kind !== "libsql") return;

  test("each change is logged on standard error with its event and the user's id, and nothing else is", async () => {
    await using shared = await openSharedDatabase(source);
    const events: unknown[] = [];
    const run = async (args: readonly string[], input?: string) => {
      const { code, stderr } = await shared.tool(["users", ...args], input);
      for (const line of stderr.split("\n").filter((text) => text.startsWith("{"))) {
        const { time, ...entry } = JSON.parse(line);
        expect(Math.abs(Date.now() - Date.parse(time))).toBeLessThan(10_000);
        events.push(entry);
      }
      return code;
    };
    const entry = (event: string) => ({ level: "info", event, user_id: 1, msg: event });
    const ref = "ada@example.com";
    await run(["create", ref, "-u", "ada"], PASSWORD);
    await run(["deactivate", ref]);
    await run(["activate", ref]);
    await run(["set-password", ref], NEW_PASSWORD);
    await run(["revoke-tokens", ref]);
    await run(["show", ref]);
    await run(["list"]);
    expect(await run(["create", ref, "-u", "bob"], PASSWORD)).toBe(1);
    expect(await run(["delete", "bob@example.com", "--yes"])).toBe(1);
    await run(["delete", ref, "--yes"]);
    expect(await run(["activate", ref])).toBe(1);
    const expected = ["user.registered", "user.deactivated", "user.activated", "password.changed"];
    expect(events).toEqual([...expected, "tokens.revoked", "user.deleted"].map(entry));
  });

  test("create rejects a duplicate e-mail address or username and keeps the first user", async () => {
    await using shared = await openSharedDatabase(source);
    await create(shared, "ada");
    for (const [email, username] of [
      ["ada@example.com", "ada2"],
      ["other@example.com", "ada"],
    ] as const) {
      const again = ["users", "create", email, "--username", username];
      const message = "A user with this e-mail address or username already exists.";
      // Without a password: the conflict is found before one is read.
      for (const input of [NEW_PASSWORD, undefined]) {
        expect(await shared.tool(again, input)).toEqual({ code: 1, stdout: "", stderr: `${message}\n` });
      }
      const { code, stdout, stderr } = await shared.tool([...again, "--json"]);
      expect({ code, stdout, error: JSON.parse(stderr) }).toEqual({
        code: 1,
        stdout: "",
        error: { code: "USER_ALREADY_EXISTS", message },
      });
    }
    expect(await canLogIn(shared, "ada@example.com", PASSWORD)).toBe(true);
  });

  test("with --json, every error is one JSON object on standard error, with the same exit code", async () => {
    await using shared = await openSharedDatabase(source);
    for (const [args, code, name] of [
      [["users", "show", "nobody@example.com"], 1, "USER_NOT_FOUND"],
      [["users", "show", "nobody"], 64, "USAGE_ERROR"],
      [["users", "show"], 64, "USAGE_ERROR"],
      [["users", "frob"], 64, "USAGE_ERROR"],
      [["users", "create", "a@example.com", "-u", "a"], 64, "USAGE_ERROR"],
      [["users", "create", "a@example.com", "--password=x"], 64, "USAGE_ERROR"],
    ] as const) {
      const input = args[1] === "create" ? "" : undefined;
      const text = await shared.tool(args, input);
      const json = await shared.tool([...args, "--json"], input);
      expect([args, json.code, text.code]).toEqual([args, code, code]);
      expect(JSON.parse(json.stderr)).toEqual({ code: name, message: expect.any(String) });
      if (name === "USER_NOT_FOUND") expect(JSON.parse(json.stderr).message).toBe(text.stderr.trim());
    }
  });

  test("deactivate and activate take effect in the other process immediately, and can be repeated", async () => {
    await using shared = await openSharedDatabase(source);
    const { id } = await create(shared, "ada");
    for (const [command, isActive] of [
      ["deactivate", false],
      ["deactivate", false],
      ["activate", true],
    ] as const) {
      const changed = await shared.json<User>(["users", command, "ada@example.com"]);
      expect(changed).toMatchObject({ id, is_active: isActive });
      expect((await shared.database.users.findById(id))?.isActive).toBe(isActive);
    }
  });

  test("set-password changes only the password, revokes all tokens and deletes all networks", async () => {
    await using shared = await openSharedDatabase(source);
    const ada = await create(shared, "ada");
    await changeOwnPassword(shared, ada.id);
    await shared.database.users.storeNetwork(ada.id, "home");
    const changed = await shared.json<User>(["users", "set-password", "ada@example.com"], NEW_PASSWORD);
    expect({ ...changed, updated_at: ada.updated_at }).toEqual(ada);
    expect(await shared.database.users.findById(ada.id)).toMatchObject({
      tokenVersion: 2,
      passwordChangeTokenId: null,
    });
    expect((await shared.database.users.findByEmail("ada@example.com", "home"))?.networkSeenAt).toBeNull();
    expect(await canLogIn(shared, "ada@example.com", PASSWORD)).toBe(false);
    expect(await canLogIn(shared, "ada@example.com", NEW_PASSWORD)).toBe(true);
  });

  test("revoke-tokens revokes all tokens, also that of a password change, and keeps the password", async () => {
    await using shared = await openSharedDatabase(source);
    const [ada, bob] = [await create(shared, "ada"), await create(shared, "bob")];
    await changeOwnPassword(shared, ada.id);
    const before = await shared.database.users.findById(ada.id);
    for (const [user, tokenVersion] of [
      ["ada@example.com", 2],
      [String(ada.id), 3],
    ] as const) {
      const printed = await shared.json<User>(["users", "revoke-tokens", user]);
      expect({ ...printed, updated_at: ada.updated_at }).toEqual(ada);
      expect(await shared.database.users.findById(ada.id)).toMatchObject({
        hashedPassword: before?.hashedPassword,
        tokenVersion,
        passwordChangeTokenId: null,
      });
    }
    expect((await shared.database.users.findById(bob.id))?.tokenVersion).toBe(0);
  });

  test("delete requires --yes without a terminal", async () => {
    await using shared = await openSharedDatabase(source);
    const { id } = await create(shared, "ada");
    const unasked = await shared.tool(["users", "delete", "ada@example.com"], "");
    expect(unasked).toMatchObject({ code: 64, stdout: "" });
    expect(unasked.stderr).toContain("--yes");
    expect(await shared.database.users.findById(id)).not.toBeNull();

    const deleted = await shared.tool(["users", "delete", "ada@example.com", "--yes"]);
    expect(deleted).toEqual({
      code: 0,
      stdout: `Deleted ada@example.com (id ${id}, username ada).\n`,
      stderr: expect.stringContaining('"event":"user.deleted"'),
    });
    expect(await shared.database.users.findById(id)).toBeNull();
  });

  test.each(["show", "activate", "deactivate", "set-password", "revoke-tokens", "delete"])(
    "%s reports a user that does not exist, before it reads a password",
    async (command) => {
      await using shared = await openSharedDatabase(source);
      const yes = command === "delete" ? ["--yes"] : [];
      expect(await shared.tool(["users", command, "nobody@example.com", ...yes])).toEqual({
        code: 1,
        stdout: "",
        stderr: "No user has the e-mail address nobody@example.com.\n",
      });
      const byId = await shared.tool(["users", command, "9007199254740991", ...yes]);
      expect(byId).toMatchObject({ code: 1, stderr: "No user has the id 9007199254740991.\n" });
    },
  );

  test("list prints all pages in ascending order of ids, or the requested range", async () => {
    await using shared = await openSharedDatabase(source);
    const ids: number[] = [];
    // In parts, because the embedded database accepts 1,000 waiting writes.
    for (let part = 0; part < 3; part++) {
      const created = Array.from({ length: 401 }, (_, number) => {
        const username = `p${part}.${number}`;
        return shared.database.users.create({
          email: `${username}@example.com`,
          username,
          hashedPassword: "salt$digest",
        });
      });
      ids.push(...(await Promise.all(created)).map(({ id }) => id));
    }
    ids.sort((one, other) => one - other);
    const list = async (...options: string[]) =>
      (await shared.json<User[]>(["users", "list", ...options])).map(({ id }) => id);
    expect(await list()).toEqual(ids);
    expect(await list("--limit", "3")).toEqual(ids.slice(0, 3));
    expect(await list("--limit", "501", "--after", String(ids[599]))).toEqual(ids.slice(600, 1_101));
    expect(await list("--after", String(ids.at(-1)))).toEqual([]);

    const table = await shared.tool(["users", "list"]);
    expect(table.stdout.split("\n")).toHaveLength(1 + ids.length + 1);
  });

  test("list finds users by a part of the e-mail or username, and inactive ones", async () => {
    await using shared = await openSharedDatabase(source);
    for (const name of ["ada", "bob", "ada_2"]) await create(shared, name);
    await shared.tool(["users", "deactivate", "ada_2@example.com"]);
    const list = async (...options: string[]) =>
      (await shared.json<User[]>(["users", "list", ...options])).map(({ username }) => username);
    expect(await list("--search", "ADA")).toEqual(["ada", "ada_2"]);
    expect(await list("--search", "a_")).toEqual(["ada_2"]);
    expect(await list("--inactive")).toEqual(["ada_2"]);
    expect(await list("--inactive", "--search", "bob")).toEqual([]);
  });

  test("show counts the networks of the last 30 days", async () => {
    await using shared = await openSharedDatabase(source);
    const { id } = await create(shared, "ada");
    for (const network of ["home", "office", "earlier"])
      await shared.database.users.storeNetwork(id, network);
    const earlier = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000).toISOString();
    await querySqlite(
      shared.url,
      `update user_networks set last_seen_at = '${earlier}' where network_digest = 'earlier'`,
    );
    expect(await shared.json<object>(["users", "show", "ada@example.com"])).toMatchObject({
      familiar_networks: 2,
    });
    expect((await shared.tool(["users", "show", String(id)])).stdout).toMatch(/familiar_networks\n.+ 2\n$/);
  });

  test("no command prints a password or its hash", async () => {
    await using shared = await openSharedDatabase(source);
    const output: string[] = [];
    for (const format of [[], ["--json"]]) {
      const commands = [
        ["create", "ada@example.com", "--username", "ada"],
        ["set-password", "ada@example.com"],
        ["show", "ada@example.com"],
        ["list"],
        ["deactivate", "ada@example.com"],
        ["delete", "ada@example.com", "--yes"],
      ];
      for (const command of commands) {
        const input = /create|set-password/.test(command[0] ?? "") ? PASSWORD : undefined;
        const { code, stdout, stderr } = await shared.tool(["users", ...command, ...format], input);
        expect(code).toBe(0);
        output.push(stdout, stderr);
      }
    }
    expect(output.join("")).not.toContain(PASSWORD);
    expect(output.join("")).not.toMatch(/[0-9a-f]{32}|\$|hash/i);
  });
});
