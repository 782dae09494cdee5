/**
 * Measures the load generator itself: its CPU time and lateness at a rate on /healthz, and its median latency compared with
 * that of wrk, in alternating runs on the same service.
 */
import { interleave, median, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { measureLoad, startService } from "@latchkey/testing/measured-service";
import type { LoadRequest } from "../src/load/http-client.ts";
import type { RunOptions } from "../src/load/run-options.ts";
import type { Latency } from "../src/measure/results.ts";
import { runLoad } from "../src/measure/run.ts";

const { rounds, seconds, rate } = parseOptions({ rounds: 5, seconds: 3, rate: 5000 });

const CONNECTIONS = [1, 8];
const HEALTHZ: LoadRequest = {
  operation: "healthz",
  method: "GET",
  path: "/healthz",
  headers: {},
  body: null,
  expected: 200,
};

const ASKED = { scenario: "read", users: 1, unknownPercent: 0, wrongPercent: 0, seed: 1 } as const;

const runAgainst = (url: string, load: RunOptions["load"]) =>
  runLoad({ asked: { ...ASKED, url, load, durationSeconds: seconds }, next: () => HEALTHZ });

async function offer(url: string): Promise<void> {
  print(`\n${rate} requests/s to /healthz, Poisson arrivals, ${rounds} rounds of ${seconds} s`);
  for (let round = 0; round < rounds; round++) {
    const { all, driver } = await runAgainst(url, { kind: "open", ratePerSecond: rate, arrivals: "poisson" });
    const sent = Math.round(all.sent / seconds);
    const cpu = `${Math.round(100 * driver.cpuShare)} % of a core`;
    const late = describeMs(driver.lateness);
    print(`  ${sent}/s sent, ${all.errors} errors; ${cpu}; late ${late}; latency ${describeMs(all.latency)}`);
    if (driver.bottleneck !== null) print(`    the load generator was the bottleneck: ${driver.bottleneck}`);
  }
}

const describeMs = (latency: Latency | null): string =>
  latency === null ? "–" : `p50 ${latency.p50.toFixed(3)} ms p99 ${latency.p99.toFixed(3)} ms`;

async function compareWithWrk(url: string): Promise<void> {
  for (const connections of CONNECTIONS) {
    const { loadtest, wrk } = await interleave(
      {
        wrk: async () => (await measureLoad({ url: `${url}/healthz`, connections, seconds })).p50,
        loadtest: async () => {
          const { all } = await runAgainst(url, { kind: "closed", concurrency: connections });
          return all.latency?.p50 ?? Number.NaN;
        },
      },
      { rounds },
    );
    const overhead = (median(loadtest) - median(wrk)).toFixed(3);
    print(`\n/healthz, closed loop of ${connections}: our p50 is ${overhead} ms above wrk's`);
    printRow("loadtest", loadtest, { digits: 3 });
    printRow("wrk", wrk, { digits: 3 });
  }
}

await using service = await startService({ RATE_LIMIT_ENABLED: "false" });
await offer(service.url);
if (Bun.which("wrk") === null) print("\nwrk is not installed: the comparison of medians is skipped.");
else await compareWithWrk(service.url);
