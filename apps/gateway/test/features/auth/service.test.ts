/** A derivation or a write can wait long enough for the user to change: what was read before it is checked again. */
import { expect, test } from "bun:test";
import type { Database } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { openToken } from "../../support/forge-token.ts";
import { type Service, type ServiceOptions, startService, type TestUser } from "../../support/service.ts";

const NEW_PASSWORD = "a new password";
const INVALID_TOKEN = [401, { detail: "Invalid or expired token", code: "INVALID_TOKEN" }];
const INVALID_CREDENTIALS = [401, { detail: "Incorrect e-mail or password", code: "INVALID_CREDENTIALS" }];
const INACTIVE = [403, { detail: "The user is inactive", code: "INACTIVE_USER" }];
const NOT_FOUND = [404, { detail: "User not found", code: "USER_NOT_FOUND" }];

/** While `isHeld`, derivations wait for `release`; `arrived` resolves once one of them does. */
function holdDerivations() {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const hold = {
    isHeld: false,
    arrived: arrived.promise,
    release: () => released.resolve(),
    wrapHasher: (hasher: Hasher): Hasher => ({
      ...hasher,
      hash: async (...call) => wait().then(() => hasher.hash(...call)),
      verify: async (...call) => wait().then(() => hasher.verify(...call)),
    }),
  };
  const wait = async (): Promise<void> => {
    if (!hold.isHeld) return;
    arrived.resolve();
    await released.promise;
  };
  return hold;
}

type Start = (options: ServiceOptions) => Promise<Service>;
type Act = (service: Service, user: TestUser) => ReturnType<Service["call"]>;

const changePassword: Act = ({ call }, { token }) =>
  call("PATCH", "/auth/me", { token, body: { username: "renamed", password: NEW_PASSWORD } });
const verifyPassword: Act = ({ call }, { token, password }) =>
  call("PATCH", "/auth/me", { token, body: { current_password: password } });
const verifyWrongPassword: Act = ({ call }, { token }) =>
  call("PATCH", "/auth/me", { token, body: { username: "renamed", current_password: "not the password" } });
const rename: Act = ({ call }, { id, token }) =>
  call("PATCH", "/auth/me", { token, body: { username: `renamed ${id}` } });
const revokeTokens: Act = ({ call }, { token }) => call("DELETE", "/auth/tokens", { token });
const deleteAccount: Act = ({ call }, { token }) => call("DELETE", "/auth/me", { token });
const logIn: Act = ({ call }, { email, password }) =>
  call("POST", "/auth/login", { body: { email, password } });

/** Runs `sql` while the derivation of `act` is held, and returns the outcome of `act`. */
async function actDuring(start: Start, act: Act, sql: (id: number) => string) {
  const hold = holdDerivations();
  await using service = await start({ wrapHasher: hold.wrapHasher });
  const user = await service.createUser();
  hold.isHeld = true;
  const pending = act(service, user);
  await hold.arrived;
  await service.sql(sql(user.id));
  hold.release();
  const { status, body, headers } = await pending;
  const rows = await service.sql<{ username: string }>("select username from users");
  return {
    outcome: [status, body],
    challenge: headers.get("www-authenticate"),
    username: rows[0]?.username,
    user,
  };
}

const REPLACE = (id: number) => `update users set hashed_password = 'replaced' where id = ${id}`;
const DEACTIVATE = (id: number) => `update users set is_active = false where id = ${id}`;
const REVOKE = (id: number) => `update users set token_version = token_version + 1 where id = ${id}`;
const DELETE = (id: number) => `delete from users where id = ${id}`;
const REVOKE_AND_DEACTIVATE = (id: number) =>
  `update users set token_version = token_version + 1, is_active = false where id = ${id}`;
const changePasswordWith = (tokenId: string) => (id: number) =>
  `update users set hashed_password = 'replaced', token_version = token_version + 1,
   password_change_token_id = '${tokenId}' where id = ${id}`;

const RENAME = (id: number) => `update users set username = 'elsewhere' where id = ${id}`;
const REPLACE_AND_DEACTIVATE = (id: number) =>
  `update users set hashed_password = 'replaced', is_active = false where id = ${id}`;

/** What another request changes during the derivation, and the outcome. */
const DURING_DERIVATION = [
  ["a password change", changePassword, { REPLACE, REPLACE_AND_DEACTIVATE, REVOKE }, INVALID_TOKEN],
  ["a password change", changePassword, { DEACTIVATE }, INACTIVE],
  ["a password change", changePassword, { DELETE }, NOT_FOUND],
  ["a correct current password", verifyPassword, { REPLACE, REVOKE }, INVALID_TOKEN],
  ["a correct current password", verifyPassword, { DEACTIVATE }, INACTIVE],
  ["a correct current password", verifyPassword, { DELETE }, NOT_FOUND],
  ["a wrong current password", verifyWrongPassword, { REPLACE, REVOKE }, INVALID_TOKEN],
  ["a wrong current password", verifyWrongPassword, { DEACTIVATE }, INACTIVE],
  ["a wrong current password", verifyWrongPassword, { DELETE }, NOT_FOUND],
  ["a login", logIn, { REPLACE, DELETE }, INVALID_CREDENTIALS],
] as const;

