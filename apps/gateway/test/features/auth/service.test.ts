/** A derivation or a write can wait long enough for the user to change: what was read before it is checked again. */
import { expect, test } from "bun:test";
import type { Token } from "@latchkey/contracts";
import { privateKeyVariables } from "@latchkey/testing/keys";
import { openToken } from "../../support/forge-token.ts";
import { type Service, startService, type TestUser } from "../../support/service.ts";

const NEW_PASSWORD = "a new password";
const INVALID_TOKEN = [401, { detail: "Invalid or expired token", code: "INVALID_TOKEN" }];
const INVALID_CREDENTIALS = [401, { detail: "Incorrect e-mail or password", code: "INVALID_CREDENTIALS" }];
const INACTIVE = [403, { detail: "The user is inactive", code: "INACTIVE_USER" }];
const NOT_FOUND = [404, { detail: "User not found", code: "USER_NOT_FOUND" }];

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

/** Runs `sql` when a derivation of `act` begins. */
async function actDuring(act: Act, derivation: "hash" | "verify", sql: (id: number) => string, env = {}) {
  let begin = async (_method: typeof derivation): Promise<unknown> => undefined;
  await using service = await startService({
    env,
    wrapHasher: ({ hash, verify }) => ({
      hash: (...call) => begin("hash").then(() => hash(...call)),
      verify: (...call) => begin("verify").then(() => verify(...call)),
    }),
  });
  const user = await service.createUser();
  begin = async (method) => method === derivation && service.sql(sql(user.id));
  const response = await act(service, user);
  const [row] = await service.sql<{ username: string }>("select username from users");
  return { response, isUnchanged: row === undefined || row.username === user.username };
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

// What another request changes during the derivation, and the outcome.
test.each([
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
] as const)(
  "%s whose user changed during its derivation returns the error of the user as it is then, and changes nothing",
  async (_name, act, derivation, changes, expected) => {
    for (const sql of Object.values(changes)) {
      const { response, isUnchanged } = await actDuring(act, derivation, sql);
      expect([response.status, response.body]).toEqual(expected);
      expect(response.headers.get("www-authenticate")).toBe(expected[0] === 401 ? "Bearer" : null);
      expect(isUnchanged).toBe(true);
    }
  },
);

test("a password change and a login succeed if the user changed otherwise during their derivation", async () => {
  expect((await actDuring(changePassword, "hash", RENAME)).response.status).toBe(200);
  expect((await actDuring(logIn, "verify", DEACTIVATE)).response.status).toBe(200);
});

test("a login whose user was deactivated during its derivation returns no token if the service publishes its key", async () => {
  const { response } = await actDuring(logIn, "verify", DEACTIVATE, privateKeyVariables("ES256"));
  expect([response.status, response.body]).toEqual(INACTIVE);
});

test("the token of a login during which all tokens were revoked is valid", async () => {
  const { response } = await actDuring(logIn, "verify", REVOKE);
  expect(openToken(response.expect<Token>(200).access_token).claims.ver).toBe(1);
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
