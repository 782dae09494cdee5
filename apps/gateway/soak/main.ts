/**
 * `bun run soak [--minutes 10]`: runs the service on PostgreSQL and Redis under a mixed load with one fault after another. The
 * exit code is 1 if a write was lost, the service retains memory per request, or an error is not explained by a fault.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { describeMachine } from "@latchkey/cli";
import { check, median, parseOptions, print } from "@latchkey/testing/benchmark";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { residentBytes } from "@latchkey/testing/measured-service";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { type RedisServer, startRedisServer } from "@latchkey/testing/redis-server";
import { request, startProcess } from "@latchkey/testing/service-process";
import { createTraffic } from "@latchkey/testing/traffic";
import { SignJWT } from "jose";

const { minutes } = parseOptions({ minutes: 10 });
/** One fault, and the time to recover from it. */
const SEGMENT_MS = 12_000;
const FAULT_AFTER_MS = 1_000;
const FROZEN_MS = 7_000;
const DOWN_MS = 3_000;
const DISCONNECTING_CLIENTS = 100;
/** The service keeps that many verified tokens. */
const CACHED_TOKENS = 10_000;
/** Rounds of all faults until caches are full and the engine has dropped the code of the start. */
const WARM_UP_ROUNDS = 2;
/** With fewer requests, the variation of the samples, about a hundred objects, hides a growth. */
const MIN_MEASURED_REQUESTS = 20_000;
/** Per request: one object per 100 requests exceeds it, and one kilobyte per 20 requests, also outside of the heap. */
const MAX_GROWTH = { objects: 0.005, residentBytes: 50 } as const;

await using postgres = await startPostgresServer();
await using redis = await startRedisServer();

/** The members of a log line that the soak reads. */
interface LogLine {
  readonly msg?: string;
  readonly level?: string;
  readonly status?: number;
  readonly route?: string;
  readonly err?: { readonly code?: string; readonly type?: string; readonly message?: string };
}

/** Number of failures by their description. */
const failures = new Map<string, number>();
const fail = (failure: string, count = 1) => failures.set(failure, (failures.get(failure) ?? 0) + count);
/** Log lines of level warn and above that do not belong to a request. */
const warnings = new Set<string>();
/** The fault that was injected last. It explains 503 responses with these causes, by code or by type and message. */
let injected: (typeof faults)[number] | null = null;
let requests = 0;
const onLine = ({ msg, level = "info", status, route = "none", err }: LogLine): void => {
  if (status !== undefined) requests += 1;
  else if (level !== "info") warnings.add(`${level}: ${msg}`);
  if (status === undefined || status < 500) return;
  const cause = err?.code ?? `${err?.type}: ${err?.message}`;
  const isExplained = status === 503 && injected?.explains.includes(cause);
  if (!isExplained) fail(`${status} ${route} ${cause}, ${injected?.name ?? "start"}`);
};
const variables = {
  BUN_OPTIONS: `--preload=${join(import.meta.dir, "preload.ts")}`,
  LOG_FORMAT: "json",
  HASH_WORKERS: String(availableParallelism()),
  DATABASE_URL: await postgres.createDatabase(),
  REDIS_URL: redis.url,
  AUTH_SECRET_KEY: SECRET_KEY,
  RATE_LIMIT_DEFAULT: "999999999/hour",
  RATE_LIMIT_LOGIN: "999999999/hour",
  RATE_LIMIT_REGISTER: "999999999/hour",
  METRICS_PORT: "0",
};
await using service = startProcess(variables, { onLine });
const url = await service.ready();
/** Far below the capacity of the machine, and so few todos that one object retained per user exceeds the limit, too. */
const traffic = createTraffic({ url, users: 4, pauseMs: 5, todosPerUser: 12 });

async function freeze(server: PostgresServer | RedisServer): Promise<void> {
  using _ = await server.freeze();
  await Bun.sleep(FROZEN_MS);
}

async function killAndRestart(server: PostgresServer | RedisServer): Promise<void> {
  await server.kill();
  await Bun.sleep(DOWN_MS);
  await server.start();
}

/** Aborts logins, and closes connections in the middle of a request. */
async function disconnectClients(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const body = { email: "nobody@example.org", password: "aborted login" };
  const head =
    "POST /todos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
  const disconnect = async (_: unknown, timeoutMs: number) => {
    const signal = AbortSignal.timeout(timeoutMs);
    await request(`${url}/auth/login`, { method: "POST", body, signal }).catch(() => null);
    const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } });
    socket.write(head);
    await Bun.sleep(10);
    socket.terminate();
  };
  await Promise.all(Array.from({ length: DISCONNECTING_CLIENTS }, disconnect));
}

