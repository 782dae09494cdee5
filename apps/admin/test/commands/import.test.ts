/** `users import`, `export` and `stats`, with the real service. */
import { expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import HASH_VECTORS from "@latchkey/testing/hash-vectors";
import { CHECKOUT } from "@latchkey/testing/repository";
import { PATIENT_HASHING, post, startProcess } from "@latchkey/testing/service-process";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { openSharedDatabase, type SharedDatabase } from "../support/shared-database.ts";
import { runTool } from "../support/tool.ts";

const server = await sharedPostgresServer();

const BCRYPT = HASH_VECTORS.find(({ format }) => format === "bcrypt")?.hash ?? "";
const ARGON2 = HASH_VECTORS.find(({ format }) => format === "argon2")?.hash ?? "";

const user = (name: string, members: object = {}) => ({
  email: `${name}@example.com`,
  username: name,
  password_hash: BCRYPT,
  ...members,
});
const ownHash = (digit: string) => `${digit.repeat(32)}$${digit.repeat(64)}`;
const toFile = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

const parseLines = (file: string) => JSON.parse(`[${file.trimEnd().replaceAll("\n", ",")}]`);

/** Imports standard input; the exit code must be 65 if lines are rejected, otherwise 0. */
async function importLines(shared: SharedDatabase, input: string | Uint8Array, ...options: string[]) {
  const { code, stdout, stderr } = await shared.tool(["users", "import", "-", "--json", ...options], input);
  const rejections = parseLines(stdout);
  const skipped = /^Line (\d+) is skipped: .*\n/gm;
  const skippedLines = Array.from(stderr.matchAll(skipped), ([, line]) => Number(line));
  const report = { ...rejections.pop(), rejections, skippedLines };
  const errors = stderr.replace(/^Set a new AUTH_SECRET_KEY.*\n/m, "").replace(skipped, "");
  const rejected = expect.stringMatching(/^\{"code":"DATA_ERROR","message":"Rejected .+"\}\n$/);
  expect([code, report.rejections.length, errors]).toEqual(
    report.rejected > 0 ? [65, report.rejected, rejected] : [0, 0, ""],
  );
  return report;
}

test("without --commit, nothing is written; an import can be repeated, and other values are reported", async () => {
  await using shared = await openSharedDatabase();
  const createdAt = "2020-01-02T03:04:05.000Z";
  const lines = [
    user("ada", { is_active: false, email_verified: true, created_at: createdAt }),
    user("bob", { password_hash: null }),
    user("eve", { password_hash: ARGON2 }),
  ];
  const counts = { lines: 3, new: 3, existing: 0, rejected: 0 };
  const formats = { bcrypt: 1, none: 1, argon2: 1 };
  expect(await importLines(shared, toFile(lines))).toMatchObject({ ...counts, formats });
  expect(await shared.json<unknown>(["users", "list"])).toEqual([]);
  expect(await importLines(shared, toFile(lines), "--commit")).toMatchObject({ ...counts, formats });
  const stats = await shared.json<unknown>(["users", "stats"]);
  expect(stats).toEqual({ users: 3, inactive: 1, active_30_days: 0, imported: { bcrypt: 1, argon2: 1 } });
  const imported = await shared.json<{ email: string }[]>(["users", "list", "--imported"]);
  expect(imported.map(({ email }) => email)).toEqual(["ada@example.com", "eve@example.com"]);
  const eve = await shared.database.users.findByEmail("eve@example.com");
  if (eve) await shared.database.users.rehash(eve, "salt$digest");
  const repeated = await importLines(shared, toFile(lines), "--commit");
  expect(repeated).toMatchObject({ new: 0, existing: 3 });
  const changed = [
    user("ada", { password_hash: ARGON2, is_active: true, roles: ["admin"], claims: { plan: "pro" } }),
    user("bob", { username: "robert", password_hash: null }),
    user("new", { username: "eve" }),
  ];
  expect((await importLines(shared, toFile(changed), "--commit")).rejections).toEqual([
    { line: 1, reason: "The user exists with another password_hash, is_active, roles, claims." },
    { line: 2, reason: "The user exists with another username." },
    { line: 3, reason: "The username belongs to another user." },
  ]);
  const ada = await shared.database.users.findByEmail("ada@example.com");
  expect(ada).toMatchObject({ importedHash: BCRYPT, isActive: false, emailVerified: true, createdAt });
});

test("an export can be imported elsewhere, only its owner can read it, and it replaces no file", async () => {
  await using shared = await openSharedDatabase();
  await using other = await openSharedDatabase();
  const [path, copy] = [join(shared.folder, "users.jsonl"), join(other.folder, "users.jsonl")];
  const lines = [
    user("ada", { is_active: false, roles: ["admin", "billing:read"] }),
    user("bob", { claims: { plan: "pro", teams: ["ä", 1, true] }, locale: "de" }),
    user("eve", { password_hash: ownHash("1") }),
  ];
  await importLines(shared, toFile(lines), "--commit");
  expect(await shared.json<unknown>(["users", "export", path])).toEqual({ users: 3 });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await shared.tool(["users", "export", path])).code).toBe(69);
  const { code, stdout } = await other.tool(["users", "import", path, "--commit"]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^lines +3\nnew +3\n/)]);
  await other.tool(["users", "export", copy]);
  const exported = await Bun.file(path).text();
  const values = { email_verified: false, created_at: expect.any(String) };
  const ids = (index: number) => ({ id: index + 1, last_id: 3 });
  expect(parseLines(exported)).toEqual(
    lines.map((line, index) => ({ ...ids(index), is_active: true, ...values, ...line })),
  );
  const withoutIds = (text: string) => text.replaceAll(/"(last_)?id":\d+,/g, "");
  expect(withoutIds(await Bun.file(copy).text())).toBe(withoutIds(exported));
  await shared.database.users.update(3, { hashedPassword: ownHash("0") });
  const others = [user("bob", { locale: "en" }), user("new", { locale: "xx" })];
  expect(await importLines(shared, toFile(others), "--commit")).toMatchObject({
    rejections: [
      { reason: "The user exists with another locale." },
      { reason: "locale must be equal to one of the allowed values." },
    ],
  });
  expect(await importLines(shared, exported, "--commit")).toMatchObject({
    existing: 2,
    rejections: [{ line: 3, reason: "The user exists with another password_hash." }],
  });
});

