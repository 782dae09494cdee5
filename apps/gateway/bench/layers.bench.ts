/**
 * What all layers together cost a request: `/healthz` of the service as it ships against the same route of a bare
 * router, in processor time per request. Each server is a process of its own; the rounds of the two are interleaved.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/tooling/machine";
import { startProcess } from "../test/process.ts";
import { driver, measureLoad } from "./load.ts";
import { median } from "./rank-test.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "16" },
  },
});
const rounds = Number(values.rounds);
const load = { seconds: Number(values.seconds), connections: Number(values.connections) };
const AIM_MICROSECONDS = 5;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** In microseconds, where /proc tells (proc_pid_stat(5), in ticks of 1/100 s). */
async function processorTime(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

interface Server {
  readonly url: string;
  readonly pid: number;
}

/** Processor time per request of one round. */
async function measureRound({ url, pid }: Server): Promise<number> {
  const before = await processorTime(pid);
  const rate = await measureLoad({ url: `${url}/healthz`, ...load });
  return ((await processorTime(pid)) - before) / (rate * load.seconds);
}

const folder = await mkdtemp(join(tmpdir(), "latchkey-layers-"));
const databaseUrl = `file:${join(folder, "layers.db")}`;
try {
  await using service = startProcess({ DATABASE_URL: databaseUrl, RATE_LIMIT_DEFAULT: "999999999/minute" });
  const all: Server = { url: await service.ready(), pid: service.pid };
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "bare.ts"), databaseUrl, "a key nobody uses"],
    {
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  try {
    const { value } = await child.stdout.getReader().read();
    const none: Server = { url: new TextDecoder().decode(value).trim(), pid: child.pid };
    print(describeMachine());
    print(`${rounds} rounds of ${load.seconds} s each, ${load.connections} connections, driven by ${driver}`);

    const costs: Record<"none" | "all", number[]> = { none: [], all: [] };
    // The first round warms both up.
    for (let round = -1; round < rounds; round++) {
      const [without, withAll] = [await measureRound(none), await measureRound(all)];
      if (round < 0) continue;
      costs.none.push(without);
      costs.all.push(withAll);
    }
    for (const [name, list] of Object.entries(costs)) {
      const shown = list.map((cost) => cost.toFixed(1)).join(" ");
      print(`  ${name.padEnd(4)}  ${median(list).toFixed(1)} µs of processor a request; rounds ${shown}`);
    }
    const difference = median(costs.all) - median(costs.none);
    const verdict = difference < AIM_MICROSECONDS ? "below" : "not below";
    print(
      `All layers cost ${difference.toFixed(1)} µs a request: ${verdict} the aim of ${AIM_MICROSECONDS} µs.`,
    );
    print(describeMachine());
  } finally {
    child.kill();
    await child.exited;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
