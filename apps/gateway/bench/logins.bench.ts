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
  metOrMissed,
  parseOptions,
  print,
  printRow,
  ratios,
} from "@latchkey/testing/benchmark";
import { closedLoopRate, runLoadTest, startService } from "@latchkey/testing/measured-service";
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
await using service = await startService({
  RATE_LIMIT_ENABLED: "false",
  HASH_WORKERS: String(workers),
  PASSKEY_ORIGINS: ORIGIN,
});
const { url } = service;
const passkeys = await createPasskeys(service, seconds * PASSKEYS_PER_SECOND);
print(`${rounds} rounds of ${seconds} s each; ${clients} clients, ${workers} workers, kernel ${kernel}\n`);

const logIn = { url, concurrency: clients, users: clients };
// Creates the users and compiles the code before the first round.
await runLoadTest({ ...logIn, duration: 1 });
/** Nearly idle: the same program measures the probe in all cases. */
const probe = () =>
  runLoadTest({ url, scenario: "read", rate: 1, arrivals: "constant", users: 1, duration: seconds });
const results = await interleave(
  {
    // The same warm-up as that of the load tester.
    hasher: () =>
      closedLoopRate({ clients, seconds, warmUpSeconds: 1 }, () =>
        hasher.hash("a password for the benchmark"),
      ),
    idle: probe,
    logIns: () => runLoadTest({ ...logIn, duration: seconds }),
    passkeys: async () => {
      await passkeys.reset();
      const rate = closedLoopRate({ clients, seconds }, passkeys.logIn);
      return { ...(await probe()), rate: await rate };
    },
  },
  { rounds },
);
const p99s = (runs: readonly Pick<(typeof results.idle)[number], "probe">[]) =>
  runs.map(({ probe }) => probe.latency?.p99 ?? Number.NaN);
const rates = results.logIns.map(({ all }) => all.perSecond);
const [idleP99s, saturatedP99s] = [p99s(results.idle), p99s(results.logIns)];
const increases = saturatedP99s.map((p99, round) => p99 - (idleP99s[round] ?? Number.NaN));
printRow("hashing core alone, /s", results.hasher);
printRow("logins over HTTP, /s", rates, { baselines: { "hashing core": results.hasher } });
printRow("/healthz p99 idle, ms", idleP99s, { digits: 2 });
printRow("/healthz p99 saturated, ms", saturatedP99s, { digits: 2 });
printRow("  increase, ms", increases, { digits: 2 });

print();
const passkeyRates = results.passkeys.map(({ rate }) => rate);
printRow("password logins over HTTP, /s", rates);
printRow("passkey logins over HTTP, /s", passkeyRates, { baselines: { passwords: rates } });
printRow("/healthz p99 with passwords, ms", saturatedP99s, { digits: 2 });
printRow("/healthz p99 with passkeys, ms", p99s(results.passkeys), { digits: 2 });

const { rateRatio, increaseMs, probeMs } = TARGETS;
const isFast = median(ratios(rates, results.hasher)) >= rateRatio;
print(`\nat least ${100 * rateRatio} % of the hashing core's rate: ${metOrMissed(isFast)}`);
print(`p99 at most ${increaseMs} ms above idle: ${metOrMissed(median(increases) <= increaseMs)}`);
print(`each p99 below ${probeMs} ms: ${metOrMissed(saturatedP99s.every((p99) => p99 < probeMs))}`);
