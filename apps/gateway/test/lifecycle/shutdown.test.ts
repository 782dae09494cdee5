/** Graceful shutdown, step by step: what runs when, and the exit code. `process/shutdown.test.ts` sends signals. */
import { expect, test } from "bun:test";
import pino from "pino";
import { createShutdown, type Shutdown } from "../../src/lifecycle/shutdown.ts";

type Step = (shutdown: Shutdown) => Promise<unknown>;

/** Runs a shutdown with these steps to its end. */
const runSteps = (...steps: readonly Step[]) => runWithin(10_000, ...steps);

async function runWithin(graceMs: number, ...steps: readonly Step[]) {
  const exited = Promise.withResolvers<number>();
  const messages: string[] = [];
  const shutdown: Shutdown = createShutdown({
    delayMs: 0,
    graceMs,
    logger: pino({ base: null }, { write: (line) => messages.push(JSON.parse(line).msg) }),
    steps: steps.map((step) => async () => void (await step(shutdown))),
    exit: exited.resolve,
  });
  shutdown.onSignal("SIGTERM");
  return { code: await exited.promise, messages };
}

test("each step begins when the previous one has ended, even if it fails, and the process exits after the last", async () => {
  const done: string[] = [];
  const createStep = (name: string) => async () => {
    done.push(`${name} begins`);
    await Bun.sleep(1);
    done.push(`${name} ends`);
  };
  const fail = () => Promise.reject(new Error("stuck"));
  const ended = await runSteps(createStep("drain"), fail, createStep("hasher"));
  expect(ended).toEqual({ code: 0, messages: ["stopping", "shutdown step failed", "stopped"] });
  expect(done).toEqual(["drain begins", "drain ends", "hasher begins", "hasher ends"]);
});

test("an error during the shutdown sets the exit code", async () => {
  expect((await runSteps(async ({ begin }) => begin("uncaughtException", 1))).code).toBe(1);
});

test("a step that does not end delays the exit by no more than the grace period, and the exit code is 1", async () => {
  const hangs = () => new Promise(() => {});
  const messages = ["stopping", "shutdown took longer than its grace"];
  expect(await runWithin(10, hangs)).toEqual({ code: 1, messages });
});

test("a duplicate signal is ignored; a second signal more than 0.5 s later forces an exit", async () => {
  const ended = await runSteps(async ({ onSignal }) => {
    onSignal("SIGINT");
    // The shutdown measures real time.
    await Bun.sleep(600);
    onSignal("SIGTERM");
  });
  expect(ended).toEqual({ code: 143, messages: ["stopping"] });
});
