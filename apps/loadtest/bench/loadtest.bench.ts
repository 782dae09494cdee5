/**
 * Measures the load generator itself: its CPU time and lateness at a rate on /healthz, and its median latency compared with
 * that of wrk, in alternating runs on the same service.
 */
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import type { LoadRequest } from "../src/load/http-client.ts";
import type { RunOptions } from "../src/load/run-options.ts";
import type { Latency } from "../src/measure/results.ts";
import { runLoad } from "../src/measure/run.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    rate: { type: "string", default: "5000" },
  },
});
const rounds = Number(values.rounds);
const durationSeconds = Number(values.seconds);
const ratePerSecond = Number(values.rate);

const CONNECTIONS = [1, 8];
const HEALTHZ: LoadRequest = {
  operation: "healthz",
  method: "GET",
  path: "/healthz",
  headers: {},
  body: null,
  expected: 200,
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;
const list = (numbers: readonly number[]): string => numbers.map((ms) => ms.toFixed(3)).join(" ");

const runAgainst = (url: string, load: RunOptions["load"]) => {
  const asked = {
    url,
    scenario: "read",
    load,
    durationSeconds,
    users: 1,
    unknownPercent: 0,
    wrongPercent: 0,
  } as const;
  return runLoad({ asked: { ...asked, seed: 1 }, next: () => HEALTHZ });
};

async function offer(url: string): Promise<void> {
  print(
    `\n${ratePerSecond} requests/s to /healthz, Poisson arrivals, ${rounds} rounds of ${durationSeconds} s`,
  );
  for (let round = 0; round < rounds; round++) {
    const { all, driver } = await runAgainst(url, { kind: "open", ratePerSecond, arrivals: "poisson" });
    const sent = Math.round(all.sent / durationSeconds);
    const cpu = `${Math.round(100 * driver.cpuShare)} % of a core`;
    const late = describeMs(driver.lateness);
    print(`  ${sent}/s sent, ${all.errors} errors; ${cpu}; late ${late}; latency ${describeMs(all.latency)}`);
    if (driver.bottleneck !== null) print(`    the load generator was the bottleneck: ${driver.bottleneck}`);
  }
}

const describeMs = (latency: Latency | null): string =>
  latency === null ? "–" : `p50 ${latency.p50.toFixed(3)} ms p99 ${latency.p99.toFixed(3)} ms`;

/** The median in milliseconds. */
async function measureWithWrk(url: string, connections: number): Promise<number> {
  const size = ["-t", "1", "-c", String(connections), "-d", `${durationSeconds}s`, "--latency"];
  const child = Bun.spawn(["wrk", ...size, `${url}/healthz`], { stdout: "pipe" });
  const report = await new Response(child.stdout).text();
  const [, figure, unit] = /50%\s+([\d.]+)(us|ms)/.exec(report) ?? [];
  if (figure === undefined) throw new Error(report);
  return unit === "us" ? Number(figure) / 1000 : Number(figure);
}

async function compareWithWrk(url: string): Promise<void> {
  for (const connections of CONNECTIONS) {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      theirs.push(await measureWithWrk(url, connections));
      const { all } = await runAgainst(url, { kind: "closed", concurrency: connections });
      ours.push(all.latency?.p50 ?? Number.NaN);
    }
    const overhead = (median(ours) - median(theirs)).toFixed(3);
    print(`\n/healthz, closed loop of ${connections}: our p50 is ${overhead} ms above wrk's`);
    print(`  loadtest ${list(ours)}`);
    print(`  wrk      ${list(theirs)}`);
  }
}

print(describeMachine());
await using folder = await openFolder();
await using service = await startService(folder, { RATE_LIMIT_ENABLED: "false" });
await offer(service.url);
if (Bun.which("wrk") === null) print("\nwrk is not installed: the comparison of medians is skipped.");
else await compareWithWrk(service.url);
print(`\n${describeMachine()}`);
