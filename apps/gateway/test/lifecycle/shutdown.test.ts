/** Graceful shutdown, step by step: what runs when, and what each signal does. */
import { expect, test } from "bun:test";
import pino from "pino";
import { createShutdown, type ShutdownOptions } from "../../src/lifecycle/shutdown.ts";

/** A shutdown whose exit is a promise, and its log messages. */
function createRecordedShutdown(options: Partial<ShutdownOptions> = {}) {
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

test("each step begins when the previous one has ended, and the process exits after the last", async () => {
  const done: string[] = [];
  const createStep = (name: string) => async () => {
    done.push(`${name} begins`);
    await Bun.sleep(1);
    done.push(`${name} ends`);
  };
  const { shutdown, exited } = createRecordedShutdown({ steps: ["drain", "hasher"].map(createStep) });
  shutdown.onSignal("SIGTERM");
  expect(await exited).toBe(0);
  expect(done).toEqual(["drain begins", "drain ends", "hasher begins", "hasher ends"]);
});

test("a failed step is logged, and the later steps still run", async () => {
  const closed: string[] = [];
  const { shutdown, exited, messages } = createRecordedShutdown({
    steps: [() => Promise.reject(new Error("stuck")), async () => void closed.push("database")],
  });
  shutdown.onSignal("SIGTERM");
  expect(await exited).toBe(0);
  expect(closed).toEqual(["database"]);
  expect(messages).toEqual(["stopping", "shutdown step failed", "stopped"]);
});

test("an error during the shutdown sets the exit code", async () => {
  const { shutdown, exited } = createRecordedShutdown({
    steps: [async () => shutdown.begin("uncaughtException", 1)],
  });
  shutdown.onSignal("SIGTERM");
  expect(await exited).toBe(1);
});
