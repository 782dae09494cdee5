/** The schemas and limits of the HTTP API, and other definitions that several packages share. */

export * from "./administration.ts";
export * from "./bounds.ts";
export * from "./claims.ts";
export * from "./credentials.ts";
export * from "./database-url.ts";
export * from "./email.ts";
export * from "./errors.ts";
export * from "./events.ts";
export * from "./factors.ts";
export * from "./hosted-login.ts";
export * from "./keys.ts";
export * from "./languages.ts";
export * from "./logins.ts";
export * from "./mails.ts";
export * from "./pages.ts";
export * from "./passkeys.ts";
export * from "./probes.ts";
export * from "./text.ts";
export * from "./todos.ts";
export * from "./usernames.ts";
export * from "./users.ts";
export * from "./validation.ts";
