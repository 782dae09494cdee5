/**
 * Compares logins over HTTP with the hashing core alone, and `/healthz` during the logins with an idle service. Each round
 * measures all of them, because the speed of a shared machine changes. The hashing core runs in this process. The second table
 * compares logins with passkeys, each of two requests, with those with passwords.
 */
import { join } from "node:path";
import type * as Hashing from "@latchkey/hashing";
import {
  interleave,
  median,
  medianRatio,
  metOrMissed,
  parseOptions,
  print,
  printRow,
} from "@latchkey/testing/benchmark";
import { loadDuring, probe, runLoadTest, startService } from "@latchkey/testing/measured-service";
import { CHECKOUT } from "@latchkey/testing/repository";
import { ORIGIN } from "../test/support/authenticator.ts";
import { createPasskeys } from "./support/passkeys.ts";

const { rounds, seconds, clients } = parseOptions({ rounds: 5, seconds: 20, clients: 48 });
/** Enough for eight times as many logins. */
const PASSKEYS_PER_SECOND = 500;
const TARGETS = { rateRatio: 0.93, increaseMs: 1, probeMs: 5 } as const;

const { createHasher }: typeof Hashing = await import(join(CHECKOUT, "packages/hashing/src/index.ts"));
await using hasher = createHasher();
await hasher.ready();
const { workers, kernel } = hasher.stats();
const env = { RATE_LIMIT_ENABLED: "false", HASH_WORKERS: String(workers), PASSKEY_ORIGINS: ORIGIN };
await using service = await startService(env);
const { url } = service;
const passkeys = await createPasskeys(service, seconds * PASSKEYS_PER_SECOND);
print(`${rounds} rounds of ${seconds} s each; ${clients} clients, ${workers} workers, kernel ${kernel}\n`);

const logIn = { url, concurrency: clients, users: clients };
// Creates the users and compiles the code before the first round.
await runLoadTest({ ...logIn, duration: 1 });
const PASSWORD = "a password for the benchmark";
const hash = () => hasher.hash(PASSWORD);
const probeIdle = () => probe(url, seconds);
const tasks = {
  // The same warm-up as that of the load tester.
  hasher: async () => (await loadDuring(clients, hash, () => Bun.sleep(1000 * seconds), 1)).rate,
  idle: probeIdle,
  logIns: () => runLoadTest({ ...logIn, duration: seconds }),
  passkeys: async () => {
    await passkeys.reset();
    return loadDuring(clients, passkeys.logIn, probeIdle);
  },
};
const { hasher: alone, idle, ...results } = await interleave(tasks, { rounds });
const rates = results.logIns.map(({ all }) => all.perSecond);
const saturated = results.logIns.map(({ probeP99 }) => probeP99);
const increases = saturated.map((p99, round) => p99 - (idle[round] ?? Number.NaN));
printRow("hashing core alone, /s", alone);
printRow("logins over HTTP, /s", rates, { baselines: { "hashing core": alone } });
printRow("/healthz p99 idle, ms", idle, { digits: 2 });
printRow("/healthz p99 saturated, ms", saturated, { digits: 2 });
printRow("  increase, ms", increases, { digits: 2 });

print();
printRow("password logins over HTTP, /s", rates);
const passkeyRates = results.passkeys.map(({ rate }) => rate);
printRow("passkey logins over HTTP, /s", passkeyRates, { baselines: { passwords: rates } });
printRow("/healthz p99 with passwords, ms", saturated, { digits: 2 });
const passkeyP99s = results.passkeys.map(({ result }) => result);
printRow("/healthz p99 with passkeys, ms", passkeyP99s, { digits: 2 });

const { rateRatio, increaseMs, probeMs } = TARGETS;
const isFast = medianRatio(rates, alone) >= rateRatio;
print(`\nat least ${100 * rateRatio} % of the hashing core's rate: ${metOrMissed(isFast)}`);
print(`p99 at most ${increaseMs} ms above idle: ${metOrMissed(median(increases) <= increaseMs)}`);
print(`each p99 below ${probeMs} ms: ${metOrMissed(saturated.every((p99) => p99 < probeMs))}`);