test("- exports to standard output, as an import reads it, and the count is on standard error", async () => {
  await using shared = await openSharedDatabase();
  await using other = await openSharedDatabase();
  await importLines(shared, toFile([user("ada"), user("bob")]), "--commit");
  const { code, stdout, stderr } = await shared.tool(["users", "export", "-", "--json"]);
  expect([code, stderr]).toEqual([0, '{"users":2}\n']);
  expect(await importLines(other, stdout, "--commit")).toMatchObject({ lines: 2, new: 2, rejected: 0 });
});

test("no user gets an id that the source has used, also not one who registers before an interrupted import is resumed", async () => {
  await using source = await openSharedDatabase();
  await using target = await openSharedDatabase();
  await source.insert(["ann", "bob", "cy", "dan"]);
  for (const id of [2, 4]) await source.database.users.delete(id);
  const path = join(source.folder, "users.jsonl");
  await source.json(["users", "export", path]);
  const [first = ""] = (await Bun.file(path).text()).split("\n");
  await importLines(target, first, "--commit");
  await target.insert(["gus"]);
  const { code, stderr } = await target.tool(["users", "import", path, "--commit"]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("tokens from before the import")]);
  await target.insert(["hal"]);
  const users = await target.json<{ id: number; username: string }[]>(["users", "list"]);
  expect(users.map(({ id, username }) => `${id} ${username}`)).toEqual(["5 ann", "6 gus", "7 cy", "8 hal"]);
  // The service is in use: its key is its own.
  await target.database.users.storeLogin(6);
  const again = await target.tool(["users", "import", path, "--commit"]);
  expect([again.code, again.stderr]).toEqual([0, ""]);
});

