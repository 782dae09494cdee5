/** A derivation or a write can wait long enough for the user to change: what was read before it is checked again. */
import { expect, test } from "bun:test";
import type { Hasher } from "@latchkey/hashing";
import { privateKeyVariables } from "@latchkey/testing/keys";
import { openToken } from "../../support/forge-token.ts";
import { type Service, startService, type TestUser } from "../../support/service.ts";

const NEW_PASSWORD = "a new password";
const INVALID_TOKEN = [401, { detail: "Invalid or expired token", code: "INVALID_TOKEN" }];
const INVALID_CREDENTIALS = [401, { detail: "Incorrect e-mail or password", code: "INVALID_CREDENTIALS" }];
const INACTIVE = [403, { detail: "The user is inactive", code: "INACTIVE_USER" }];
const NOT_FOUND = [404, { detail: "User not found", code: "USER_NOT_FOUND" }];

type Derivation = "hash" | "verify";

/** Derivations of the method `held` wait for `release`; `arrived` resolves once one of them does. */
function holdDerivations() {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const wait = async (method: Derivation): Promise<void> => {
    if (hold.held !== method) return;
    arrived.resolve();
    await released.promise;
  };
  const hold = {
    held: null as Derivation | null,
    arrived: arrived.promise,
    release: released.resolve,
    wrapHasher: ({ hash, verify }: Hasher): Partial<Hasher> => ({
      hash: (...call) => wait("hash").then(() => hash(...call)),
      verify: (...call) => wait("verify").then(() => verify(...call)),
    }),
  };
  return hold;
}

type Act = (service: Service, user: TestUser) => ReturnType<Service["call"]>;

const patch =
  (createBody: (user: TestUser) => object): Act =>
  ({ call }, user) =>
    call("PATCH", "/auth/me", { token: user.token, body: createBody(user) });
const changePassword = patch(() => ({ username: "renamed", password: NEW_PASSWORD }));
const changeBoth = patch(({ password }) => ({
  ...{ username: "renamed", password: NEW_PASSWORD },
  current_password: password,
}));
const verifyPassword = patch(({ password }) => ({ current_password: password }));
const verifyWrongPassword = patch(() => ({ username: "renamed", current_password: "not the password" }));
const rename = patch(({ id }) => ({ username: `renamed ${id}` }));
const revokeTokens: Act = ({ call }, { token }) => call("DELETE", "/auth/tokens", { token });
const deleteAccount: Act = ({ call }, { token }) => call("DELETE", "/auth/me", { token });
const logIn: Act = ({ call }, { email, password }) =>
  call("POST", "/auth/login", { body: { email, password } });

/** Runs `sql` while a derivation of `act` is held, and returns the outcome of `act`. */
async function actDuring(act: Act, held: Derivation, sql: (id: number) => string, env = {}) {
  const hold = holdDerivations();
  await using service = await startService({ env, wrapHasher: hold.wrapHasher });
  const user = await service.createUser();
  hold.held = held;
  const pending = act(service, user);
  await hold.arrived;
  await service.sql(sql(user.id));
  hold.release();
  const { status, body, headers } = await pending;
  const [row] = await service.sql<{ username: string }>("select username from users");
  const isUnchanged = row === undefined || row.username === user.username;
  return { outcome: [status, body], challenge: headers.get("www-authenticate"), isUnchanged };
}

const update = (values: string) => (id: number) => `update users set ${values} where id = ${id}`;
const REPLACE = update("hashed_password = 'replaced'");
const DEACTIVATE = update("is_active = false");
const REPLACE_AND_DEACTIVATE = update("hashed_password = 'replaced', is_active = false");
const REVOKE = update("token_version = token_version + 1");
const REVOKE_AND_DEACTIVATE = update("token_version = token_version + 1, is_active = false");
const RENAME = update("username = 'elsewhere'");
const DELETE = (id: number) => `delete from users where id = ${id}`;
const changePasswordWith = (tokenId: string) =>
  update(
    `hashed_password = 'replaced', token_version = token_version + 1, password_change_token_id = '${tokenId}'`,
  );

