/** A burst is served whole and in order; in sustained overload the newest job is first and no job waits long. */
import { describe, expect, test } from "bun:test";
import { OverloadDetector } from "../../src/pool/overload.ts";
import { STORED_ITERATIONS } from "../../src/stored-hash.ts";
import { openSteppingPool } from "../support/open-pool.ts";

const QUEUE_MS = 5000;

describe("OverloadDetector", () => {
  const createDetector = () => new OverloadDetector({ queueMs: QUEUE_MS, nowMs: 0 });

  test("detects overload once every job that started during the queue time had waited more than 500 ms", () => {
    const detector = createDetector();
    detector.onStart({ startedMs: 1000, waitedMs: 500 });
    for (let startedMs = 1100; startedMs < 6000; startedMs += 100) {
      detector.onStart({ startedMs, waitedMs: 501 });
      expect(detector.isSustained).toBe(false);
    }
    expect(detector.maxWaitMs(800)).toBe(QUEUE_MS);
    detector.onStart({ startedMs: 6000, waitedMs: 501 });
    expect(detector.isSustained).toBe(true);
    // A job that runs long waits less, but at least 100 ms.
    const waits = [0, 200, 400, 600, 900].map((runningMs) => detector.maxWaitMs(runningMs));
    expect(waits).toEqual([500, 500, 300, 100, 100]);
    // A free lane ends overload, which then needs the whole queue time again.
    detector.onFreeLane(7000);
    expect(detector.isSustained).toBe(false);
    for (const startedMs of [11_900, 12_000]) {
      detector.onStart({ startedMs, waitedMs: 501 });
      expect(detector.isSustained).toBe(startedMs === 12_000);
    }
  });
});

/** A pool under a simulated clock. `results` has the name of each settled job in order, or its error code. */
function openSteppedPool({ queueLimit = 1000, lanes = 1 } = {}) {
  let nowMs = 0;
  const results: string[] = [];
  const channel = new BroadcastChannel("step");
  let onSettled = () => {};
  const options = { queueLimit, lanes, queueSeconds: QUEUE_MS / 1000, nowMs: () => nowMs };
  const pool = openSteppingPool({ ...options, stepped: true });
  const settled = async (count: number) => {
    while (results.length < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      onSettled = resolve;
      await promise;
    }
  };
  return {
    pool,
    results,
    settled,
    submit(...names: string[]) {
      for (const password of names) {
        pool
          .submit({ password, salt: "", iterations: STORED_ITERATIONS })
          .then(() => results.push(password))
          .catch((error) => results.push(`${password} ${error.code} ${error.retryAfterSeconds}`))
          .finally(() => onSettled());
      }
    },
    advance(ms: number) {
      nowMs += ms;
    },
    crashWorker: () => channel.postMessage("crash"),
    /** Advances the clock, lets the job in the lane finish and waits until it has. */
    async step(ms: number) {
      const before = pool.stats().completed;
      nowMs += ms;
      channel.postMessage(null);
      while (pool.stats().completed === before) await settled(results.length + 1);
    },
    async [Symbol.asyncDispose]() {
      while (pool.stats().lanesBusy > 0) await this.step(0);
      channel.close();
      await pool.close();
    },
  };
}

