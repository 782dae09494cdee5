/** What the service counts and the admin tool reads: limits of logins, counters in Redis, and digests as their keys. */

export * from "./digests.ts";
export * from "./login-limits.ts";
export * from "./redis-counters.ts";