test("users of every format are imported, the first login replaces the hash, and the next one uses the new hash", async () => {
  await using shared = await openSharedDatabase();
  const emailOf = (index: number) => `user${index}@example.com`;
  // The export of better-auth prefixes every hash.
  const bcrypt = HASH_VECTORS.find(({ format }) => format === "bcrypt");
  const prefixed = { password: bcrypt?.password, hash: `better-auth$${bcrypt?.hash}` };
  const vectors = [...HASH_VECTORS, { format: "better_auth_bcrypt", ...prefixed }];
  const lines = vectors.map(({ hash }, index) => ({ email: emailOf(index), password_hash: hash }));
  const report = await importLines(shared, toFile(lines), "--commit", "--username-from-email");
  expect(report).toMatchObject({ new: vectors.length, formats: { better_auth_bcrypt: 1 } });
  const env = { ...shared.env, ...PATIENT_HASHING, METRICS_PORT: "0", RATE_LIMIT_ENABLED: "false" };
  await using service = startProcess(env);
  const url = await service.ready();
  for (const name of ["better_auth", "better_auth_bcrypt"]) {
    const index = vectors.findIndex(({ format }) => format === name);
    const password = vectors[index]?.password ?? "";
    for (const [given, status] of [
      [`x${password}`, 401],
      [password, 200],
      [password, 200],
    ] as const) {
      const login = { email: emailOf(index), password: given };
      expect((await post(`${url}/auth/login`, login)).status).toBe(status);
    }
  }
  const metrics = await (await fetch(String((await service.line("ready")).metrics))).text();
  for (const format of ["better_auth", "better_auth_bcrypt"])
    expect(metrics).toContain(`password_rehashes_total{format="${format}"} 1\n`);
  expect(metrics).toContain('audit_events_total{event="password.rehashed"} 2\n');
});

test("a user who registered before the import is rejected, unless the source has not verified the address either", async () => {
  await using shared = await openSharedDatabase();
  const ada = { email: "ada@example.com", username: "ada", hashedPassword: ownHash("1") };
  const { id } = await shared.database.users.create(ada);
  const registered = `The user was registered here, not imported: \`bun run admin users send-reset ${id}\` hands the account to the owner of the address.`;
  const run = (members: object, ...options: string[]) =>
    importLines(shared, toFile([user("ada", members)]), ...options);
  const unverified = { email_verified: false };
  for (const [members, ...options] of [
    [unverified, "--commit"],
    [{}, "--keep-registered"],
    [{ email_verified: true }, "--keep-registered"],
    [{}, "--imported-before", "2020-01-01T00:00:00Z"],
  ] as [object, ...string[]][])
    expect(await run(members, ...options)).toMatchObject({
      existing: 0,
      formats: {},
      rejections: [{ line: 1, reason: registered }],
    });
  const kept = { registered: 1, existing: 0, rejected: 0, formats: {} };
  expect(await run(unverified, "--commit", "--keep-registered")).toMatchObject(kept);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const imported = { existing: 1, rejected: 0 };
  expect(await run({}, "--imported-before", tomorrow)).toMatchObject(imported);
  expect((await run({})).rejected).toBe(1);
  expect(await run({}, "--imported-before", tomorrow, "--commit")).toMatchObject(imported);
  expect(await run({})).toMatchObject(imported);
});

test("a repeated import skips users who deleted their account meanwhile, counts them and names their lines", async () => {
  await using shared = await openSharedDatabase();
  const file = toFile([user("ada"), user("bob"), user("eve")]);
  await importLines(shared, file, "--commit");
  const { users } = shared.database;
  const ada = await users.findByEmail("ada@example.com");
  await users.delete(ada?.id ?? 0, { version: ada?.tokenVersion ?? 0, exceptToken: null });
  await shared.tool(["users", "delete", "bob@example.com", "--yes"]);
  for (const options of [[], ["--commit"]])
    expect(await importLines(shared, file, ...options)).toMatchObject({
      new: 1,
      existing: 1,
      deleted: 1,
      skippedLines: [1],
    });
});

