/** The public door of the package: one function that opens, the interfaces that it returns, the errors they throw. */

export * from "./errors.ts";
export { type DatabaseOptions, databaseFile, openDatabase } from "./open.ts";
export type * from "./repositories.ts";
