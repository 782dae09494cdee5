/** Wire shapes as schemas, the limits of the wire format, and the error codes. */
export * from "./errors.ts";
export * from "./keys.ts";
export * from "./limits.ts";
export * from "./probes.ts";
export * from "./text.ts";
export * from "./todos.ts";
export * from "./users.ts";