const DATABASE = ["DATABASE_UNAVAILABLE", "Error: The database did not respond within 1000 ms"];
const CRASH = "HASH_WORKER_CRASHED";
const faults = [
  { name: "PostgreSQL frozen", explains: DATABASE, inject: () => freeze(postgres) },
  { name: "PostgreSQL killed and restarted", explains: DATABASE, inject: () => killAndRestart(postgres) },
  { name: "Redis frozen", explains: [], inject: () => freeze(redis) },
  { name: "Redis killed and restarted", explains: [], inject: () => killAndRestart(redis) },
  { name: "hash worker crashed", explains: [CRASH], inject: async () => service.signal("SIGUSR1") },
  { name: "clients disconnect", explains: [], inject: () => disconnectClients(url) },
];

/** Fills the cache of verified tokens with claims like those of the service, which logins would do only in an hour. */
async function fillTokenCache(): Promise<void> {
  const key = new TextEncoder().encode(SECRET_KEY);
  for (let index = 0; index < CACHED_TOKENS; index++) {
    const claims = { sub: String(1_000_000 + index), ver: 0, jti: Bun.randomUUIDv7() };
    const token = new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).setExpirationTime("1h");
    const headers = { authorization: `Bearer ${await token.sign(key)}` };
    const { status } = await fetch(`${url}/auth/me`, { headers });
    if (status !== 404) throw new Error(`GET /auth/me returned ${status} for a user that does not exist`);
  }
}

/** Collects garbage and returns what is left, and the number of requests until then. */
async function measureMemory() {
  const line = service.line("heap");
  service.signal("SIGUSR2");
  const objects = Number((await line).objects);
  return { requests, objects, residentBytes: await residentBytes(service.pid) };
}

type Sample = Awaited<ReturnType<typeof measureMemory>>;

const samples: Sample[] = [];

async function runSegment(fault: (typeof faults)[number]): Promise<void> {
  const { name, inject } = fault;
  const { lost } = traffic.beginStep();
  const injecting = Bun.sleep(FAULT_AFTER_MS).then(() => {
    injected = fault;
    return inject();
  });
  await Promise.all([traffic.run(AbortSignal.timeout(SEGMENT_MS)), injecting]);
  // The log of the service has the causes of 503.
  for (const [problem, count] of lost) if (!problem.includes(": 503 ")) fail(`${problem}, ${name}`, count);
  const sample = await measureMemory();
  samples.push(sample);
  const megabytes = (sample.residentBytes / 1e6).toFixed(1);
  const figures = `${sample.requests} requests, ${sample.objects} objects, ${megabytes} MB`;
  print(`${(performance.now() / 60_000).toFixed(1).padStart(5)} min  ${name.padEnd(32)} ${figures}`);
}

/**
 * The growth per request: the median of the slopes between all samples after the same fault (Sen, 1968), because each fault
 * leaves different memory.
 */
function growth(measured: readonly Sample[], figure: keyof Sample): number {
  const slopes = measured.flatMap((to, index) =>
    measured
      .slice(0, index)
      .filter((_, earlier) => (index - earlier) % faults.length === 0)
      .map((from) => (to[figure] - from[figure]) / (to.requests - from.requests)),
  );
  return median(slopes);
}

print(describeMachine());
await fillTokenCache();
const endMs = performance.now() + minutes * 60_000;
for (let round = 0; round < WARM_UP_ROUNDS + 2 || performance.now() < endMs; round++)
  for (const fault of faults) await runSegment(fault);
service.signal("SIGTERM");
const { code, stderr } = await service.ended();
process.stderr.write(stderr);
if (code !== 0) fail(`the service stopped with exit code ${code}`);

print();
for (const warning of warnings) print(`  ${warning}`);
const measured = samples.slice(WARM_UP_ROUNDS * faults.length);
const measuredRequests = (measured.at(-1)?.requests ?? 0) - (measured[0]?.requests ?? 0);
if (measuredRequests < MIN_MEASURED_REQUESTS)
  fail(`only ${measuredRequests} requests, too few to find a leak`);
for (const figure of ["objects", "residentBytes"] as const) {
  const [value, limit] = [growth(measured, figure), MAX_GROWTH[figure]];
  check(value <= limit, `${figure} grow by ${value.toFixed(4)} per request; at most ${limit}`);
}
print(`lost writes and unexplained errors: ${failures.size === 0 ? "none" : ""}`);
for (const [failure, count] of failures) print(`  ${count} × ${failure}`);
print(describeMachine());
if (failures.size > 0) process.exitCode = 1;
