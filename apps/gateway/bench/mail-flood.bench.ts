/**
 * How long an owner waits for a code while strangers request mails that are never sent: for unknown e-mails, for one registered
 * e-mail with a used-up budget, and for `--inactive` inactive users. One process, on both databases, without rate limits.
 */
import { parseOptions, print } from "@latchkey/testing/benchmark";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startMailServer } from "@latchkey/testing/mail-server";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startProcess } from "@latchkey/testing/service-process";
import { querySqlite } from "@latchkey/testing/sqlite";
import { sendExpecting } from "./support/clients.ts";

const { rate, seconds, inactive } = parseOptions({ rate: 266, seconds: 12, inactive: 300 });
const PATIENCE_MS = 60_000;

const emailOf = (index: number): string => `user${index}@example.org`;

async function measure(databaseUrl: string, query: (sql: string) => Promise<unknown>): Promise<void> {
  await using server = await startMailServer();
  await using replica = startProcess({
    ...{ DATABASE_URL: databaseUrl, AUTH_SECRET_KEY: SECRET_KEY, AUTH_EMAIL_LOGIN: "true" },
    ...{ MAIL_URL: server.url, MAIL_FROM: "accounts@example.com", PUBLIC_URL: "http://127.0.0.1:3000" },
    RATE_LIMIT_ENABLED: "false",
  });
  const url = await replica.ready();
  const request = (email: string) =>
    sendExpecting(200, `${url}/auth/login/email/options`, { body: { email } });
  for (const name of ["owner1", "owner2", "owner3", "victim"]) {
    const user = { email: `${name}@example.org`, username: name, password: "correct horse battery" };
    await sendExpecting(201, `${url}/auth/register`, { body: user });
  }
  const rows = Array.from(
    { length: inactive },
    (_, index) => `('${emailOf(index)}', 'user${index}', 'a$b', false)`,
  );
  await query(`insert into users (email, username, hashed_password, is_active) values ${rows.join()}`);
  await query("update users set email_verified = true");
  const floods = {
    "unknown e-mails": (index: number) => `nobody${index}@example.org`,
    "one registered e-mail": () => "victim@example.org",
    "inactive users": (index: number) => emailOf(index % inactive),
  };
  let owner = 0;
  for (const [name, emailAt] of Object.entries(floods)) {
    const startedAt = performance.now();
    const pending: Promise<unknown>[] = [];
    for (let index = 0; index < rate * seconds; index++) {
      const pauseMs = startedAt + (index * 1000) / rate - performance.now();
      if (pauseMs > 0) await Bun.sleep(pauseMs);
      pending.push(request(emailAt(index)).catch(() => null));
    }
    owner += 1;
    const requestedAt = performance.now();
    await request(`owner${owner}@example.org`);
    const hasCode = () =>
      server.received.some(
        ({ recipients, message }) =>
          recipients.includes(`owner${owner}@example.org`) && message.includes("Your code"),
      );
    while (!hasCode() && performance.now() - requestedAt < PATIENCE_MS) await Bun.sleep(10);
    const delay = ((performance.now() - requestedAt) / 1000).toFixed(1);
    await Promise.all(pending);
    print(
      `${name}: the flood took ${((requestedAt - startedAt) / 1000).toFixed(1)} s, the owner's code ${delay} s`,
    );
    while (
      Number(
        (
          (await query("select count(*) as count from outbox where next_attempt_at is not null")) as {
            count: number;
          }[]
        )[0]?.count,
      ) > 0
    )
      await Bun.sleep(100);
    print(`  all rows were gone after ${((performance.now() - requestedAt) / 1000).toFixed(1)} s`);
  }
}

await using folder = await openFolder();
print("libsql");
await measure(folder.databaseUrl, (sql) => querySqlite(folder.databaseUrl, sql));
await using postgres = await startPostgresServer();
const databaseUrl = await postgres.createDatabase();
print("PostgreSQL");
await measure(databaseUrl, (sql) => postgres.query(sql, databaseUrl));
