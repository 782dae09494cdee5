/** Mail: naming mailboxes, writing texts in each language, composing messages, and sending messages over SMTP. */
export * from "./address.ts";
export { composeMessage, type Message } from "./message.ts";
export * from "./smtp-transport.ts";
export { createMails, type ListedLogins, type MailContents, type WriteMail } from "./texts.ts";
export { openThreadedTransport } from "./threaded-transport.ts";
