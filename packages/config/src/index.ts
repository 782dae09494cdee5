/** Environment variables: their definitions, parsing, and descriptions. */
export type { ApiKey } from "./api-keys.ts";
export * from "./describe.ts";
export type { KeyPairAlgorithm, PrivateKey, PublicKey } from "./key-pair.ts";
export type { LoginClient } from "./login-clients.ts";
export { hostOf, leavesMachine, localUrl } from "./network.ts";
export type { OidcProvider } from "./oidc-providers.ts";
export * from "./parse.ts";
export { openPasswordBlocklist, type PasswordBlocklist } from "./password-blocklist.ts";
export * from "./secret-strength.ts";
export { InvalidValue, type Quota } from "./variable-kinds.ts";
export * from "./variables.ts";
