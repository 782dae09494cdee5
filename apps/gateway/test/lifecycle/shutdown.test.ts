/** Graceful shutdown, step by step: what runs when, and what each signal does. */
import { expect, test } from "bun:test";
import pino from "pino";
import { createShutdown, type ShutdownOptions } from "../../src/lifecycle/shutdown.ts";

/** A shutdown whose exit is a promise, and its log messages. */
function prepare(options: Partial<ShutdownOptions> = {}) {
  const exited = Promise.withResolvers<number>();
  const messages: string[] = [];
  const shutdown = createShutdown({
    delayMs: 0,
    graceMs: 10_000,
    logger: pino({ base: null }, { write: (line) => messages.push(JSON.parse(line).msg) }),
    steps: [],
    exit: exited.resolve,
    ...options,
  });
  return { shutdown, exited: exited.promise, messages };
}

test("isStopping is true from the first signal on", async () => {
  const { shutdown, exited } = prepare();
  expect(shutdown.isStopping()).toBe(false);
  shutdown.onSignal("SIGTERM");
  expect(shutdown.isStopping()).toBe(true);
  expect(await exited).toBe(0);
});

test("each step begins when the previous one has ended, and the process exits after the last", async () => {
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const draining = Promise.withResolvers<void>();
  const { shutdown, exited } = prepare({
    steps: [
      async () => {
        draining.resolve();
        await gate.promise;
        done.push("drained");
      },
      async () => void done.push("hasher"),
      async () => void done.push("database"),
    ],
    exit: () => void done.push("exit"),
  });
  void exited;
  shutdown.onSignal("SIGTERM");
  await draining.promise;
  expect(done).toEqual([]);
  gate.resolve();
  while (!done.includes("exit")) await Promise.resolve();
  expect(done).toEqual(["drained", "hasher", "database", "exit"]);
});

test("a failed step is logged, and the later steps still run", async () => {
  let closed = false;
  const { shutdown, exited, messages } = prepare({
    steps: [
      () => Promise.reject(new Error("stuck")),
      async () => {
        closed = true;
      },
    ],
  });
  shutdown.onSignal("SIGTERM");
  expect(await exited).toBe(0);
  expect(closed).toBe(true);
  expect(messages).toEqual(["stopping", "shutdown step failed", "stopped"]);
});

test("the process exits with 1 when the steps exceed the grace period", async () => {
  const { shutdown, exited, messages } = prepare({ graceMs: 10, steps: [() => new Promise(() => {})] });
  shutdown.onSignal("SIGTERM");
  expect(await exited).toBe(1);
  expect(messages).toContain("shutdown took longer than its grace");
});

test("the first step begins after the delay", async () => {
  const startedAt = performance.now();
  let drainedAfter = 0;
  const { shutdown, exited } = prepare({
    delayMs: 50,
    steps: [
      async () => {
        drainedAfter = performance.now() - startedAt;
      },
    ],
  });
  shutdown.onSignal("SIGTERM");
  await exited;
  expect(drainedAfter).toBeGreaterThanOrEqual(49);
});

test("an error runs the same steps and sets the exit code", async () => {
  const { shutdown, exited } = prepare();
  shutdown.begin("uncaughtException", 1);
  expect(await exited).toBe(1);
});

test("duplicate signals are ignored", async () => {
  let drained = 0;
  const { shutdown, exited, messages } = prepare({ steps: [async () => void drained++] });
  for (const signal of ["SIGTERM", "SIGTERM", "SIGINT"]) shutdown.onSignal(signal);
  expect(await exited).toBe(0);
  expect(drained).toBe(1);
  expect(messages).toEqual(["stopping", "stopped"]);
});

test("an error during the shutdown sets the exit code", async () => {
  const { shutdown, exited } = prepare({ steps: [async () => shutdown.begin("uncaughtException", 1)] });
  shutdown.onSignal("SIGTERM");
  expect(await exited).toBe(1);
});
