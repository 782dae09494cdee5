/**
 * Three replicas behind HAProxy under constant traffic, and the steps that change them. Each replica has an address, at which
 * processes replace each other.
 */
import { print } from "@latchkey/testing/benchmark";
import { freePort } from "@latchkey/testing/server-process";
import { type ServiceProcess, startProcess } from "@latchkey/testing/service-process";
import { createTraffic } from "@latchkey/testing/traffic";
import { startBalancer } from "../test/compose/balancer.ts";
import type { Variables } from "../test/configuration.ts";

/** Longer than HAProxy needs to notice that a replica is or is not ready. */
export const SHUTDOWN_DELAY_SECONDS = 3;
/** After a step, until every user has a new token. A deployment waits for as long as tokens are valid. */
const REFRESH_MS = 4_000;
/** The requests that the balancer retries: those that can be repeated. */
const RETRIED = /^(GET|POST \/auth\/login)\b/;

interface Step {
  readonly name: string;
  /** Rejects if the step does not do what it describes. Afterwards all replicas run. */
  readonly run: () => Promise<unknown>;
  /** How many unanswered writes can be lost, because the balancer must not send them twice. @default 0 */
  readonly maxLostWrites?: number;
  /** Whether the step must lose requests. @default false */
  readonly isControl?: boolean;
}

interface Slot {
  readonly port: number;
  replica: ServiceProcess | null;
}

type StartOptions = Parameters<typeof startProcess>[1];

/** Disposing the resources ends the replicas that run then. */
export function openCluster(resources: AsyncDisposableStack, shared: Variables) {
  const openSlot = (): Slot => ({ port: freePort(), replica: null });
  const slots = [openSlot(), openSlot(), openSlot()] as const;
  resources.defer(async () => {
    for (const { replica } of slots) await replica?.[Symbol.asyncDispose]();
  });
  const start = (slot: Slot, variables: Variables, options?: StartOptions): ServiceProcess => {
    const common = {
      NODE_ENV: "production",
      PORT: String(slot.port),
      TRUST_PROXY: "1",
      // Enabled, because logins then also store networks.
      RATE_LIMIT_DEFAULT: "1000000/hour",
      RATE_LIMIT_LOGIN: "1000000/hour",
      RATE_LIMIT_REGISTER: "1000000/hour",
      SHUTDOWN_DELAY_SECONDS: String(SHUTDOWN_DELAY_SECONDS),
    };
    slot.replica = startProcess({ ...common, ...shared, ...variables }, options);
    return slot.replica;
  };
  /** @throws {Error} if the exit code is not 0 */
  const stop = async (slot: Slot): Promise<void> => {
    slot.replica?.signal("SIGTERM");
    const ended = await slot.replica?.ended();
    slot.replica = null;
    if (ended && ended.code !== 0) throw new Error(`A replica exited with ${ended.code}: ${ended.stderr}`);
  };
  /** Stops one replica after another and starts a new one in its place. */
  const replaceAll = async (variables: Variables, options?: StartOptions): Promise<void> => {
    for (const slot of slots) {
      await stop(slot);
      await start(slot, variables, options).ready();
    }
  };
  /** Runs the steps under traffic and prints a line for each. The exit code is 1 if one fails. */
  const runSteps = async (steps: readonly Step[]): Promise<void> => {
    const addresses = slots.map(({ port }) => `127.0.0.1:${port}`);
    const balancer = resources.use(await startBalancer({ addresses }));
    const url = `http://127.0.0.1:${balancer.port}`;
    const traffic = createTraffic({ url, users: 5, pauseMs: 90, todosPerUser: 1 });
    const ended = new AbortController();
    const running = traffic.run(ended.signal);
    const results = [];
    for (const { run, ...step } of steps) {
      const startedAt = performance.now();
      const counts = traffic.beginStep();
      const error = await run().then(
        () => null,
        (reason: unknown) => String(reason),
      );
      await Bun.sleep(REFRESH_MS);
      results.push({ ...step, counts, error, seconds: (performance.now() - startedAt) / 1_000 });
    }
    ended.abort();
    await running;

    // Reported together, because a request of a step can be lost after the step has ended.
    for (const { name, counts, error, maxLostWrites = 0, isControl = false, seconds } of results) {
      const losses = [...counts.lost];
      const lost = losses.reduce((sum, [, count]) => sum + count, 0);
      const isExcused = lost <= maxLostWrites && !losses.some(([problem]) => RETRIED.test(problem));
      const isPassed = error === null && (lost > 0 && !isExcused) === isControl;
      if (!isPassed) process.exitCode = 1;
      const result = `${isPassed ? "ok" : "FAILED"}${isControl ? ", must lose requests" : ""}`;
      const slowest = `slowest ${Math.round(counts.slowestMs)} ms, ${seconds.toFixed(0)} s`;
      print(`${name}: ${result}; ${counts.sent} requests, ${lost} lost, ${slowest}`);
      for (const [problem, count] of losses) print(`  ${count} × ${problem}`);
      if (error !== null) print(`  ${error.trim()}`);
    }
  };
  return { slots, start, stop, replaceAll, runSteps };
}
