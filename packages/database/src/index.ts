/** The public API: opening, copying, backing up and restoring a database, its types, and the errors that callers distinguish. */
export { callers } from "./caller.ts";
export type { Database, DatabaseOptions } from "./database.ts";
export {
  DatabaseUnavailable,
  IdentityAlreadyUsed,
  LastLogin,
  MigrationRejected,
  SchemaTooNew,
  TooManyIdentities,
  UnsupportedDatabaseServer,
  UserAlreadyExists,
} from "./errors.ts";
export type { OnCopyProgress } from "./maintenance/copy.ts";
export type { LastIds } from "./maintenance/raise-ids.ts";
export {
  backUpFile,
  copyDatabase,
  databaseFile,
  openDatabase,
  raiseDatabaseIds,
  restoreFile,
} from "./open.ts";
export {
  hasImportedHash,
  hasPassword,
  noPassword,
  type Password,
  validImportedHash,
} from "./passwords.ts";
export type { EmailDigest } from "./repositories/digests.ts";
export type {
  AccountEvent,
  EventPage,
  EventPlace,
  EventRepository,
  EventState,
} from "./repositories/events.ts";
export { type FactorAttempt, MAX_FACTOR_FAILURES } from "./repositories/factor-attempts.ts";
export { type FactorRepository, parseRecoveryCodes } from "./repositories/factors.ts";
export { type Guard, hasGuardedPassword, isRevoked, type PasswordGuard } from "./repositories/guard.ts";
export type { IdentityRepository, NewIdentity } from "./repositories/identities.ts";
export { type ImportedUser, isImported } from "./repositories/imports.ts";
export type { LoginRule } from "./repositories/login-methods.ts";
export { isLoginStale } from "./repositories/logins.ts";
export type {
  ClaimedMail,
  ClaimOrder,
  Mail,
  MailBudget,
  MailPolicy,
  Recipient,
  SuppressedMails,
} from "./repositories/mail-policy.ts";
export type { OperatorChange } from "./repositories/operator-changes.ts";
export type { OutboxRepository } from "./repositories/outbox.ts";
export { type FoundPasskey, MAX_USED_CHALLENGES, type PasskeyRepository } from "./repositories/passkeys.ts";
export type { PageRequest } from "./repositories/repository-client.ts";
export type { TodoRepository } from "./repositories/todos.ts";
export type { UserChange } from "./repositories/user-changes.ts";
export type { LoginMeans, UserSearch } from "./repositories/user-search.ts";
export type { AuthenticatedUser, NewUser, UserOfNetwork, UserRepository } from "./repositories/users.ts";
export type { Factor, Identity, Passkey, Todo, User } from "./tables.ts";
export { withTimeout } from "./timeout.ts";
export type { Timestamp } from "./timestamp.ts";
