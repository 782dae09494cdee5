export * from "./errors.ts";
export * from "./limits.ts";
export * from "./probes.ts";
export * from "./text.ts";
export * from "./todos.ts";
export * from "./users.ts";
