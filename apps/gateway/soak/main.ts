/**
 * `bun run soak [--minutes 10]`: runs the service on PostgreSQL and Redis under a mixed load with one fault after another. The
 * exit code is 1 if a write was lost, the service retains memory per request, or an error is not explained by a fault.
 */
import { describeMachine } from "@latchkey/cli";
import { median, metOrMissed, parseOptions, print } from "@latchkey/testing/benchmark";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { createTraffic } from "@latchkey/testing/traffic";
import { SignJWT } from "jose";
import { createFaults, type Fault } from "./faults.ts";
import { startSoakedService } from "./service.ts";

const { minutes } = parseOptions({ minutes: 10 });
/** One fault, and the time to recover from it. */
const SEGMENT_MS = 12_000;
const FAULT_AFTER_MS = 1_000;
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
if (redis === null) throw new Error("redis-server is not installed");
await using service = await startSoakedService({
  DATABASE_URL: await postgres.createDatabase(),
  REDIS_URL: redis.url,
  AUTH_SECRET_KEY: SECRET_KEY,
  RATE_LIMIT_DEFAULT: "999999999/hour",
  RATE_LIMIT_LOGIN: "999999999/hour",
  RATE_LIMIT_REGISTER: "999999999/hour",
  METRICS_PORT: "0",
});
/** Far below the capacity of the machine, and so few todos that one object retained per user exceeds the limit, too. */
const traffic = createTraffic({ url: service.url, users: 4, pauseMs: 5, todosPerUser: 12 });
const faults = createFaults({ service, postgres, redis });

/** Fills the cache of verified tokens with claims like those of the service, which logins would do only in an hour. */
async function fillTokenCache(): Promise<void> {
  const key = new TextEncoder().encode(SECRET_KEY);
  for (let index = 0; index < CACHED_TOKENS; index++) {
    const claims = { sub: String(1_000_000 + index), ver: 0, jti: Bun.randomUUIDv7() };
    const token = new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).setExpirationTime("1h");
    const headers = { authorization: `Bearer ${await token.sign(key)}` };
    const { status } = await fetch(`${service.url}/auth/me`, { headers });
    if (status !== 404) throw new Error(`GET /auth/me returned ${status} for a user that does not exist`);
  }
}

type Sample = Awaited<ReturnType<typeof service.measureMemory>>;

const samples: Sample[] = [];
/** Number of failures by their description. */
const failures = new Map<string, number>();
const fail = (failure: string, count = 1) => failures.set(failure, (failures.get(failure) ?? 0) + count);

async function runSegment({ name, explains, inject }: Fault): Promise<void> {
  const { lost } = traffic.beginStep();
  const startedMs = performance.now();
  const injected = Bun.sleep(FAULT_AFTER_MS).then(inject);
  await Promise.all([traffic.run(AbortSignal.timeout(SEGMENT_MS)), injected]);
  // The log of the service has the causes of 503.
  for (const [problem, count] of lost) if (!problem.includes(": 503 ")) fail(`${problem}, ${name}`, count);
  for (const { atMs, status, route, cause } of service.errors.splice(0)) {
    const isExplained = status === 503 && explains.includes(cause) && atMs >= startedMs + FAULT_AFTER_MS;
    if (!isExplained) fail(`${status} ${route} ${cause}, ${name}`);
  }
  const sample = await service.measureMemory();
  samples.push(sample);
  const { requests, objects, residentBytes } = sample;
  const figures = `${requests} requests, ${objects} objects, ${(residentBytes / 1e6).toFixed(1)} MB`;
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
const exitCode = await service.stop();
if (exitCode !== 0) fail(`the service stopped with exit code ${exitCode}`);

print();
for (const warning of service.warnings) print(`  ${warning}`);
const measured = samples.slice(WARM_UP_ROUNDS * faults.length);
const requests = (measured.at(-1)?.requests ?? 0) - (measured[0]?.requests ?? 0);
if (requests < MIN_MEASURED_REQUESTS) fail(`only ${requests} requests, too few to find a leak`);
for (const figure of ["objects", "residentBytes"] as const) {
  const [value, limit] = [growth(measured, figure), MAX_GROWTH[figure]];
  print(
    `${figure} grow by ${value.toFixed(4)} per request; at most ${limit}: ${metOrMissed(value <= limit)}`,
  );
  if (!(value <= limit)) fail(`${figure} grow with the number of requests`);
}
print(`lost writes, unexplained errors and growth: ${failures.size === 0 ? "none" : ""}`);
for (const [failure, count] of failures) print(`  ${count} × ${failure}`);
print(describeMachine());
process.exitCode = failures.size === 0 ? 0 : 1;
