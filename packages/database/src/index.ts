/** The public API of the package: one function that opens a database, the interfaces it returns, the errors they throw. */
export { callers } from "./caller.ts";
export type { CopiedTable, OnCopyProgress } from "./copy.ts";
export {
  CopyRejected,
  DatabaseUnavailable,
  InvalidBackup,
  MigrationRejected,
  SchemaTooNew,
  UnsupportedDatabaseServer,
  UserAlreadyExists,
} from "./errors.ts";
export { isImported } from "./imports.ts";
export { backUpFile, copyDatabase, databaseFile, openDatabase, restoreFile } from "./open.ts";
export type * from "./repositories.ts";
export { withTimeout } from "./timeout.ts";
export { type HashCondition, hasHash, isRevoked } from "./valid-token.ts";
