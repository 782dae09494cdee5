/** Imported only when passkeys are on: validators and the library take time and memory at the start. */
export { passkeyRoutes } from "./routes.ts";
export { createPasskeyService } from "./service.ts";
