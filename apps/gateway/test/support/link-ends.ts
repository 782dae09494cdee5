/** What happens to a user after a link was requested. */
import type { Service, TestUser } from "./service.ts";

export type LinkEnd = (service: Service, user: TestUser) => Promise<unknown>;

const PASSWORD = "another long passphrase";

/** What ends a reset and a change of e-mail that were requested before. */
export const LINK_ENDS: readonly LinkEnd[] = [
  ({ call }, { token, password }) =>
    call("PATCH", "/auth/me", { token, body: { password: PASSWORD, current_password: password } }),
  ({ call }, { token }) => call("DELETE", "/auth/tokens", { token }),
  ({ database }, { id }) => database.users.changeAsOperator(id, { isActive: false }),
  ({ database: { users } }, { id }) =>
    users
      .changeAsOperator(id, { isActive: false })
      .then(() => users.changeAsOperator(id, { isActive: true })),
  ({ database }, { id }) => database.users.delete(id),
  // A release without versions, and one that does not know the mails of changes.
  ({ sql }, { id }) => sql(`update users set hashed_password = 'other' where id = ${id}`),
  ({ sql }, { id }) => sql(`update users set token_version = token_version + 1 where id = ${id}`),
];
