/** `users …`, while another process has the database open, as the service does. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { toDetailedUser, type User } from "@latchkey/contracts";
import { querySqlite } from "@latchkey/testing/sqlite";
import { EMAIL, openSharedDatabase, type SharedDatabase } from "../support/shared-database.ts";
import { runTool } from "../support/tool.ts";

const PASSWORD = "correct horse battery staple";
const NEW_PASSWORD = "another one, just as long";

const create = (shared: SharedDatabase) =>
  shared.json<User>(["users", "create", EMAIL, "--username", "ada"], PASSWORD);

test("create prints the user as the API does, and the user can log in", async () => {
  await using shared = await openSharedDatabase();
  const command = ["users", "create", " Ada@Example.COM ", "-u", "ada"];
  const ada = await shared.json<User>(command, `${PASSWORD}\n`);
  const stored = await shared.database.users.findByEmail(EMAIL);
  expect<unknown>(stored && toDetailedUser(stored)).toEqual(ada);
  expect(ada).toMatchObject({ username: "ada", is_active: true, email_verified: false });
  expect(await shared.canLogIn(PASSWORD)).toBe(true);
  const email_digest = (await shared.database.digests.openEmailDigest())(EMAIL);
  expect(email_digest).toMatch(/^[0-9a-f]{32}$/);
  const shown = {
    ...ada,
    last_login_at: null,
    imported_at: null,
    familiar_networks: 0,
    network_times: [],
    passkeys: [],
    identities: [],
    email_digest,
  };
  expect(await shared.json<User>(["users", "show", "ADA@example.com"])).toEqual(shown);
  expect(await shared.json<User>(["users", "show", String(ada.id)])).toEqual(shown);
  expect(await shared.json<unknown>(["users", "list"])).toEqual([{ ...ada, last_login_at: null }]);
});

test("show --json prints the times of networks and of a second factor", async () => {
  await using shared = await openSharedDatabase();
  const { users, factors } = shared.database;
  const user = await shared.json<User>(["users", "create", EMAIL, "-u", "ada"], `${PASSWORD}\n`);
  await users.storeNetwork(user.id, "one");
  const factor = { id: "f", secret: "s", keyId: "k", lastStep: 1, recoveryCodes: "[]" };
  const owner = { id: user.id, emailVerified: false };
  await factors.create(factor, owner, { version: 0, exceptToken: null }, { replaced: null });
  const { createdAt: created_at } = (await factors.find(user.id)) ?? {};
  expect(await shared.json<object>(["users", "show", EMAIL])).toMatchObject({
    second_factor: true,
    second_factor_times: { created_at, last_used_at: null, failed_at: null },
    network_times: [expect.stringMatching(/^\d{4}-\d\d-\d\dT/)],
  });
});

test("show lists passkeys, export writes their number, and remove-passkeys and set-password delete them", async () => {
  await using shared = await openSharedDatabase();
  const { passkeys } = shared.database;
  const { id: userId } = await create(shared);
  const enrol = async (revision: number, version = 0) => {
    const passkey = { id: "one", userId, publicKey: "key", counter: 0, name: "Phone" };
    const condition = { version, tokenVersion: version, exceptToken: null, revision };
    expect(await passkeys.create(passkey, condition, { notifies: false })).not.toBeNull();
  };
  await enrol(0);
  const shown = await shared.json<{ passkeys: object[] }>(["users", "show", EMAIL]);
  expect(shown.passkeys).toMatchObject([{ id: "one", name: "Phone", last_used_at: null }]);
  const today = new Date().toISOString().slice(0, 10);
  for (const command of ["show", "revoke-tokens"])
    expect((await shared.tool(["users", command, EMAIL])).stdout).toContain(`Phone (${today})`);
  const file = join(shared.folder, "users.jsonl");
  await shared.tool(["users", "export", file]);
  const exported = await Bun.file(file).text();
  expect(JSON.parse(exported)).toMatchObject({ email: EMAIL, passkeys: 1 });
  expect(exported).not.toContain("Phone");
  expect((await shared.tool(["users", "import", file, "--keep-registered"])).code).toBe(0);
  for (const command of ["revoke-tokens", "deactivate"]) {
    expect(await shared.json<object>(["users", command, EMAIL])).toMatchObject({ passkeys: [{ id: "one" }] });
    const { stdout } = await shared.tool(["users", command, EMAIL]);
    expect(stdout).toContain("Phone");
    expect(stdout).toEndWith(`bun run admin users remove-passkeys ${userId}\n`);
  }
  await shared.json(["users", "activate", EMAIL]);
  await shared.json(["users", "remove-passkeys", EMAIL]);
  expect((await shared.tool(["users", "revoke-tokens", EMAIL])).stdout).not.toContain("passkeys remain");
  expect(await passkeys.list(userId)).toEqual([]);
  expect(await shared.database.outbox.count()).toBe(1);
  await enrol(2, (await shared.database.users.findById(userId))?.tokenVersion);
  await shared.json(["users", "set-password", EMAIL], NEW_PASSWORD);
  expect(await passkeys.list(userId)).toEqual([]);
});

test("invite creates a user without a password, whom only a mail leads in, and lists and exports it as such", async () => {
  await using shared = await openSharedDatabase();
  const { users, identities } = shared.database;
  const invited = await shared.tool([
    "users",
    "invite",
    " Ada@Example.COM ",
    "--role",
    "billing:read",
    "--json",
  ]);
  const ada = JSON.parse(invited.stdout) as User;
  expect(ada).toMatchObject({
    email: EMAIL,
    username: "ada",
    email_verified: false,
    roles: ["billing:read"],
  });
  expect(JSON.parse(invited.stderr)).toMatchObject({ event: "user.invited", user_id: ada.id });
  const taken = await shared.json<User>(["users", "invite", "ada@example.org"]);
  expect(taken.username).toBe("ada2");
  expect((await shared.tool(["users", "invite", EMAIL])).code).toBe(0);
  const bob = ["users", "create", "bob@example.com", "-u", "bob"];
  await shared.json<User>(bob, `${PASSWORD}\n`);
  expect((await shared.tool(["users", "invite", "bob@example.com"])).code).not.toBe(0);
  const listed = await shared.json<User[]>(["users", "list", "--without-password"]);
  expect(listed.map(({ id }) => id)).toEqual([ada.id, taken.id]);
  expect(await shared.json<object>(["users", "stats"])).toMatchObject({ users: 3, imported: {} });
  const mails = await querySqlite(
    shared.env.DATABASE_URL,
    "select kind, email_digest from outbox order by id",
  );
  expect(mails).toEqual(Array(3).fill({ kind: "invitation", email_digest: "" }));
  const identity = { issuer: "https://accounts.example.com", subject: "1", provider: "google" };
  const silent = { notifies: false, isUsed: false };
  await identities.add(ada.id, identity, { version: 0, exceptToken: null }, silent);
  expect(await shared.json<object>(["users", "show", EMAIL])).toMatchObject({
    identities: [{ provider: "google", issuer: identity.issuer, subject: "1", last_used_at: null }],
  });
  const [line = ""] = (await shared.tool(["users", "export", "-"])).stdout.split("\n");
  expect(JSON.parse(line)).toMatchObject({ email: EMAIL, password_hash: null, identities: 1 });
  for (const command of ["revoke-tokens", "deactivate"]) {
    const { stdout } = await shared.tool(["users", command, EMAIL]);
    expect(stdout).toContain("google (");
    expect(stdout).toEndWith(`bun run admin users remove-identities ${ada.id}\n`);
  }
  await shared.json<User>(["users", "remove-identities", EMAIL]);
  expect(await identities.list(ada.id)).toEqual([]);
  expect((await users.findById(ada.id))?.importedHash).toBe("none");
});

test("set-email ends all credentials, mails a reset to the new address, and leads back to the same id", async () => {
  await using shared = await openSharedDatabase();
  const { users, passkeys } = shared.database;
  const { id } = await create(shared);
  await users.update(id, { emailVerified: true });
  await users.create({ email: "bob@example.com", username: "bob", hashedPassword: "b$b" });
  const passkey = { id: "one", userId: id, publicKey: "key", counter: 0, name: "Phone" };
  const condition = { version: 0, tokenVersion: 0, exceptToken: null, revision: 0 };
  await passkeys.create(passkey, condition, { notifies: false });
  const rejected: [string, number][] = [
    ["Ada@Example.com", 1],
    ["bob@example.com", 1],
    ["no address", 64],
  ];
  for (const [email, code] of rejected)
    expect((await shared.tool(["users", "set-email", EMAIL, email])).code).toBe(code);
  // An earlier release stored domains in Unicode.
  const before = await users.findById(id);
  const move = (to: string) =>
    querySqlite(shared.env.DATABASE_URL, `update users set email = '${to}' where id = ${id} returning id`);
  await move("ada@b\u00fccher.example");
  for (const email of ["ada@b\u00fccher.example", "ADA@xn--bcher-kva.example "])
    expect(await shared.tool(["users", "set-email", String(id), email])).toEqual({
      code: 1,
      stdout: "",
      stderr: "The user already has this e-mail address. Nothing was changed.\n",
    });
  await move(EMAIL);
  expect(await users.findById(id)).toEqual(before);
  expect(await shared.canLogIn(PASSWORD)).toBe(true);
  const { code, stdout, stderr } = await shared.tool([
    "users",
    "set-email",
    EMAIL,
    " New@Example.ORG",
    "--json",
  ]);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    { id, email: "new@example.org", email_verified: false },
  ]);
  expect(JSON.parse(stderr)).toMatchObject({ event: "email.changed", user_id: id });
  expect(await users.findById(id)).toMatchObject({ tokenVersion: 1, importedHash: "none", linkRevision: 1 });
  expect(await passkeys.list(id)).toEqual([]);
  const mails = await querySqlite(
    shared.env.DATABASE_URL,
    "select kind, recipient, email_digest from outbox order by id",
  );
  expect(mails).toEqual([
    { kind: "email", recipient: EMAIL, email_digest: null },
    { kind: "reset", recipient: null, email_digest: "" },
  ]);
  expect(await shared.json<User>(["users", "set-email", "new@example.org", EMAIL])).toMatchObject({ id });
  expect(await shared.canLogIn(PASSWORD)).toBe(false);
});

test("delete requires --yes without a terminal, and deletes one user, or those of exactly one domain in batches", async () => {
  await using shared = await openSharedDatabase();
  const usernames = Array.from({ length: 1_202 }, (_, index) => `u${index}`);
  await shared.insert(usernames, "a.example");
  for (const domain of ["sub.a.example", "xa.example", "a_example.org"])
    await shared.insert([domain], domain);
  const [one, many] = [
    ["users", "delete", "1"],
    ["users", "delete", "--domain", " A.Example"],
  ];
  const refused = { code: 64, stdout: "", stderr: "Cannot prompt without a terminal; pass --yes.\n" };
  for (const command of [one, many]) expect(await shared.tool(command, "")).toEqual(refused);
  const first = await shared.tool([...one, "--yes"]);
  expect(first).toMatchObject({ code: 0, stdout: "Deleted u0@a.example (id 1, username u0).\n" });
  const { code, stdout, stderr } = await shared.tool([...many, "--yes"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Deleted 1201 users of a.example.\n" });
  expect(stderr.match(/"event":"user.deleted"/g)).toHaveLength(1_201);
  expect(await shared.database.users.list({ after: 0, limit: 9 })).toHaveLength(3);
});

test("each change is logged on standard error with its event and the user's id, and nothing prints a password or its hash", async () => {
  await using shared = await openSharedDatabase();
  const events: unknown[] = [];
  const run = async (args: readonly string[], input?: string) => {
    const startedAt = Date.now();
    const { code, stdout, stderr } = await shared.tool(["users", ...args], input);
    expect(stdout + stderr).not.toContain(PASSWORD);
    if (args[0] !== "show") expect(stdout + stderr).not.toMatch(/[0-9a-f]{32}/i);
    expect(stdout + stderr).not.toMatch(/\$|[0-9a-f]{64}|hash/i);
    for (const line of stderr.split("\n").filter((text) => text.startsWith("{"))) {
      const { time, ...entry } = JSON.parse(line);
      expect(Date.parse(time)).toBeWithin(startedAt - 10_000, Date.now() + 10_000);
      events.push(entry);
    }
    return code;
  };
  const actor = `cli:${Bun.spawnSync(["id", "-un"]).stdout.toString().trim()}`;
  const entry = (event: string) => ({ level: "info", event, user_id: 1, actor, msg: event });
  await run(["create", EMAIL, "-u", "ada"], PASSWORD);
  await run(["set-password", EMAIL], PASSWORD);
  for (const name of ["revoke-tokens", "set-roles", "send-reset", "remove-passkeys", "deactivate"])
    await run([name, EMAIL]);
  await run(["activate", EMAIL, "--json"]);
  for (const format of [[], ["--json"]])
    for (const command of [["show", EMAIL], ["list"]]) await run([...command, ...format]);
  expect(await run(["create", EMAIL, "-u", "bob"])).toBe(1);
  await run(["delete", EMAIL, "--yes"]);
  expect(await run(["activate", EMAIL])).toBe(1);
  const expected = [
    ...["user.registered", "password.changed", "tokens.revoked", "roles.changed", "reset.requested"],
    ...["passkey.removed", "user.deactivated", "user.activated", "user.deleted"],
  ];
  const none = { roles: [], previous_roles: [] };
  expect(events).toEqual(
    expected.map((event) => ({ ...entry(event), ...(event === "roles.changed" && none) })),
  );
});

test("the log line of a change has the reason, and for roles both lists; a reason without text or of 201 characters is rejected", async () => {
  await using shared = await openSharedDatabase();
  await shared.insert(["ada"]);
  const change = async (...args: string[]) => {
    const { code, stderr } = await shared.tool(["users", ...args, "--reason", " ticket 42 "]);
    return [code, JSON.parse(stderr)];
  };
  const reason = "ticket 42";
  for (const command of ["deactivate", "activate", "revoke-tokens", "remove-passkeys"])
    expect(await change(command, EMAIL)).toEqual([0, expect.objectContaining({ reason })]);
  const roles = { roles: ["admin"], previous_roles: [] };
  expect(await change("set-roles", EMAIL, "admin", "--unverified")).toEqual([
    0,
    expect.objectContaining({ event: "roles.changed", reason, ...roles }),
  ]);
  for (const given of ["", "  ", "x".repeat(201)])
    expect((await shared.tool(["users", "deactivate", EMAIL, "--reason", given])).code).toBe(64);
  expect((await shared.database.users.findById(1))?.isActive).toBe(true);
  expect(await change("delete", EMAIL, "--yes")).toEqual([0, expect.objectContaining({ reason })]);
});

test("with mail, set-roles gives no role to a user whose e-mail is not verified, unless --unverified is passed", async () => {
  await using shared = await openSharedDatabase();
  await shared.insert(["ada"]);
  const rolesOf = async () => (await shared.database.users.findById(1))?.roles;
  const setRoles = async (...args: string[]) =>
    (await shared.tool(["users", "set-roles", EMAIL, ...args])).code;
  const { code, stderr } = await shared.tool(["users", "set-roles", EMAIL, "admin", "--json"]);
  expect([code, JSON.parse(stderr), await rolesOf()]).toEqual([
    65,
    { code: "EMAIL_NOT_VERIFIED", message: expect.stringContaining("Pass --unverified") },
    [],
  ]);
  expect([await setRoles("admin", "--unverified"), await rolesOf()]).toEqual([0, ["admin"]]);
  expect([await setRoles("admin", "billing"), await rolesOf()]).toEqual([65, ["admin"]]);
  expect([await setRoles(), await rolesOf()]).toEqual([0, []]);
  await shared.database.users.update(1, { emailVerified: true });
  expect([await setRoles("admin"), await rolesOf()]).toEqual([0, ["admin"]]);
  await shared.database.users.update(1, { emailVerified: false });
  const withoutMail = { NODE_ENV: "production", ...shared.env };
  const unchecked = await runTool(["users", "set-roles", EMAIL, "billing"], { env: withoutMail });
  expect([unchecked.code, await rolesOf()]).toEqual([0, ["billing"]]);
});

test("set-claims replaces the claims, keeps the tokens, and writes nothing of a file that is not valid", async () => {
  await using shared = await openSharedDatabase();
  await shared.insert(["ada"]);
  const setClaims = async (json: string) => {
    await Bun.write(join(shared.folder, "claims.json"), json);
    const { code, stderr } = await shared.tool([
      ...["users", "set-claims", EMAIL, join(shared.folder, "claims.json"), "--reason", "order 7"],
    ]);
    return [code, code === 0 ? JSON.parse(stderr) : stderr];
  };
  const before = await shared.database.users.findById(1);
  const logged = { event: "claims.changed", reason: "order 7", claims: ["plan", "seats"] };
  expect(await setClaims('\ufeff{"plan":"pro","seats":5}\n')).toEqual([0, expect.objectContaining(logged)]);
  const claims = { plan: "pro", seats: 5 };
  const name = "a to z, 0 to 9, and _ . : / - that begins with a letter";
  const value = "must be a text without U+0000, a finite number, a boolean or an array of these";
  for (const [json, message] of [
    ["", "The file is not valid JSON in UTF-8."],
    ["[]", "The claims must be an object."],
    ['{"a":1,"a":2}', "The claims must not have a name twice."],
    ['{"__proto__":1}', `The claim __proto__ is not a name of 1 to 64 of the characters ${name}.`],
    ['{"a/b":[{}]}', `The claim a/b ${value}.`],
    ['{"a":1e400}', `The claim a ${value}.`],
    [JSON.stringify({ a: "ä".repeat(509) }), "The claims must have at most 1024 bytes as JSON."],
  ] as const)
    expect([json, ...(await setClaims(json))]).toEqual([json, 65, `${message}\n`]);
  const missing = join(shared.folder, "none.json");
  expect((await shared.tool(["users", "set-claims", EMAIL, missing])).code).toBe(69);
  const shown = await shared.json<object>(["users", "show", "1"]);
  expect(shown).toMatchObject({ claims });
  expect((await shared.tool(["users", "show", "1"])).stdout).toContain('  {"plan":"pro","seats":5}  ');
  const after = await shared.database.users.findById(1);
  expect(after).toMatchObject({ claims, tokenVersion: before?.tokenVersion });
  expect((await shared.tool(["users", "set-claims", EMAIL, "-"], "{}")).code).toBe(0);
  expect((await shared.database.users.findById(1))?.claims).toEqual({});
});

const TAKEN = "A user with this e-mail address or username already exists.";

test.each([
  [`create ${EMAIL} --username ada2`, 1, "USER_ALREADY_EXISTS", TAKEN],
  ["create other@example.com --username ada", 1, "USER_ALREADY_EXISTS", TAKEN],
  ["show nobody@example.com", 1, "USER_NOT_FOUND", "No user has the e-mail address nobody@example.com."],
  ["set-password 9007199254740991", 1, "USER_NOT_FOUND", "No user has the id 9007199254740991."],
  ["delete 42", 1, "USER_NOT_FOUND", "No user has the id 42."],
  ["frob", 64, "USAGE_ERROR", "Unknown command 'frob'; see --help."],
])(
  "%s exits with %i before anything is read, and with --json prints the error as an object with the code %s",
  async (line, code, name, message) => {
    await using shared = await openSharedDatabase();
    await shared.insert(["ada"]);
    const command = ["users", ...line.split(" ")];
    expect(await shared.tool(command)).toEqual({ code, stdout: "", stderr: `${message}\n` });
    const json = await shared.tool([...command, "--json"]);
    expect([json.code, JSON.parse(json.stderr)]).toEqual([code, { code: name, message }]);
  },
);

test("set-password changes only the password and revokes all tokens; revoke-tokens keeps the password", async () => {
  await using shared = await openSharedDatabase();
  const ada = await create(shared);
  const changed = await shared.json<User>(["users", "set-password", EMAIL], NEW_PASSWORD);
  expect({ ...changed, updated_at: ada.updated_at }).toEqual(ada);
  expect(await shared.database.users.findById(ada.id)).toMatchObject({ tokenVersion: 1 });
  await shared.json<User>(["users", "revoke-tokens", EMAIL]);
  expect(await shared.database.users.findById(ada.id)).toMatchObject({ tokenVersion: 2 });
  expect(await shared.canLogIn(PASSWORD)).toBe(false);
  expect(await shared.canLogIn(NEW_PASSWORD)).toBe(true);
});

test("set-roles replaces the roles, which list prints, and rejects more than 20 and those with other characters", async () => {
  await using shared = await openSharedDatabase();
  await shared.insert(["ada"]);
  await shared.database.users.update(1, { emailVerified: true });
  for (const roles of [["b:read", "a", "b:read"], []]) {
    const shown = await shared.json<object>(["users", "set-roles", "1", ...roles]);
    expect(shown).toMatchObject({ roles: [...new Set(roles)].sort() });
    expect(await shared.json<object[]>(["users", "list"])).toEqual([{ ...shown, last_login_at: null }]);
  }
  const many = Array.from({ length: 21 }, (_, index) => `role${index}`);
  for (const roles of [["Admin"], ["a b"], [""], ["x".repeat(65)], many])
    expect((await shared.tool(["users", "set-roles", "1", ...roles])).code).toBe(64);
});

test("list prints all pages in ascending order of ids, or the requested range", async () => {
  await using shared = await openSharedDatabase();
  await shared.insert(Array.from({ length: 1_203 }, (_, index) => `p${index}`));
  const ids = (await shared.database.users.list({ after: 0, limit: 2_000 })).map(({ id }) => id);
  const list = async (...options: string[]) =>
    (await shared.json<User[]>(["users", "list", ...options])).map(({ id }) => id);
  expect(await list()).toEqual(ids);
  expect(await list("--limit", "501", "--after", String(ids[599]))).toEqual(ids.slice(600, 1_101));
  expect(await list("--after", String(ids.at(-1)))).toEqual([]);

  const table = await shared.tool(["users", "list"]);
  expect(table.stdout.split("\n")).toHaveLength(1 + ids.length + 1);
});

test("activate and deactivate change the state; list finds inactive users, and those whose e-mail or username contains a text", async () => {
  await using shared = await openSharedDatabase();
  await shared.insert(["ada", "bob", "ada_2"]);
  for (const command of ["deactivate", "activate", "deactivate", "deactivate"]) {
    const user = await shared.json<User>(["users", command, "ada_2@example.com"]);
    expect(user.is_active).toBe(command === "activate");
  }
  const list = async (...options: string[]) =>
    (await shared.json<User[]>(["users", "list", ...options])).map(({ username }) => username);
  expect(await list("--search", "ADA")).toEqual(["ada", "ada_2"]);
  expect(await list("--inactive")).toEqual(["ada_2"]);
});

test("show, list, export and stats state when a user logged in, which does not change updated_at", async () => {
  await using shared = await openSharedDatabase();
  await shared.insert(["ada", "bob"]);
  await shared.database.users.storeLogin(1);
  const last_login_at = (await shared.database.users.findById(1))?.lastLoginAt;
  const shown = await shared.json<User>(["users", "show", EMAIL]);
  expect(shown).toMatchObject({ last_login_at, updated_at: shown.created_at });
  const listed = await shared.json<object[]>(["users", "list"]);
  expect(listed).toMatchObject([{ last_login_at }, { last_login_at: null }]);
  const { stdout } = await shared.tool(["users", "export", "-"]);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => line.last_login_at)).toEqual([last_login_at, undefined]);
  const stats = { users: 2, inactive: 0, active_30_days: 1, imported: {} };
  expect(await shared.json<unknown>(["users", "stats"])).toEqual(stats);
  const check = await shared.tool(["users", "import", "-"], stdout);
  expect([check.code, check.stdout]).toEqual([0, expect.stringMatching(/existing +2/)]);
});

test("show counts the networks of the last 30 days", async () => {
  await using shared = await openSharedDatabase();
  await shared.insert(["ada"]);
  for (const network of ["home", "office", "earlier"]) await shared.database.users.storeNetwork(1, network);
  const earlier = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000).toISOString();
  await querySqlite(
    shared.env.DATABASE_URL,
    `update user_networks set last_seen_at = '${earlier}' where network_digest = 'earlier'`,
  );
  expect((await shared.tool(["users", "show", EMAIL])).stdout).toMatch(/familiar_networks\n.+ 2\n$/);
});
