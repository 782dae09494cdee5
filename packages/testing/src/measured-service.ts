/**
 * The deployed service for benchmarks, and the load on it. The log goes to a file, because the benchmark must spend no time
 * on reading it.
 */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { $ } from "bun";
import { openFolder } from "./folder.ts";
import { SECRET_KEY } from "./keys.ts";
import { assertNoSecrets } from "./log-guard.ts";
import { GATEWAY_MAIN, ROOT } from "./repository.ts";
import { freePort, readUntil, untilOk } from "./server-process.ts";

export interface MeasuredServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  readonly pid: number;
}

/**
 * Starts the service with all middleware, an embedded database of its own, limits too high to be reached, and a log file with
 * one JSON line per request. `main` can be another program that starts the service. Resolves once `/readyz` returns 200.
 * Disposing the service fails if the log contains a secret.
 */
export async function startService(env: Readonly<Record<string, string>> = {}, main = GATEWAY_MAIN) {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await openFolder());
  const databaseUrl = env.DATABASE_URL ?? folder.databaseUrl;
  const log = join(folder.path, "service.log");
  const port = env.PORT ?? String(freePort());
  resources.defer(async () => {
    // Reads line by line, because the log is long: it has a line for each request.
    for await (const line of (await open(log)).readLines()) assertNoSecrets([line]);
  });
  const child = resources.use(
    Bun.spawn([process.execPath, main], {
      env: {
        AUTH_SECRET_KEY: SECRET_KEY,
        RATE_LIMIT_DEFAULT: "999999999/minute",
        LOG_FORMAT: "json",
        ...env,
        PORT: port,
        DATABASE_URL: databaseUrl,
      },
      stdout: Bun.file(log),
      stderr: "inherit",
    }),
  );
  const url = `http://127.0.0.1:${port}`;
  await untilOk(`${url}/readyz`, child);
  return Object.assign(resources.move(), { url, pid: child.pid, databaseUrl });
}

/** Starts a program that prints its URL once it listens. */
export async function startProgram(...command: readonly string[]): Promise<MeasuredServer> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "inherit" });
  const url = (await readUntil(child.stdout, "\n")).trim();
  return { url, pid: child.pid, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}

/** Resident memory of a process on Linux. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Processor time of a process on Linux (proc_pid_stat(5), in ticks of 1/100 s). */
export async function processorSeconds(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export interface Load {
  readonly connections: number;
  readonly seconds: number;
}

interface LoadOptions extends Load {
  readonly url: string;
  /** @default "GET" */
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Loads a URL with wrk over several connections. Throws if wrk is not installed or a response is not 2xx.
 * @returns requests per second, and the 99th percentile of the response times in milliseconds
 */
export async function measureLoad({ url, method = "GET", headers = {}, connections, seconds }: LoadOptions) {
  const headerArguments = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const size = ["--latency", "-t", "1", "-c", String(connections), "-d", `${seconds}s`];
  const script = method === "POST" ? ["-s", join(import.meta.dir, "wrk-post.lua")] : [];
  const child = Bun.spawn(["wrk", ...size, ...script, ...headerArguments, url], { stdout: "pipe" });
  const report = await new Response(child.stdout).text();
  const perSecond = /Requests\/sec:\s+([\d.]+)/.exec(report)?.[1];
  if (perSecond === undefined || /Non-2xx|Socket errors/.test(report)) throw new Error(report);
  const [, p99, unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(report) ?? [];
  return { rate: Number(perSecond), p99: Number(p99) * (WRK_UNITS_MS[unit] ?? Number.NaN) };
}

const WRK_UNITS_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

/** The members of the load tester's `--json` output that benchmarks use. */
interface LoadTest {
  /** All operations together. `perSecond` counts only expected responses. */
  readonly all: {
    readonly perSecond: number;
    readonly errors: number;
    readonly statuses: Record<string, number>;
  };
  readonly seconds: readonly { readonly answered: number; readonly p99: number | null }[];
  /** `/healthz`, requested every 5 ms over a separate connection; milliseconds. */
  readonly probe: { readonly latency: { readonly p99: number } | null };
}

/** Runs the load tester with these options. `probeP99` is the 99th percentile of the latency of `/healthz` in milliseconds. */
export async function runLoadTest(options: Readonly<Record<string, string | number>>) {
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const report: LoadTest =
    await $`${process.execPath} ${join(ROOT, "apps/loadtest/src/main.ts")} ${flags} --json`.json();
  return { ...report, probeP99: report.probe.latency?.p99 ?? Number.NaN };
}

/** Measures `/healthz` without load. Uses a load test with almost no requests, to measure in the same way as under load. */
export async function probe(url: string, seconds: number): Promise<number> {
  const load = { scenario: "read", rate: 1, arrivals: "constant", users: 1 };
  return (await runLoadTest({ ...load, url, duration: seconds })).probeP99;
}

/** Sends at this pace while `work` runs, regardless of earlier responses. Waits for all responses and returns `work`'s result. */
export async function sendEvery<Result>(
  intervalMs: number,
  send: () => Promise<unknown>,
  work: () => Promise<Result>,
): Promise<Result> {
  const pending: Promise<unknown>[] = [];
  const timer = setInterval(() => pending.push(send()), intervalMs);
  const result = await work().finally(() => clearInterval(timer));
  await Promise.all(pending);
  return result;
}

/**
 * Sends in closed loops while `work` runs: each client sends its next request when it has the response. Returns the result of
 * `work` and the number of responses per second, without those for which `send` returned false.
 */
export async function loadDuring<Result>(
  clients: number,
  send: () => Promise<unknown>,
  work: () => Promise<Result>,
  warmUpSeconds = 0,
) {
  let isWorking = true;
  let counted = 0;
  const client = async (): Promise<void> => {
    while (isWorking) if ((await send()) !== false && isWorking) counted += 1;
  };
  const sending = Promise.all(Array.from({ length: clients }, client));
  await Bun.sleep(1000 * warmUpSeconds);
  counted = 0;
  const startedMs = performance.now();
  const result = await work().finally(() => {
    isWorking = false;
  });
  const rate = (1000 * counted) / (performance.now() - startedMs);
  await sending;
  return { result, rate };
}