test.each(["libsql", "postgres"])(
  "on %s, an old export of the same database does not bring back e-mails and passwords that users gave up",
  async (kind) => {
    await using folder = await openFolder();
    const url = kind === "postgres" ? await server.createDatabase() : folder.databaseUrl;
    const tool = (...args: string[]) => runTool(args, { env: { DATABASE_URL: url } });
    await tool("migrate");
    const database = await openDatabase({ url });
    const { users } = database;
    const path = join(folder.path, "users.jsonl");
    for (const name of ["ada", "bob", "eve"])
      await users.create({ email: `${name}@example.com`, username: name, hashedPassword: ownHash("1") });
    expect(await tool("users", "export", path)).toMatchObject({ code: 0 });
    const token = { version: 0, exceptToken: null };
    const [ada, bob] = [await users.findById(1), await users.findById(2)];
    await users.changeAsOperator(ada?.id ?? 0, { email: "new@example.com" });
    await users.delete(bob?.id ?? 0, token);
    await users.update(3, { hashedPassword: ownHash("2") });
    await database.close();
    for (const options of [[], ["--commit"]]) {
      const { code, stdout } = await tool("users", "import", path, "--json", ...options);
      const [rejected, counts] = parseLines(stdout);
      expect([code, rejected]).toEqual([65, { line: 3, reason: expect.stringContaining("registered here") }]);
      expect(counts).toMatchObject({ lines: 3, new: 0, deleted: 2, rejected: 1 });
    }
    const { stdout } = await tool("users", "list", "--json");
    const listed: { email: string }[] = JSON.parse(stdout);
    expect(listed.map(({ email }) => email)).toEqual(["new@example.com", "eve@example.com"]);
  },
);

test("a check works with a role that can only read, and writes nothing", async () => {
  const url = await server.createDatabase();
  await runTool(["migrate"], { env: { DATABASE_URL: url } });
  await server.query(
    `insert into deleted_imports (email_digest, digest_key, deleted_at) values ('x', 'y', '2020-01-01');
    create role reader login password 'reader'; grant select on all tables in schema public to reader;
    alter role reader set default_transaction_read_only = on`,
    url.replace(/\/\/[^@]*@/, "//postgres:postgres@"),
  );
  const env = { DATABASE_URL: url.replace(/\/\/[^@]*@/, "//reader:reader@") };
  const line = JSON.stringify(user("ada"));
  const { code, stdout, stderr } = await runTool(["users", "import", "-", "--json"], { env, input: line });
  expect([code, stderr, JSON.parse(stdout)]).toMatchObject([0, "", { lines: 1, new: 1 }]);
  expect(await server.query("select 1 from deleted_imports", url)).toHaveLength(1);
});

test("the ids of imported users are written to a new file, in the order of the lines", async () => {
  await using shared = await openSharedDatabase();
  const path = join(shared.folder, "ids.jsonl");
  await importLines(shared, toFile([user("bob")]), "--commit");
  const file = toFile([user("ada"), user("bob"), user("x", { username: "" }), user("eve")]);
  await importLines(shared, file, "--commit", "--ids", path);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const imported = [
    { line: 1, email: "ada@example.com", id: 2 },
    { line: 2, email: "bob@example.com", id: 1 },
    { line: 4, email: "eve@example.com", id: 3 },
  ];
  expect(await Bun.file(path).text()).toBe(toFile(imported));
  expect((await shared.tool(["users", "import", "-", "--commit", "--ids", path], file)).code).toBe(69);
});

test("the documented queries of Django and Supabase import banned users as inactive, and count why others have no hash", async () => {
  await using shared = await openSharedDatabase();
  const url = await server.createDatabase();
  await server.query(
    `create table auth_user (email text, username text, password text, is_active bool, date_joined timestamptz default now());
    insert into auth_user select name || '@example.com', name, hash, true from (values ('d1', 'md5$a$b'), ('d2', '!abc'),
      ('d3', 'd41d8cd98f00b204e9800998ecf8427e'), ('${"d".repeat(51)}', '!')) as t (name, hash);
    create schema auth;
    create table auth.users (email text, email_confirmed_at timestamptz, created_at timestamptz default now(),
      encrypted_password text, banned_until timestamptz, deleted_at timestamptz);
    insert into auth.users (email, encrypted_password, banned_until, deleted_at) values ('s1@example.com', '${BCRYPT}', null, null),
      ('s2@example.com', '${BCRYPT}', 'infinity', null), ('s3@example.com', null, '2020-01-01', null), ('s4@example.com', '', null, now())`,
    url,
  );
  const lines = [];
  for (const source of ["django", "supabase"]) {
    const program = await Bun.file(join(CHECKOUT, `docs/import/${source}.sh`)).text();
    const [, query = ""] = /-c "([^"]*)" "\$\w+_DATABASE_URL"/.exec(program) ?? [];
    const rows = await server.query<{ line: object }>(
      `select json_build_object as line from (${query.replaceAll("\\$", "$")}) t`,
      url,
    );
    lines.push(...rows.map(({ line }) => line));
  }
  const report = await importLines(shared, toFile(lines), "--commit", "--username-from-email");
  const formats = { "none (md5)": 1, "none (unusable)": 2, "none (unsalted)": 1, bcrypt: 2, none: 1 };
  expect(report).toMatchObject({ lines: 7, new: 7, formats });
  const users = await shared.json<{ email: string }[]>(["users", "list", "--inactive"]);
  expect(users.map(({ email }) => email)).toEqual(["s2@example.com"]);
});

