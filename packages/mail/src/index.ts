/** Mail: composing a plain message, and sending it over SMTP. */
export { composeMessage, type Message } from "./message.ts";
export * from "./smtp-transport.ts";
