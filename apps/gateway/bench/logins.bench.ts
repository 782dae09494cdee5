/**
 * Logins through HTTP against what the hashing core can do without it, and `/healthz` meanwhile against an idle service:
 * `bun run bench logins [--rounds N] [--seconds S]`. Each round takes all of them in turn, since a machine changes by the
 * minute. The service and the load tester are processes of their own; the pool runs here, while they rest.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createHasher } from "@latchkey/hashing";
import { openFolder } from "@latchkey/testing/folder";
import { describeMachine } from "@latchkey/testing/machine";
import { startProcess } from "@latchkey/testing/service-process";
import { median } from "./rank-test.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "20" },
    clients: { type: "string", default: "48" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const clients = Number(values.clients);

const LOADTEST = join(import.meta.dir, "../../loadtest/src/main.ts");
/** As long as the load tester's: until then lanes fill and nothing comes out. */
const WARM_UP_MS = 1000;
const AIMS = { share: 0.93, riseMs: 1, probeMs: 5 } as const;

const print = (line = ""): void => void process.stdout.write(`${line}\n`);
const row = (name: string, figures: readonly number[], digits: number): void =>
  print(
    `${name.padEnd(28)} ${median(figures).toFixed(digits)}; rounds ${figures.map((figure) => figure.toFixed(digits)).join(" ")}`,
  );

/** Derivations per second of as many callers without HTTP, on workers as the service has them. */
async function poolRate(): Promise<number> {
  const countedFrom = performance.now() + WARM_UP_MS;
  const endsAt = countedFrom + seconds * 1000;
  let counted = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      await hasher.hash("a password of the pool");
      const now = performance.now();
      if (now >= countedFrom && now < endsAt) counted += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, caller));
  return counted / seconds;
}

/** The part of the load tester's `--json` that counts here. */
interface Run {
  readonly all: { readonly perSecond: number };
  /** Of `/healthz`, asked every 5 ms over a connection of its own; milliseconds. */
  readonly probe: { readonly latency: { readonly p99: number } | null };
}

function parseRun(json: string): Run {
  return JSON.parse(json);
}

async function drive(asked: Readonly<Record<string, string | number>>): Promise<Run> {
  const flags = Object.entries({ url, ...asked }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const cmd = [process.execPath, LOADTEST, ...flags, "--json"];
  const child = Bun.spawn({ cmd, stdout: "pipe", stderr: "pipe" });
  const [output, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(complaint);
  return parseRun(output);
}

const p99Of = ({ probe }: Run): number => probe.latency?.p99 ?? Number.NaN;
const logIns = (duration: number): Promise<Run> => drive({ concurrency: clients, users: clients, duration });
/** As good as idle, so that both sides are probed by the same program. */
const rest = (): Promise<Run> => drive({ scenario: "read", rate: 0.1, users: 1, duration: seconds });

await using folder = await openFolder();
await using hasher = createHasher();
await hasher.ready();
const { workers, kernel } = hasher.stats();
await using service = startProcess({
  DATABASE_URL: folder.databaseUrl,
  RATE_LIMIT_ENABLED: "false",
  HASH_WORKERS: String(workers),
});
const url = await service.ready();
print(describeMachine());
print(`${rounds} rounds of ${seconds} s each; ${clients} clients, ${workers} workers, kernel ${kernel}\n`);

const figures: Record<"pool" | "http" | "idle" | "saturated", number[]> = {
  pool: [],
  http: [],
  idle: [],
  saturated: [],
};
// Accounts are made, and every path is compiled, before anything counts.
await logIns(1);
for (let round = 0; round < rounds; round++) {
  figures.pool.push(await poolRate());
  figures.idle.push(p99Of(await rest()));
  const load = await logIns(seconds);
  figures.http.push(load.all.perSecond);
  figures.saturated.push(p99Of(load));
}

const pairs = (compare: (round: number) => number): number[] =>
  Array.from({ length: rounds }, (_, i) => compare(i));
const shares = pairs((round) => (figures.http[round] ?? Number.NaN) / (figures.pool[round] ?? Number.NaN));
const rises = pairs(
  (round) => (figures.saturated[round] ?? Number.NaN) - (figures.idle[round] ?? Number.NaN),
);
row("the pool alone, /s", figures.pool, 1);
row("logins through HTTP, /s", figures.http, 1);
row("  of the pool's rate", shares, 3);
row("/healthz p99 idle, ms", figures.idle, 2);
row("/healthz p99 saturated, ms", figures.saturated, 2);
row("  rise, ms", rises, 2);

const verdict = (isMet: boolean): string => (isMet ? "met" : "missed");
print();
print(`at least ${100 * AIMS.share} % of the pool's rate: ${verdict(median(shares) >= AIMS.share)}`);
print(`p99 within ${AIMS.riseMs} ms of idle: ${verdict(median(rises) <= AIMS.riseMs)}`);
print(`each p99 below ${AIMS.probeMs} ms: ${verdict(figures.saturated.every((p99) => p99 < AIMS.probeMs))}`);
print(describeMachine());
