/** The digest does not stay in memory. Closing finishes the submitted jobs, rejects new ones and never hangs. */
import { describe, expect, spyOn, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createHasher } from "../src/index.ts";
import { Pool } from "../src/pool/pool.ts";
import { createJob } from "./support/derivation.ts";
import { fixtureUrl } from "./support/open-pool.ts";

/** The ids of the low-priority threads in this process. */
const hashingThreads = () =>
  readdirSync("/proc/self/task").filter((id) => {
    const comm = `/proc/self/task/${id}/comm`;
    return existsSync(comm) && readFileSync(comm, "utf8").startsWith("derive");
  });

test("the digest is wiped after a hash and after a verification", async () => {
  await using hasher = createHasher({ workers: 1 });
  using submit = spyOn(Pool.prototype, "submit");
  await hasher.verify("another", await hasher.hash("secret"));
  const digests = await Promise.all(submit.mock.results.map(({ value }) => value));
  expect(digests).toEqual([new Uint8Array(32), new Uint8Array(32)]);
});

describe("close", () => {
  test("finishes jobs in lanes and in the queue, also if it was idle before, and rejects later ones", async () => {
    const hasher = createHasher({ workers: 2 });
    await hasher.derive(createJob(1));
    const submitted = Array.from({ length: 50 }, () => hasher.derive(createJob(10_000)));
    const closed = hasher.close();
    const late = [hasher.derive(createJob(10_000)), hasher.hash("secret"), hasher.verify("secret", "x")];
    for (const result of await Promise.allSettled(late)) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "HASHER_CLOSED" } });
    }
    await closed;
    expect(await Promise.all(submitted)).toHaveLength(50);
  });

  test("is idempotent, also concurrently and immediately after the start", async () => {
    const hasher = createHasher({ workers: 2 });
    await Promise.all([hasher.close(), hasher.close()]);
    await hasher.close();
    expect(hasher.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0, crashedWorkers: 0 });
  });

  test.if(process.platform === "linux")("ends the threads", async () => {
    // A thread of an earlier test can end at any time, so ids are compared instead of counts.
    const before = new Set(hashingThreads());
    const hasher = createHasher({ workers: 2, nice: 19 });
    await Promise.all(Array.from({ length: 100 }, () => hasher.derive(createJob(10_000))));
    const started = hashingThreads().filter((id) => !before.has(id));
    expect(started).toHaveLength(hasher.stats().kernel === "portable" ? 0 : 2);
    await hasher.close();
    expect(hashingThreads().filter((id) => started.includes(id))).toEqual([]);
  });

  test("does not wait for jobs that were aborted", async () => {
    const hasher = createHasher({ kernel: "portable", workers: 1 });
    const controller = new AbortController();
    const derived = Array.from({ length: 30 }, () => hasher.derive(createJob(10_000, controller.signal)));
    const settled = Promise.allSettled(derived);
    const closed = hasher.close();
    controller.abort();
    await closed;
    expect((await settled).every(({ status }) => status === "rejected")).toBe(true);
  });

  test("is not required for the process to exit, which waits for running derivations", async () => {
    const child = Bun.spawn([process.execPath, fixtureUrl("unclosed-hasher.ts").pathname], {
      stdout: "pipe",
    });
    expect(await child.stdout.text()).toBe("derived\n");
    expect(await child.exited).toBe(0);
  });
});
