/** Sending in a thread: the errors are those of the transport inside, and no crash loses a message. */
import { expect, test } from "bun:test";
import { startMailServer } from "@latchkey/testing/mail-server";
import { MailNotSent, openThreadedTransport } from "../src/index.ts";

const from = "Example <accounts@example.com>";
const message = (subject: string) => ({ from, to: "ada@example.com", subject, text: "Hello\n" });
const open = ({ port }: { port: number }, worker = "../src/smtp-worker.ts") =>
  openThreadedTransport({ server: { host: "127.0.0.1", port }, from }, new URL(worker, import.meta.url));

const outcomeOf = (sending: Promise<void>) =>
  sending.then(
    () => "sent",
    (error: unknown) => error instanceof MailNotSent && [error.reason, error.isPermanent],
  );

test("a message is sent, and a rejection keeps its reason and whether it is permanent", async () => {
  let answer = 250;
  await using server = await startMailServer({ answer: () => answer });
  await using transport = open(server);
  expect(await outcomeOf(transport.send(message("Hello")))).toBe("sent");
  answer = 550;
  expect(await outcomeOf(transport.send(message("Hello")))).toEqual(["550 5.1.1", true]);
  answer = 451;
  expect(await outcomeOf(transport.send(message("Hello")))).toEqual(["451 5.1.1", false]);
});

test("after a crash, the messages of the thread wait for another attempt, and another thread sends the next ones", async () => {
  let crashing: Promise<unknown> | undefined;
  await using server = await startMailServer({
    answer: () => {
      if (crashing) return 250;
      crashing = outcomeOf(transport.send(message("crash")));
      return "hang";
    },
  });
  await using transport = open(server, "fixtures/crashing-worker.ts");
  const failed = ["the thread ended", false];
  expect(await outcomeOf(transport.send(message("Hello")))).toEqual(failed);
  expect(await crashing).toEqual(failed);
  expect(await outcomeOf(transport.send(message("Hello again")))).toBe("sent");
});

test("if a thread cannot start, its messages wait for another attempt", async () => {
  await using transport = open({ port: 1 }, "fixtures/no-such-file.ts");
  for (let attempt = 0; attempt < 2; attempt++)
    expect(await outcomeOf(transport.send(message("Hello")))).toEqual(["the thread ended", false]);
});
