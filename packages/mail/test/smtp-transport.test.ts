/** Sending over SMTP to a real server: what it receives, and which errors a retry can resolve. */
import { expect, test } from "bun:test";
import { startMailServer } from "@latchkey/testing/mail-server";
import { MailNotSent, openSmtpTransport, toMailError } from "../src/index.ts";

const FROM = "Example <accounts@example.com>";
const message = (to: string) => ({ from: FROM, to, subject: "Hello", text: "Hello\n" });
const open = ({ port }: { port: number }) => openSmtpTransport({ host: "127.0.0.1", port }, FROM);

/** The reason and whether it is permanent, or "sent". */
const outcomeOf = (sending: Promise<void>) =>
  sending.then(
    () => "sent",
    (error: MailNotSent) => [error.reason, error.isPermanent],
  );

test("the server receives the message for one recipient, from a client that names the domain of the sender", async () => {
  await using server = await startMailServer();
  await (await open(server)).send(message("ada@bücher.example"));
  // The test server converts the domain of the envelope to Unicode.
  expect(server.received).toMatchObject([{ clientName: "example.com", recipients: ["ada@bücher.example"] }]);
});

test("a rejection is permanent after a 5xx, and temporary after a 4xx or without an answer; no error names the recipient", async () => {
  let answer: number | "close" = 550;
  await using server = await startMailServer({ answer: () => answer });
  const transport = await open(server);
  const errors: unknown[] = [];
  const send = () => transport.send(message("ada@example.com")).catch((error) => void errors.push(error));
  for (answer of [550, 451, "close"] as const) await send();
  expect(errors.map((error) => toMailError(error).isPermanent)).toEqual([true, false, false]);
  expect(errors[0]).toMatchObject({ reason: "550 5.1.1" });
  for (const error of errors) expect(Bun.inspect(error)).not.toContain("ada@");
});

test("a server that is down is a temporary error with the code of the system", async () => {
  const server = await startMailServer();
  const transport = await open(server);
  await server[Symbol.asyncDispose]();
  expect(await outcomeOf(transport.send(message("ada@example.com")))).toEqual(["ECONNREFUSED", false]);
});

test("an address that is not mailable, or that needs SMTPUTF8 where the server has none, is a permanent error", async () => {
  await using server = await startMailServer({ isModern: false });
  const transport = await open(server);
  expect(await outcomeOf(transport.send(message("ada@[127.0.0.1]")))).toEqual(["EENVELOPE", true]);
  expect(await outcomeOf(transport.send(message("ädä@example.com")))).toEqual(["no SMTPUTF8", true]);
  expect(server.received).toEqual([]);
});

test("a rejected login is temporary, because the operator can correct it", () => {
  const rejected = { code: "EAUTH", responseCode: 535, response: "535 5.7.8 no", permanent: true };
  expect(toMailError(rejected)).toMatchObject({ reason: "535 5.7.8", isPermanent: false });
  expect(toMailError(new MailNotSent("550", true))).toMatchObject({ reason: "550", isPermanent: true });
});
