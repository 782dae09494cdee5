/** Imported only if second factors are on. */
export { secondFactorOperations } from "./operations.ts";
export { createSecondFactor } from "./service.ts";
