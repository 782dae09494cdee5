/**
 * Requests per second of three routes through every layer, against a bare router doing the same work; and the memory of
 * the idle service. Each server is a process of its own; the rounds of the two are interleaved.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/tooling/machine";
import { driver, measureLoad } from "./load.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "32" },
  },
});
const rounds = Number(values.rounds);
const load = { seconds: Number(values.seconds), connections: Number(values.connections) };

const SECRET_KEY = Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString("base64url");
const PERSON = { email: "bench@example.org", username: "bench", password: "correct horse battery" };
const ROUTES = ["/healthz", "/auth/me", "/todos?limit=20"] as const;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
const medianRate = (rounds: readonly Round[]): number => median(rounds.map(({ rate }) => rate));
const describe = (rounds: readonly Round[]): string => {
  const microseconds = median(rounds.map((round) => round.microseconds)).toFixed(1);
  const list = rounds.map(({ rate }) => Math.round(rate)).join(" ");
  return `${Math.round(medianRate(rounds))} requests/s, ${microseconds} µs of processor each; rounds ${list}`;
};
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** A port that was free a moment ago: the log goes to a file, so nothing tells which one the service chose. */
function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

/** The service as it ships: every layer on, limits far away, one JSON line a request into a file. */
async function startService(folder: string) {
  const port = freePort();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../src/main.ts")], {
    env: {
      PORT: String(port),
      DATABASE_URL: `file:${join(folder, "bench.db")}`,
      AUTH_SECRET_KEY: SECRET_KEY,
      RATE_LIMIT_DEFAULT: "999999999/minute",
      LOG_FORMAT: "json",
    },
    stdout: Bun.file(join(folder, "service.log")),
    stderr: "inherit",
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}`);
    await Bun.sleep(10);
  }
  return { url, child };
}

async function startBare(folder: string) {
  const source = [join(import.meta.dir, "bare.ts"), `file:${join(folder, "bench.db")}`, SECRET_KEY];
  const child = Bun.spawn([process.execPath, ...source], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  return { url: new TextDecoder().decode(value).trim(), child };
}

/** Resident memory in MB, where /proc tells. */
async function residentMegabytes(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** Processor time that a process has used, in seconds, where /proc tells (proc_pid_stat(5), in ticks of 1/100 s). */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

interface Server {
  readonly url: string;
  readonly child: { readonly pid: number };
}

interface Round {
  /** Requests per second. */
  readonly rate: number;
  /** Processor time per request, which says more than the rate while others use the machine. */
  readonly microseconds: number;
}

async function measureRound(
  { url, child }: Server,
  route: string,
  headers: Record<string, string>,
): Promise<Round> {
  const before = await processorSeconds(child.pid);
  const rate = await measureLoad({ url: url + route, headers, ...load });
  const used = (await processorSeconds(child.pid)) - before;
  return { rate, microseconds: (used * 1e6) / (rate * load.seconds) };
}

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.json();
}

async function seed(url: string): Promise<string> {
  for (let index = 1; index <= 25; index++) await post(`${url}/todos`, { title: `Todo number ${index}` });
  await post(`${url}/auth/register`, PERSON);
  const { access_token } = (await post(`${url}/auth/login`, PERSON)) as { access_token: string };
  return access_token;
}

const folder = await mkdtemp(join(tmpdir(), "latchkey-bench-"));
const service = await startService(folder);
try {
  print(describeMachine());
  await Bun.sleep(1000);
  print(`idle service: ${(await residentMegabytes(service.child.pid)).toFixed(0)} MB resident`);
  const headers = { authorization: `Bearer ${await seed(service.url)}` };
  const bare = await startBare(folder);
  try {
    print(`${rounds} rounds of ${load.seconds} s, ${load.connections} connections, driven by ${driver}`);
    for (const route of ROUTES) {
      const full: Round[] = [];
      const plain: Round[] = [];
      for (let round = -1; round < rounds; round++) {
        const plainRound = await measureRound(bare, route, headers);
        const fullRound = await measureRound(service, route, headers);
        // The first round warms both up.
        if (round >= 0) full.push(fullRound) && plain.push(plainRound);
      }
      const share = (100 * medianRate(full)) / medianRate(plain);
      print(`\n${route}: ${share.toFixed(0)} % of the bare route`);
      print(`  all layers ${describe(full)}`);
      print(`  bare       ${describe(plain)}`);
    }
  } finally {
    bare.child.kill();
    await bare.child.exited;
  }
  print(`\nservice after the load: ${(await residentMegabytes(service.child.pid)).toFixed(0)} MB resident`);
  print(describeMachine());
} finally {
  service.child.kill();
  await service.child.exited;
  await rm(folder, { recursive: true, force: true });
}