describe("a pool", () => {
  test("serves a burst whole and in order if the last job waits less than the queue time", async () => {
    await using stepped = openSteppedPool();
    const names = Array.from({ length: 10 }, (_, index) => `${index}`);
    await stepped.pool.ready();
    stepped.submit(...names);
    for (const _ of names) await stepped.step(450);
    expect(stepped.results).toEqual(names);
    expect(stepped.pool.stats()).toMatchObject({ rejected: 0, overloaded: false });
  });

  test("rejects a job that has waited longer than the queue time, but not one in a lane", async () => {
    await using stepped = openSteppedPool();
    await stepped.pool.ready();
    stepped.submit("in lane", "prefetched", "queued");
    await stepped.step(0);
    stepped.submit("later");
    stepped.advance(1);
    expect(stepped.pool.stats()).toMatchObject({ lanesBusy: 1, queueLength: 2 });
    stepped.advance(QUEUE_MS);
    await stepped.settled(3);
    // The job "prefetched" is in the lane now.
    expect(stepped.results).toEqual(["in lane", "queued HASH_QUEUE_FULL 1", "later HASH_QUEUE_FULL 1"]);
    await stepped.step(0);
    expect(stepped.results.at(-1)).toBe("prefetched");
    expect(stepped.pool.stats()).toMatchObject({ rejected: 2, completed: 2, queueLength: 0, lanesBusy: 0 });
  });

  /** Three jobs per step of 600 ms, until the overload is sustained. Each lane then has a job, and no job waits. */
  async function overload(stepped: ReturnType<typeof openSteppedPool>) {
    await stepped.pool.ready();
    stepped.results.length = 0;
    let submitted = 0;
    while (!stepped.pool.stats().overloaded) {
      stepped.submit(...["a", "b", "c"].map((name) => `${name}${submitted}`));
      submitted += 3;
      await stepped.step(600);
    }
    await stepped.settled(submitted - stepped.pool.stats().lanes);
    stepped.results.length = 0;
  }

  test("in sustained overload serves the newest job first, and in order again once a lane was free", async () => {
    await using stepped = openSteppedPool();
    await overload(stepped);
    expect(stepped.pool.stats()).toMatchObject({ lanesBusy: 1, queueLength: 0, overloaded: true });
    stepped.submit("prefetched", "third", "second", "first");
    for (let job = 0; job < 5; job++) await stepped.step(50);
    expect(stepped.results.slice(1)).toEqual(["prefetched", "first", "second", "third"]);
    expect(stepped.pool.stats()).toMatchObject({ lanesBusy: 0, overloaded: false });
    stepped.submit("d", "e", "f", "g");
    for (let job = 0; job < 4; job++) await stepped.step(50);
    expect(stepped.results.slice(5)).toEqual(["d", "e", "f", "g"]);
  });

  test("in sustained overload rejects every job that could not finish within 700 ms", async () => {
    await using stepped = openSteppedPool();
    await overload(stepped);
    // The worker has one lane and completes two jobs per second, so a job runs for 500 ms.
    stepped.submit("old");
    stepped.advance(150);
    stepped.submit("new");
    stepped.advance(51);
    await stepped.settled(1);
    expect(stepped.results).toEqual(["old HASH_QUEUE_FULL 1"]);
    expect(stepped.pool.stats()).toMatchObject({ queueLength: 1, overloaded: true });
  });

  test("in sustained overload rejects the oldest job in the queue when it is full, otherwise the newest", async () => {
    await using stepped = openSteppedPool({ queueLimit: 3 });
    await stepped.pool.ready();
    stepped.submit("lane", "1", "2", "3", "4");
    await stepped.settled(1);
    expect(stepped.results).toEqual(["4 HASH_QUEUE_FULL 2"]);
    for (let job = 0; job < 4; job++) await stepped.step(0);
    await overload(stepped);
    stepped.submit("1", "2", "3", "4", "5");
    await stepped.settled(2);
    // The first job is prefetched and starts next.
    expect(stepped.results).toEqual(["2 HASH_QUEUE_FULL 2", "3 HASH_QUEUE_FULL 2"]);
  });

  test("in sustained overload rejects a job whose worker crashed only after the queue time", async () => {
    await using stepped = openSteppedPool({ lanes: 3 });
    await overload(stepped);
    stepped.submit("a", "b", "c");
    for (let job = 0; job < 3; job++) await stepped.step(0);
    stepped.results.length = 0;
    stepped.submit("1", "2", "3", "4", "5", "6");
    stepped.crashWorker();
    // The next worker receives steps as soon as its capacity counts; it starts with the newest jobs.
    const isReplaced = ({ crashedWorkers, capacityPerSecond } = stepped.pool.stats()) =>
      crashedWorkers === 1 && capacityPerSecond > 0;
    while (!isReplaced()) await new Promise(setImmediate);
    await stepped.step(0);
    stepped.advance(501);
    await stepped.settled(3);
    expect(stepped.results.map((result) => result[0]).sort()).toEqual(["1", "2", "6"]);
    expect(stepped.pool.stats()).toMatchObject({ crashedWorkers: 1, lanesBusy: 3, queueLength: 3 });
    stepped.advance(QUEUE_MS);
    await stepped.settled(6);
    expect(
      stepped.results
        .slice(3)
        .map((result) => result[0])
        .sort(),
    ).toEqual(["a", "b", "c"]);
  });
});
