/**
 * More failed logins of imported users with an expensive hash than the threads can verify, together with logins of other users at
 * a third of the capacity that remains for them. Unknown e-mails at the same rate are a separate run.
 */
import { check, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { runLoadTest, sendEvery, startService } from "@latchkey/testing/measured-service";
import { failLogin, importUsers } from "./support/clients.ts";

const { seconds, clients, rate } = parseOptions({ seconds: 10, clients: 32, rate: 40 });
const MIN_PERCENT = 95;
const SALT_AND_DIGEST = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

await using service = await startService({ RATE_LIMIT_ENABLED: "false", HASH_WORKERS: "2" });
const { url } = service;
const hashes = [10, 13].map((cost) => [`bcrypt-${cost}`, `$2b$${cost}$${SALT_AND_DIGEST}`]);
await importUsers(service.databaseUrl, Object.fromEntries(hashes));

for (const name of ["unknown", "bcrypt-10", "bcrypt-13"]) {
  /** Number of failed logins by status. */
  const failed: Record<number, number> = {};
  const fail = async () => {
    const { status } = await failLogin(url, name);
    failed[status] = (failed[status] ?? 0) + 1;
  };
  const load = { url, scenario: "login", unknown: 0, wrong: 0, duration: seconds } as const;
  const { remaining, all } = await sendEvery(1000 / rate, fail, async () => {
    const { all: remaining } = await runLoadTest({ ...load, concurrency: clients });
    return {
      remaining,
      ...(await runLoadTest({ ...load, rate: remaining.perSecond / 3, arrivals: "constant" })),
    };
  });
  const { 200: succeeded = 0, ...others } = all.statuses;
  const total = Object.values(others).reduce((sum, count) => sum + count, succeeded);
  const percent = (100 * succeeded) / total;
  print(`${rate} failed logins/s, ${name}: ${JSON.stringify(failed)}`);
  printRow(`${name}: remaining capacity, logins/s`, [remaining.perSecond]);
  printRow(`${name}: successful, % of ${total}`, [percent]);
  check(percent >= MIN_PERCENT, `  at least ${MIN_PERCENT} %`);
}
