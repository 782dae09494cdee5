/** Mail: composing a plain message, and sending it over SMTP. */
export { composeMessage, type Message } from "./message.ts";
export { MailNotSent, type MailServer, openSmtpTransport, type Transport } from "./smtp-transport.ts";
