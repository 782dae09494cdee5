/** The public API of `@latchkey/client`. Runs on Node 20 and later, on Bun, in browsers and in other runtimes with `fetch`. */
export { type ClientOptions, createClient } from "./client.ts";
export { LatchkeyConnectionError, LatchkeyError } from "./errors.ts";
export { LatchkeyHostedLoginError } from "./hosted-login.ts";
export type * from "./methods.ts";
export { LatchkeyOidcError } from "./oidc.ts";
export { LatchkeyPasskeyError } from "./passkeys.ts";
export type { RequestOptions } from "./request.ts";
export type { Retry } from "./retry.ts";
export type { TokenStorage } from "./storage.ts";
export type { ErrorCode, Json, ValidationIssue } from "./types.ts";
