/**
 * More failed logins of imported users with an expensive hash than the threads can verify, together with logins of other users at
 * a third of the capacity that remains for them. Unknown e-mails at the same rate are a separate run.
 */
import { once } from "node:events";
import { openDatabase } from "@latchkey/database";
import { bindImportedHash } from "@latchkey/hashing";
import { metOrMissed, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { runLoadTest, startService } from "@latchkey/testing/measured-service";
import { send } from "./support/clients.ts";

const { seconds, clients, rate } = parseOptions({ seconds: 10, clients: 32, rate: 40 });
const MIN_PERCENT = 95;
const SALT_AND_DIGEST = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

await using service = await startService({ RATE_LIMIT_ENABLED: "false", HASH_WORKERS: "2" });
const { url } = service;
await using database = await openDatabase({ url: service.databaseUrl });
for (const cost of [10, 13]) {
  const importedHash = `$2b$${cost}$${SALT_AND_DIGEST}`;
  const hashedPassword = bindImportedHash(importedHash);
  const username = `bcrypt-${cost}`;
  await database.users.import([{ email: `${username}@example.org`, username, hashedPassword, importedHash }]);
}

/** Sends failed logins until the signal; returns the number of responses by status. */
async function countLogins(email: string, signal: AbortSignal) {
  const statuses: Record<number, number> = {};
  const pending: Promise<void>[] = [];
  const logIn = async () => {
    const { status } = await send(`${url}/auth/login`, { body: { email, password: "not the password" } });
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const timer = setInterval(() => pending.push(logIn()), 1000 / rate);
  await once(signal, "abort");
  clearInterval(timer);
  await Promise.all(pending);
  return statuses;
}

for (const name of ["unknown", "bcrypt-10", "bcrypt-13"]) {
  const ended = new AbortController();
  const failed = countLogins(`${name}@example.org`, ended.signal);
  const load = { url, scenario: "login", unknown: 0, wrong: 0, duration: seconds } as const;
  const { all: remaining } = await runLoadTest({ ...load, concurrency: clients });
  const { all } = await runLoadTest({ ...load, rate: remaining.perSecond / 3, arrivals: "constant" });
  ended.abort();
  const { 200: succeeded = 0, ...others } = all.statuses;
  const total = Object.values(others).reduce((sum, count) => sum + count, succeeded);
  const percent = (100 * succeeded) / total;
  print(`${rate} failed logins/s, ${name}: ${JSON.stringify(await failed)}`);
  printRow(`${name}: remaining capacity, logins/s`, [remaining.perSecond]);
  printRow(`${name}: successful, % of ${total}`, [percent]);
  print(`  at least ${MIN_PERCENT} %: ${metOrMissed(percent >= MIN_PERCENT)}`);
  if (percent < MIN_PERCENT) process.exitCode = 1;
}
