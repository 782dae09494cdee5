/** A real SMTP server that keeps the mails it accepts. With a certificate, it requires STARTTLS and a login. */
import { readFileSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { ServerCertificate } from "./certificates.ts";

export interface ReceivedMail {
  readonly recipients: readonly string[];
  readonly raw: string;
  /** The headers as sent, and the text without its transfer encoding. */
  readonly message: string;
  /** The HTML without its transfer encoding, "" without one. */
  readonly html: string;
  /** The name of the client in EHLO. */
  readonly clientName: string;
  /** The token of the link, "" without one. */
  readonly token: string;
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

const [USER, PASSWORD] = ["latchkey", "s3cret/p@ss"];

interface MailServerOptions {
  /** Offers STARTTLS and requires a login over it. @default plaintext without a login */
  readonly certificate?: ServerCertificate;
  /** @default a free one */
  readonly port?: number;
  /** Whether it offers SMTPUTF8 and 8BITMIME. @default true */
  readonly isModern?: boolean;
  /** What happens after DATA to the first recipient: the reply code, or `close`, or `hang`. @default 250 */
  readonly answer?: (recipient: string) => number | "close" | "hang";
}

/** Undoes quoted-printable (RFC 2045 §6.7) and base64. */
function decodeBody(head: string, body: string): string {
  const [, encoding] = /^Content-Transfer-Encoding: (.*?)\r?$/im.exec(head) ?? [];
  if (encoding === "base64") return Buffer.from(body, "base64").toString();
  if (encoding !== "quoted-printable") return body;
  const bytes = body
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}

const splitHead = (message: string): [head: string, body: string] => {
  const end = message.indexOf("\r\n\r\n");
  return [message.slice(0, end), message.slice(end + 4)];
};

/** Reads a message that is plain, or multipart/alternative with text and HTML. */
function readMessage(raw: string): Pick<ReceivedMail, "message" | "html"> {
  const [head, body] = splitHead(raw);
  const [, boundary] = /^Content-Type: multipart\/alternative;\s+boundary="(.*?)"/im.exec(head) ?? [];
  if (boundary === undefined) return { message: `${head}\r\n\r\n${decodeBody(head, body)}`, html: "" };
  const parts = body.split(`--${boundary}`).slice(1, -1);
  const [text = "", html = ""] = parts.map((part) => decodeBody(...splitHead(part.slice(2, -2))));
  return { message: `${head}\r\n\r\n${text}`, html };
}

export async function startMailServer({
  certificate,
  port = 0,
  isModern = true,
  answer = () => 250,
}: MailServerOptions = {}) {
  const received: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  const options: SMTPServerOptions = {
    ...(certificate
      ? { key: readFileSync(certificate.keyFile), cert: readFileSync(certificate.certificateFile) }
      : { disabledCommands: ["STARTTLS", "AUTH"] }),
    authOptional: certificate === undefined,
    ...(!isModern && { hideSMTPUTF8: true, hide8BITMIME: true }),
    onAuth({ username, password }, _session, callback) {
      if (username === USER && password === PASSWORD) callback(null, { user: username });
      else callback(new Error("Invalid login"));
    },
    onData(stream, session, callback) {
      const code = answer(session.envelope.rcptTo[0]?.address ?? "");
      if (code === "close") for (const socket of sockets) socket.destroy();
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (code === "hang") return;
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        // Repeats the recipients in the reply, as real servers do.
        if (code !== 250)
          return callback(Object.assign(new Error(`5.1.1 <${recipients}> rejected`), { responseCode: code }));
        const raw = Buffer.concat(chunks).toString();
        const { message, html } = readMessage(raw);
        const clientName = String(session.hostNameAppearsAs);
        received.push({
          recipients,
          raw,
          message,
          html,
          clientName,
          token: /token=([\w.-]+)/.exec(message)?.[1] ?? "",
        });
        callback();
      });
    },
  };
  const server = new SMTPServer(options);
  server.on("error", () => undefined);
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.server.address() as AddressInfo;
  const credentials = certificate ? `${USER}:${encodeURIComponent(PASSWORD)}@` : "";
  return {
    url: `smtp://${credentials}127.0.0.1:${address.port}`,
    port: address.port,
    received,
    /** Waits until this many mails have arrived in total. */
    async waitFor(count: number): Promise<readonly ReceivedMail[]> {
      while (received.length < count) await Bun.sleep(10);
      return received;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
