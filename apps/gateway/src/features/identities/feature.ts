/** Imported only if providers are configured, because the library takes time and memory at startup. */
export { identityOperations } from "./operations.ts";
export { openProvider } from "./provider.ts";
export { createIdentityService } from "./service.ts";
