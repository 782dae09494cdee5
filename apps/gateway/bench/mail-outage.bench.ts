/**
 * Which mails arrive, and which twice, if they are requested while the mail server closes connections within DATA, then answers
 * 4xx, then is down for `--minutes`. Two replicas on PostgreSQL are killed right after a response, and while they send what has
 * waited.
 */
import { metOrMissed, parseOptions, print } from "@latchkey/testing/benchmark";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startMailServer } from "@latchkey/testing/mail-server";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startProcess } from "@latchkey/testing/service-process";
import { sendExpecting } from "./support/clients.ts";

const { minutes, users } = parseOptions({ minutes: 10, users: 100 });
/** Of each failure before the server is down. */
const FAILURE_SECONDS = 20;

let answer: number | "close" = "close";
const failing = await startMailServer({ answer: () => answer });
await using postgres = await startPostgresServer();
const databaseUrl = await postgres.createDatabase();
const variables = {
  DATABASE_URL: databaseUrl,
  AUTH_SECRET_KEY: SECRET_KEY,
  MAIL_URL: failing.url,
  MAIL_FROM: "accounts@example.com",
  PUBLIC_URL: "http://127.0.0.1:3000",
  RATE_LIMIT_ENABLED: "false",
};
await using processes = new AsyncDisposableStack();
const startReplicas = () => [0, 1].map(() => processes.use(startProcess(variables)));
let replicas = startReplicas();
/** The recipient and the first word of the subject of each mail. */
const expected = new Set<string>();

async function killReplicas(): Promise<void> {
  await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
  replicas = startReplicas();
}

/** Each user gets a verification and a reset. */
async function requestMails(count: number, seconds: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await Bun.sleep((1000 * seconds) / count);
    const username = `user-${expected.size}`;
    const user = { email: `${username}@example.org`, username, password: "correct horse battery" };
    const url = await replicas[index % 2]?.ready();
    await sendExpecting(201, `${url}/auth/register`, { body: user });
    expected.add(`${user.email} Confirm`);
    await sendExpecting(202, `${url}/auth/password-reset`, { body: user });
    expected.add(`${user.email} Reset`);
  }
}

async function read(what: string): Promise<number> {
  const [row] = await postgres.query<{ value: string }>(`select ${what} as value from outbox`, databaseUrl);
  return Number(row?.value);
}

await requestMails(users / 10, FAILURE_SECONDS);
answer = 451;
await requestMails(users / 10, FAILURE_SECONDS);
await failing[Symbol.asyncDispose]();
for (const _ of [1, 2]) {
  await requestMails(0.4 * users, minutes * 30);
  await killReplicas();
}
print(`${await read("count(next_attempt_at)")} mails wait after ${await read("sum(attempts)")} attempts`);

const server = await startMailServer({ port: failing.port });
const startedAt = performance.now();
while (server.received.length < expected.size / 2) await Bun.sleep(10);
await killReplicas();
while ((await read("count(next_attempt_at)")) > 0) await Bun.sleep(1000);
const arrived = [...failing.received, ...server.received].map(
  ({ recipients, message }) => `${recipients} ${/^Subject: (\w+)/m.exec(message)?.[1]}`,
);
const missing = [...expected].filter((mail) => !arrived.includes(mail)).length;
print(`all are sent ${((performance.now() - startedAt) / 1000).toFixed(0)} s after the end of the outage`);
print(`expected ${expected.size}, missing ${missing}, twice ${arrived.length - new Set(arrived).size}`);
print(`all arrive: ${metOrMissed(missing === 0)}`);
await server[Symbol.asyncDispose]();