/** What another request changes during the derivation, and the outcome. */
const DURING_DERIVATION = [
  ["a password change", changePassword, "hash", { REPLACE, REPLACE_AND_DEACTIVATE, REVOKE }, INVALID_TOKEN],
  ["a password change", changePassword, "hash", { DEACTIVATE }, INACTIVE],
  ["a password change", changePassword, "hash", { DELETE }, NOT_FOUND],
  ["a correct current password", verifyPassword, "verify", { REPLACE, REVOKE }, INVALID_TOKEN],
  ["a correct current password", verifyPassword, "verify", { DEACTIVATE }, INACTIVE],
  ["a correct current password", verifyPassword, "verify", { DELETE }, NOT_FOUND],
  ["a password change after a correct current password", changeBoth, "hash", { REVOKE }, INVALID_TOKEN],
  ["a wrong current password", verifyWrongPassword, "verify", { REPLACE, REVOKE }, INVALID_TOKEN],
  ["a wrong current password", verifyWrongPassword, "verify", { DEACTIVATE }, INACTIVE],
  ["a wrong current password", verifyWrongPassword, "verify", { DELETE }, NOT_FOUND],
  ["a login", logIn, "verify", { REPLACE, DELETE }, INVALID_CREDENTIALS],
] as const;

test.each(DURING_DERIVATION)(
  "%s whose user changed during its derivation returns the error of the user as it is then, and changes nothing",
  async (_name, act, held, changes, expected) => {
    for (const sql of Object.values(changes)) {
      const challenge = expected[0] === 401 ? "Bearer" : null;
      expect(await actDuring(act, held, sql)).toEqual({ outcome: expected, challenge, isUnchanged: true });
    }
  },
);

test.each([
  ["a password change", changePassword, "hash", RENAME],
  ["a login", logIn, "verify", DEACTIVATE],
] as const)(
  "%s succeeds if the user changed otherwise during its derivation",
  async (_name, act, held, sql) => {
    expect((await actDuring(act, held, sql)).outcome[0]).toBe(200);
  },
);

test("a login whose user was deactivated during its derivation returns no token if the service publishes its key", async () => {
  const { outcome } = await actDuring(logIn, "verify", DEACTIVATE, privateKeyVariables("ES256"));
  expect(outcome).toEqual(INACTIVE);
});

test.each([
  ["a rename", rename, 200],
  ["a revocation", revokeTokens, 204],
  ["a deletion", deleteAccount, 204],
] as const)(
  "%s that waited for the database succeeds only if the user is active and the token still valid",
  async (_change, act, success) => {
    let meanwhile: (id: number) => Promise<unknown> = async () => undefined;
    await using service = await startService({
      wrapDatabase: ({ users }) => ({
        users: {
          update: (...change) => meanwhile(change[0]).then(() => users.update(...change)),
          revokeTokens: (...change) => meanwhile(change[0]).then(() => users.revokeTokens(...change)),
          delete: (...change) => meanwhile(change[0]).then(() => users.delete(...change)),
        },
      }),
    });
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
  hold.held = "verify";
  const pending = service.login(user);
  await hold.arrived;
  await service.sql(REVOKE(user.id));
  hold.release();
  expect((await service.call("GET", "/auth/me", { token: await pending })).status).toBe(200);
  expect((await service.call("GET", "/auth/me", { token: user.token })).status).toBe(401);
});

test("every login reads the user twice: correct, wrong password and unknown e-mail alike", async () => {
  const reads: string[] = [];
  await using service = await startService({
    wrapDatabase: ({ users }) => ({
      users: { findByEmail: (email) => users.findByEmail(email).finally(() => reads.push(email)) },
    }),
  });
  const { email, password } = await service.register();
  for (const attempt of [
    { email, password },
    { email, password: "x" },
    { email: "nobody@example.org", password },
  ]) {
    reads.length = 0;
    await service.call("POST", "/auth/login", { body: attempt });
    expect(reads).toEqual([attempt.email, attempt.email]);
  }
});
