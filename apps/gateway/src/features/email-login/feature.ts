/** Imported only if logins with codes are on. */
export { emailLoginOperations } from "./operations.ts";
export { createEmailLogin } from "./service.ts";
