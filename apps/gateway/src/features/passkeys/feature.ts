/** Imported only if passkeys are enabled, because the validators and the WebAuthn library take time and memory at startup. */
export { passkeyOperations } from "./operations.ts";
export { createPasskeyService } from "./service.ts";
