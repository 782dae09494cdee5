/** Wire shapes as schemas, the bounds of the wire format, and what else several packages must agree on. */

export * from "./bounds.ts";
export * from "./database-url.ts";
export * from "./errors.ts";
export * from "./keys.ts";
export * from "./mails.ts";
export * from "./passkeys.ts";
export * from "./probes.ts";
export * from "./text.ts";
export * from "./todos.ts";
export * from "./users.ts";
export * from "./validation.ts";
