/** Closing: what was admitted is finished, the rest is refused, and nothing hangs. */
import { describe, expect, test } from "bun:test";
import { createHasher, type DeriveJob, HasherClosed } from "../src/index.ts";

const job = (iterations = 10_000): DeriveJob => ({
  password: new Uint8Array(8),
  salt: new Uint8Array(8),
  iterations,
});

describe("close", () => {
  test("finishes jobs in lanes and in the line, and refuses those that come later", async () => {
    const hasher = createHasher({ workers: 2 });
    const admitted = Array.from({ length: 50 }, () => hasher.derive(job()));
    const closed = hasher.close();
    const late = [hasher.derive(job()), hasher.hash("secret"), hasher.verify("secret", "x")];
    for (const refused of await Promise.allSettled(late)) {
      expect(refused).toMatchObject({ status: "rejected", reason: expect.any(HasherClosed) });
    }
    await closed;
    expect(await Promise.all(admitted)).toHaveLength(50);
    expect(hasher.derive(job())).rejects.toMatchObject({ code: "HASHER_CLOSED" });
  });

  test("is idempotent, also at once and at birth", async () => {
    const hasher = createHasher({ workers: 2 });
    await Promise.all([hasher.close(), hasher.close()]);
    await hasher.close();
    expect(hasher.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0, crashedWorkers: 0 });
  });

  test("does not wait for jobs that were aborted", async () => {
    const hasher = createHasher({ kernel: "portable", workers: 1 });
    const controller = new AbortController();
    const derived = Array.from({ length: 30 }, () => hasher.derive({ ...job(), signal: controller.signal }));
    const settled = Promise.allSettled(derived);
    const closed = hasher.close();
    controller.abort();
    await closed;
    expect((await settled).every(({ status }) => status === "rejected")).toBe(true);
  });

  test("a process that forgets to close ends by itself, but not while an answer is owed", async () => {
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/fixtures/forgotten-hasher.ts`], {
      stdout: "pipe",
    });
    expect(await child.stdout.text()).toBe("answered\n");
    expect(await child.exited).toBe(0);
  });
});
