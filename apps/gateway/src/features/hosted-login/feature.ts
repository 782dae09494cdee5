/** Imported only if applications are configured. */
export { hostedLoginOperations } from "./operations.ts";
export { createHostedLogin } from "./service.ts";
