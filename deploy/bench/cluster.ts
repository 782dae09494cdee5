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

export interface Slot {
  readonly port: number;
  replica: ServiceProcess | null;
}

export type Slots = readonly [Slot, Slot, Slot];

/** Disposing the resources ends the replicas that run then. */
export async function openSlots(resources: AsyncDisposableStack): Promise<Slots> {
  const open = async (): Promise<Slot> => ({ port: freePort(), replica: null });
  const slots = [await open(), await open(), await open()] as const;
  resources.defer(async () => {
    for (const { replica } of slots) await replica?.[Symbol.asyncDispose]();
  });
  return slots;
}

export function start(
  slot: Slot,
  variables: Variables,
  options?: Parameters<typeof startProcess>[1],
): ServiceProcess {
  const shared = {
    NODE_ENV: "production",
    PORT: String(slot.port),
    TRUST_PROXY: "1",
    // Enabled, because logins then also store networks.
    RATE_LIMIT_DEFAULT: "1000000/hour",
    RATE_LIMIT_LOGIN: "1000000/hour",
    RATE_LIMIT_REGISTER: "1000000/hour",
    SHUTDOWN_DELAY_SECONDS: String(SHUTDOWN_DELAY_SECONDS),
  };
  slot.replica = startProcess({ ...shared, ...variables }, options);
  return slot.replica;
}

/** @throws {Error} if the exit code is not 0 */
export async function stop(slot: Slot): Promise<void> {
  slot.replica?.signal("SIGTERM");
  const ended = await slot.replica?.ended();
  slot.replica = null;
  if (ended && ended.code !== 0) throw new Error(`A replica exited with ${ended.code}: ${ended.stderr}`);
}

/** Stops one replica after another and starts a new one in its place. */
export async function replaceAll(slots: Slots, startReady: (slot: Slot) => Promise<unknown>): Promise<void> {
  for (const slot of slots) {
    await stop(slot);
    await startReady(slot);
  }
}

export interface Step {
  readonly name: string;
  /** Rejects if the step does not do what it describes. */
  readonly run: () => Promise<unknown>;
  /** Afterwards all replicas run: the next step does not depend on this one. */
  readonly restore?: (hasFailed: boolean) => Promise<void>;
  /** How many unanswered writes can be lost, because the balancer must not send them twice. @default 0 */
  readonly maxLostWrites?: number;
  /** Whether the step must lose requests. @default false */
  readonly isControl?: boolean;
}

/** The requests that the balancer retries: those that can be repeated. */
const RETRIED = /^(GET|POST \/auth\/login)\b/;

/** Runs the steps under traffic and prints a line for each. Returns whether all passed. */
export async function runSteps(
  resources: AsyncDisposableStack,
  slots: Slots,
  steps: readonly Step[],
): Promise<boolean> {
  const addresses = slots.map(({ port }) => `127.0.0.1:${port}`);
  const balancer = resources.use(await startBalancer({ addresses }));
  const traffic = createTraffic({
    url: `http://127.0.0.1:${balancer.port}`,
    users: 5,
    pauseMs: 90,
    todosPerUser: 1,
  });
  const ended = new AbortController();
  const running = traffic.run(ended.signal);
  const results = [];
  for (const { run, restore, ...step } of steps) {
    const startedAt = performance.now();
    const counts = traffic.beginStep();
    const error = await run().then(
      () => null,
      (reason: unknown) => String(reason),
    );
    await restore?.(error !== null);
    results.push({ ...step, counts, error, seconds: (performance.now() - startedAt) / 1_000 });
  }
  ended.abort();
  await running;

  // Reported together, because a request of a step can be lost after the step has ended.
  const passed = results.map(({ name, counts, error, maxLostWrites = 0, isControl = false, seconds }) => {
    const losses = [...counts.lost];
    const lost = losses.reduce((sum, [, count]) => sum + count, 0);
    const isExcused = lost <= maxLostWrites && !losses.some(([problem]) => RETRIED.test(problem));
    const isPassed = error === null && (lost > 0 && !isExcused) === isControl;
    const result = `${isPassed ? "ok" : "FAILED"}${isControl ? ", must lose requests" : ""}`;
    print(
      `${name}: ${result}; ${counts.sent} requests, ${lost} lost, slowest ${Math.round(counts.slowestMs)} ms, ${seconds.toFixed(0)} s`,
    );
    for (const [problem, count] of losses) print(`  ${count} × ${problem}`);
    if (error !== null) print(`  ${error.trim()}`);
    return isPassed;
  });
  return passed.every(Boolean);
}
