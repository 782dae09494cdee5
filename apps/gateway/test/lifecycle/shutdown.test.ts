/** The orderly end, step by step: what runs when, and what each signal does. */
import { expect, test } from "bun:test";
import pino from "pino";
import { createShutdown, type ShutdownOptions } from "../../src/lifecycle/shutdown.ts";

/** A shutdown whose exit is a promise, and the log it wrote. */
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

test("it is stopping from the first moment, and only then", async () => {
  const { shutdown, exited } = prepare();
  expect(shutdown.isStopping()).toBe(false);
  shutdown.onSignal("SIGTERM");
  expect(shutdown.isStopping()).toBe(true);
  expect(await exited).toBe(0);
});

test("each step begins when the one before has ended, and the process ends after the last", async () => {
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

test("a step that fails is logged and keeps no later one from running", async () => {
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

test("steps that outlast the grace do not keep the process", async () => {
  const { shutdown, exited, messages } = prepare({ graceMs: 10, steps: [() => new Promise(() => {})] });
  shutdown.onSignal("SIGTERM");
  expect(await exited).toBe(1);
  expect(messages).toContain("shutdown took longer than its grace");
});

test("the delay is waited for, unready, before the first step", async () => {
  const beganAt = performance.now();
  let drainedAfter = 0;
  const { shutdown, exited } = prepare({
    delayMs: 50,
    steps: [
      async () => {
        drainedAfter = performance.now() - beganAt;
      },
    ],
  });
  shutdown.onSignal("SIGTERM");
  await exited;
  expect(drainedAfter).toBeGreaterThanOrEqual(49);
});

test("a failure ends the process in the same order, with a code that says so", async () => {
  const { shutdown, exited } = prepare();
  shutdown.begin("uncaughtException", 1);
  expect(await exited).toBe(1);
});

test("a second signal at once is the same one, however many arrive", async () => {
  let drained = 0;
  const { shutdown, exited, messages } = prepare({ steps: [async () => void drained++] });
  for (const signal of ["SIGTERM", "SIGTERM", "SIGINT"]) shutdown.onSignal(signal);
  expect(await exited).toBe(0);
  expect(drained).toBe(1);
  expect(messages).toEqual(["stopping", "stopped"]);
});
