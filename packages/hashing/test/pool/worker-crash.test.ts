/** Workers that die: replaced, their jobs run again once, and nothing loops or hangs. */
import { describe, expect, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import { WorkerCrashed } from "../src/errors.ts";
import { kernels } from "../src/index.ts";
import type { JobInput } from "../src/job.ts";
import { selectKernel } from "../src/kernel/select.ts";
import { Pool } from "../src/pool.ts";

const fixture = (name: string) => new URL(`./fixtures/${name}`, import.meta.url);

/** A pool whose workers die on jobs with the password "poison", and once for "hiccup" (see the fixture). */
function open(entry: URL, workers = 1): Pool & AsyncDisposable {
  const setup = { kernel: { kind: "portable" as const }, nice: 0, share: 1 };
  const pool = new Pool({ workers, lanes: 1, queueLimit: 100, setup, entry });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.close() });
}

const job = (password: string, iterations = 1000): JobInput => ({ password, salt: "salt", iterations });
const expected = (password: string, iterations = 1000) =>
  pbkdf2Sync(password, "salt", iterations, 32, "sha256").toString("hex");
const hex = (digest: Uint8Array) => Buffer.from(digest).toString("hex");

describe("a worker that dies", () => {
  test("is replaced, and its jobs run again", async () => {
    await using pool = open(fixture("mortal-worker.ts"));
    const names = ["a", "hiccup", "b", "c"];
    const digests = await Promise.all(names.map((name) => pool.submit(job(name))));
    expect(digests.map(hex)).toEqual(names.map((name) => expected(name)));
    expect(pool.stats()).toMatchObject({ crashedWorkers: 1, completed: 4, lanesBusy: 0, queueLength: 0 });
  });

  test("twice under one job rejects that job with the reason; the pool goes on", async () => {
    await using pool = open(fixture("mortal-worker.ts"));
    const error = await pool.submit(job("poison")).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkerCrashed);
    expect(error).toMatchObject({ code: "HASH_WORKER_CRASHED", cause: expect.any(Error) });
    expect(hex(await pool.submit(job("after")))).toBe(expected("after"));
    expect(pool.stats()).toMatchObject({ crashedWorkers: 2, completed: 1 });
  });

  test("leaves the other workers' jobs alone", async () => {
    await using pool = open(fixture("mortal-worker.ts"), 2);
    const answers = await Promise.allSettled(["poison", "a", "b", "c"].map((name) => pool.submit(job(name))));
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled", "fulfilled"]);
    expect(pool.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0 });
  });

  test("while its job is aborted: the abort stands and the job is gone", async () => {
    await using pool = open(fixture("mortal-worker.ts"));
    const controller = new AbortController();
    const aborted = pool.submit({ ...job("hiccup"), signal: controller.signal });
    controller.abort();
    expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    await pool.submit(job("after"));
    expect(pool.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0, aborted: 1, completed: 1 });
  });

  test("while the pool closes: jobs still settle, and close resolves", async () => {
    const pool = open(fixture("mortal-worker.ts"));
    const answers = Promise.allSettled(["hiccup", "a", "poison"].map((name) => pool.submit(job(name))));
    await pool.close();
    expect((await answers).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  });
});

describe("a worker that dies between two slices of jobs in its lanes", () => {
  const names = kernels()
    .map(({ name }) => name)
    .filter((name) => name !== "portable");

  test.each(names)("kernel %s: every job runs again and gives its digest", async (name) => {
    const { choice, lanes } = selectKernel(name);
    const pool = new Pool({
      workers: 1,
      lanes,
      queueLimit: 100,
      setup: { kernel: choice, nice: 0, share: 1 },
      entry: fixture("mortal-worker.ts"),
    });
    const passwords = Array.from({ length: lanes + 3 }, (_, index) =>
      index === 0 ? "late hiccup" : `${index}`,
    );
    const digests = await Promise.all(passwords.map((password) => pool.submit(job(password, 200_000))));
    await pool.close();
    expect(digests.map(hex)).toEqual(passwords.map((password) => expected(password, 200_000)));
    expect(pool.stats()).toMatchObject({
      crashedWorkers: 1,
      completed: lanes + 3,
      lanesBusy: 0,
      queueLength: 0,
    });
  });
});

describe("a worker that cannot start", () => {
  test.each(["stillborn-worker.ts", "no-such-file.ts"])(
    "%s: jobs reject, attempts pause, close resolves",
    async (entry) => {
      await using pool = open(fixture(entry), 2);
      const answers = await Promise.allSettled(Array.from({ length: 8 }, () => pool.submit(job("a"))));
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: "rejected", reason: expect.any(WorkerCrashed) });
      }
      expect(pool.stats().crashedWorkers).toBeLessThan(20);
      expect(pool.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0, completed: 0 });
    },
  );
});