test.each(DURING_DERIVATION)(
  "%s whose user changed during its derivation returns the error of the user as it is then, and changes nothing",
  async (_name, act, changes, expected) => {
    for (const sql of Object.values(changes)) {
      const { outcome, challenge, username, user } = await actDuring(startService, act, sql);
      expect(outcome).toEqual(expected);
      expect(challenge).toBe(expected[0] === 401 ? "Bearer" : null);
      expect(username).toBe(sql === DELETE ? undefined : user.username);
    }
  },
);

test.each([
  ["a password change", changePassword, RENAME],
  ["a login", logIn, DEACTIVATE],
] as const)("%s succeeds if the user changed otherwise during its derivation", async (_name, act, sql) => {
  expect((await actDuring(startService, act, sql)).outcome[0]).toBe(200);
});

test("a password change returns 401 if the token was revoked between the two derivations", async () => {
  const hold = holdDerivations();
  await using service = await startService({
    wrapHasher: (hasher) => ({ ...hasher, hash: hold.wrapHasher(hasher).hash }),
  });
  const user = await service.createUser();
  hold.isHeld = true;
  const body = { current_password: user.password, password: NEW_PASSWORD };
  const pending = service.call("PATCH", "/auth/me", { token: user.token, body });
  await hold.arrived;
  await service.sql(REVOKE(user.id));
  hold.release();
  const { status, body: error } = await pending;
  expect([status, error]).toEqual(INVALID_TOKEN);
  expect(await service.login(user)).toBeString();
});

test.each([
  ["a rename", rename, 200],
  ["a revocation", revokeTokens, 204],
  ["a deletion", deleteAccount, 204],
] as const)(
  "%s that waited for the database succeeds only if the user is active and the token still valid",
  async (_change, act, success) => {
    let meanwhile: (id: number) => Promise<unknown> = async () => undefined;
    const wrapDatabase = (database: Database): Database => ({
      ...database,
      users: {
        ...database.users,
        update: (id, ...rest) => meanwhile(id).then(() => database.users.update(id, ...rest)),
        revokeTokens: (id, ...rest) => meanwhile(id).then(() => database.users.revokeTokens(id, ...rest)),
        delete: (id, ...rest) => meanwhile(id).then(() => database.users.delete(id, ...rest)),
      },
    });
    await using service = await startService({ wrapDatabase });
    for (const [sql, expected] of [
      [REVOKE, INVALID_TOKEN],
      [DEACTIVATE, INACTIVE],
      [REVOKE_AND_DEACTIVATE, INVALID_TOKEN],
      [changePasswordWith("another token"), INVALID_TOKEN],
      [DELETE, NOT_FOUND],
    ] as const) {
      const user = await service.createUser();
      let changed: object[] = [];
      meanwhile = async (id) => {
        await service.sql(sql(id));
        changed = await service.sql("select * from users");
      };
      const { status, body } = await act(service, user);
      expect([status, body]).toEqual(expected);
      expect(await service.sql("select * from users")).toEqual(changed);
    }
    const user = await service.createUser();
    const { jti } = openToken(user.token).claims;
    meanwhile = (id) => service.sql(changePasswordWith(`${jti}`)(id));
    expect((await act(service, user)).status).toBe(success);
  },
);

test("the token of a login during which all tokens were revoked is valid", async () => {
  const hold = holdDerivations();
  await using service = await startService({ wrapHasher: hold.wrapHasher });
  const user = await service.createUser();
  hold.isHeld = true;
  const pending = service.login(user);
  await hold.arrived;
  await service.sql(REVOKE(user.id));
  hold.release();
  expect((await service.call("GET", "/auth/me", { token: await pending })).status).toBe(200);
  expect((await service.call("GET", "/auth/me", { token: user.token })).status).toBe(401);
});

test("every login reads the user twice: correct, wrong password and unknown e-mail alike", async () => {
  let reads = 0;
  const wrapDatabase = (database: Database): Database => ({
    ...database,
    users: {
      ...database.users,
      findByEmail(email) {
        reads += 1;
        return database.users.findByEmail(email);
      },
    },
  });
  await using service = await startService({ wrapDatabase });
  const { email, password } = await service.register();
  const attempts = [
    { email, password },
    { email, password: "not the password" },
    { email: "nobody@example.org", password },
  ];
  for (const body of attempts) {
    reads = 0;
    await service.call("POST", "/auth/login", { body });
    expect(reads).toBe(2);
  }
});
