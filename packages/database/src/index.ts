/**
 * The public API of the package: functions that open, copy, back up and restore a database, the types of a database, and all
 * errors.
 */
export { callers } from "./caller.ts";
export type { CopiedTable, OnCopyProgress } from "./copy.ts";
export type { EmailDigest } from "./digests.ts";
export {
  CopyRejected,
  DatabaseUnavailable,
  IdentityAlreadyUsed,
  IdsExhausted,
  InvalidBackup,
  LastLogin,
  MigrationRejected,
  SchemaTooNew,
  UnsupportedDatabaseServer,
  UserAlreadyExists,
} from "./errors.ts";
export { type Guard, hasGuardedPassword, isRevoked, type PasswordGuard } from "./guard.ts";
export type { NewIdentity } from "./identities.ts";
export { hasImportedHash, type ImportedUser, isImported, NO_PASSWORD } from "./imports.ts";
export type { LoginMethods, LoginRule } from "./login-methods.ts";
export {
  backUpFile,
  copyDatabase,
  databaseFile,
  openDatabase,
  raiseDatabaseIds,
  restoreFile,
} from "./open.ts";
export type { ChangedUser, OperatorChange, OperatorChangeOptions } from "./operator-changes.ts";
export type { ClaimedMail, Mail, MailBudget, MailPolicy, Recipient } from "./outbox.ts";
export { MAX_USED_STATEMENTS } from "./passkeys.ts";
export type { LastIds } from "./raise-ids.ts";
export type * from "./repositories.ts";
export type { PageRequest } from "./repository-client.ts";
export type { Identity, Passkey, Todo, User } from "./tables.ts";
export { withTimeout } from "./timeout.ts";
export type { Timestamp } from "./timestamp.ts";
export type { Password } from "./user-changes.ts";
export { isLoginStale, type LoginMeans, type UserSearch, type UserTotals } from "./user-search.ts";
export type { ListRequest, NewUser, UserChange } from "./users.ts";
