/** Closing finishes the submitted jobs, rejects new ones and never hangs. */
import { describe, expect, test } from "bun:test";
import { createHasher, HasherClosed } from "../src/index.ts";
import { createJob } from "./support/derivation.ts";
import { fixtureUrl } from "./support/open-pool.ts";

describe("close", () => {
  test("finishes jobs in lanes and in the queue, and rejects later ones", async () => {
    const hasher = createHasher({ workers: 2 });
    const submitted = Array.from({ length: 50 }, () => hasher.derive(createJob(10_000)));
    const closed = hasher.close();
    const late = [hasher.derive(createJob(10_000)), hasher.hash("secret"), hasher.verify("secret", "x")];
    for (const result of await Promise.allSettled(late)) {
      expect(result).toMatchObject({ status: "rejected", reason: expect.any(HasherClosed) });
    }
    await closed;
    expect(await Promise.all(submitted)).toHaveLength(50);
    expect(hasher.derive(createJob(10_000))).rejects.toMatchObject({ code: "HASHER_CLOSED" });
  });

  test("is idempotent, also concurrently and immediately after the start", async () => {
    const hasher = createHasher({ workers: 2 });
    await Promise.all([hasher.close(), hasher.close()]);
    await hasher.close();
    expect(hasher.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0, crashedWorkers: 0 });
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