test("a file with CRLF, a BOM, empty lines and without a final line end is accepted, in chunks of any size", async () => {
  await using shared = await openSharedDatabase();
  const lines = Array.from({ length: 2_000 }, (_, index) => JSON.stringify(user(`user${index}`)));
  const report = await importLines(shared, `\uFEFF${lines.join("\r\n\r\n")}`, "--commit");
  expect(report).toMatchObject({ lines: 2_000, new: 2_000, rejected: 0 });
});

test("a file with thousands of lines is searched for duplicates, whether or not it is written", async () => {
  await using shared = await openSharedDatabase();
  const lines = Array.from({ length: 3_000 }, (_, index) => user(`user${index}`));
  const file = toFile([...lines, user("USER0", { username: "x" }), user("y", { username: "user2999" })]);
  for (const options of [[], ["--commit"]])
    expect(await importLines(shared, file, ...options)).toMatchObject({
      new: 3_000,
      rejections: [
        { line: 3_001, reason: "The e-mail address, ignoring case, is that of line 1." },
        { line: 3_002, reason: "The username is that of line 3000." },
      ],
    });
});

test("a file is reported line by line with reasons that contain no hash, and the valid lines are imported", async () => {
  await using shared = await openSharedDatabase();
  const line = (members: object) => Buffer.from(toFile([user("ada", members)]));
  const { username: _, ...unnamed } = user("eve");
  const cases: [Uint8Array, string | null][] = [
    [line({}), null],
    [Buffer.from([0x22, 0xff, 0x22, 0x0a]), "The line is not valid UTF-8."],
    [Buffer.from(`"${"x".repeat(1_000_000)}"\n`), "The line is longer than 16384 bytes."],
    [Buffer.from("{\n"), "The line is not valid JSON."],
    [Buffer.from("[]\n"), "The line must be object."],
    [line({ email: "ada" }), "The e-mail is not a valid e-mail address."],
    [line({ username: "x".repeat(33) }), "The username must be at most 32 characters long."],
    [line({ password: "x" }), "password is not a supported member."],
    [line({ claims: [] }), "The claims must be an object."],
    [
      Buffer.from(`${line({ claims: {} })}`.replace("{}", '{"a":1,"a":2}')),
      "The claims must not have a name twice.",
    ],
    [line({ id: 2 ** 53 - 1 }), "id must be <= 4503599627370495."],
    [line({ password_hash: undefined }), "The line must have required properties password_hash."],
    [line({ password_hash: BCRYPT.replace("$05$", "$14$") }), "The cost of bcrypt must be from 4 to 13."],
    [line({ created_at: "2020-13-01T00:00:00Z" }), 'created_at must match format "date-time".'],
    [Buffer.from(JSON.stringify(unnamed)), "The username is missing; --username-from-email generates it."],
  ];
  const file = Buffer.concat(cases.map(([bytes]) => bytes));
  const report = await importLines(shared, file, "--commit");
  const expected = cases.flatMap(([, reason], index) =>
    reason === null ? [] : [{ line: index + 1, reason }],
  );
  expect(report).toMatchObject({ rejections: expected, new: 1 });
  const named = Buffer.from(JSON.stringify(unnamed));
  const importNamed = () => importLines(shared, named, "--commit", "--username-from-email");
  expect(await importNamed()).toMatchObject({ new: 1, existing: 0 });
  expect(await importNamed()).toMatchObject({ new: 0, existing: 1 });
  const eve = await shared.database.users.findByEmail("eve@example.com");
  expect(eve?.username).toMatch(/^eve-[0-9a-f]{8}$/);
});

test("a file that cannot be read is one sentence and exit code 69", async () => {
  await using shared = await openSharedDatabase();
  const { code, stderr } = await shared.tool(["users", "import", "/nonexistent"]);
  expect([code, stderr]).toEqual([69, "Cannot read /nonexistent (ENOENT).\n"]);
});
