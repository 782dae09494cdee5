/**
 * What logging and metrics cost: requests per second of a page of todos with both on, as the service ships, against both
 * off. Two processes over one database, their rounds interleaved and in alternating order.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "@latchkey/tooling/free-port";
import { describeMachine } from "@latchkey/tooling/machine";
import { driver, measureLoad } from "./load.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "32" },
    path: { type: "string", default: "/todos?limit=20" },
  },
});
const load = { seconds: Number(values.seconds), connections: Number(values.connections) };
const SETTINGS = {
  off: { LOG_LEVEL: "silent" },
  on: { LOG_LEVEL: "info", METRICS_PORT: "0" },
} as const;
type Setting = keyof typeof SETTINGS;

interface Round {
  /** Requests per second. */
  readonly rate: number;
  /** Processor time per request, which says more than the rate while others use the machine. */
  readonly microseconds: number;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

async function startService(folder: string, setting: Setting) {
  const port = await freePort();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../src/main.ts")], {
    env: {
      PORT: String(port),
      DATABASE_URL: `file:${join(folder, "bench.db")}`,
      RATE_LIMIT_DEFAULT: "999999999/minute",
      LOG_FORMAT: "json",
      ...SETTINGS[setting],
    },
    stdout: Bun.file(join(folder, `${setting}.log`)),
    stderr: "inherit",
  });
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}`);
    await Bun.sleep(10);
  }
  return { url, child };
}

/** Processor time that a process has used, in seconds, where /proc tells (proc_pid_stat(5), in ticks of 1/100 s). */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

type Service = Awaited<ReturnType<typeof startService>>;

async function measureRound({ url, child }: Service): Promise<Round> {
  const before = await processorSeconds(child.pid);
  const rate = await measureLoad({ url: url + values.path, ...load });
  const used = (await processorSeconds(child.pid)) - before;
  return { rate, microseconds: (used * 1e6) / (rate * load.seconds) };
}

const folder = await mkdtemp(join(tmpdir(), "latchkey-bench-"));
const services: Partial<Record<Setting, Service>> = {};
try {
  const off = await startService(folder, "off");
  services.off = off;
  const on = await startService(folder, "on");
  services.on = on;
  for (let index = 1; index <= 25; index++) {
    await fetch(`${off.url}/todos`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ title: `Todo number ${index}` }),
    });
  }
  print(describeMachine());
  print(
    `${values.path}: ${values.rounds} rounds of ${load.seconds} s, ${load.connections} connections, by ${driver}`,
  );
  const rounds: Record<Setting, Round[]> = { off: [], on: [] };
  for (let round = -1; round < Number(values.rounds); round++) {
    const order: readonly (readonly [Setting, Service])[] = [
      ["off", off],
      ["on", on],
    ];
    for (const [setting, service] of round % 2 === 0 ? order : order.toReversed()) {
      const measured = await measureRound(service);
      // The first round warms both up.
      if (round >= 0) rounds[setting].push(measured);
    }
  }
  for (const setting of ["off", "on"] as const) {
    const rate = Math.round(median(rounds[setting].map((round) => round.rate)));
    const microseconds = median(rounds[setting].map((round) => round.microseconds)).toFixed(1);
    const all = rounds[setting].map((round) => Math.round(round.rate)).join(" ");
    print(`  ${setting.padEnd(3)} ${rate} requests/s, ${microseconds} µs of processor each; rounds ${all}`);
  }
  const cost = (of: (round: Round) => number) =>
    (100 * median(rounds.on.map((round, index) => of(round) / of(rounds.off[index] ?? round)))).toFixed(1);
  print(
    `on against off: ${cost(({ rate }) => rate)} % of the rate, ${cost((round) => round.microseconds)} % of the processor time`,
  );
  print(describeMachine());
} finally {
  for (const { child } of Object.values(services)) {
    child.kill();
    await child.exited;
  }
  await rm(folder, { recursive: true, force: true });
}
