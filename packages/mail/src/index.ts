/** Mail: reading addresses, the texts, composing a plain message, and sending it over SMTP. */
export * from "./address.ts";
export { composeMessage, type Message } from "./message.ts";
export * from "./smtp-transport.ts";
export { createMails } from "./texts.ts";
