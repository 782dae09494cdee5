/** The memory of a job is wiped when the job settles, regardless of the result. */
import { describe, expect, test } from "bun:test";
import { Job, type JobInput } from "../../src/pool/job.ts";

const createJob = (signal?: AbortSignal) => {
  const input: JobInput = { password: "a secret", salt: "salt", iterations: 1, signal };
  const job = new Job({ id: 1, submittedMs: 0 }, input, () => {});
  job.promise.catch(() => {});
  return job;
};
const isWiped = (job: Job) => [...job.memory.password, ...job.memory.salt].every((byte) => byte === 0);

describe("Job", () => {
  test("keeps the password until it settles", () => {
    expect(new TextDecoder().decode(createJob().memory.password.slice())).toBe("a secret");
  });

  test("wipes its memory when it resolves, and resolves with a copy of the digest", async () => {
    const job = createJob();
    job.memory.digest.fill(7);
    job.resolve();
    expect(isWiped(job)).toBe(true);
    expect(await job.promise).toEqual(new Uint8Array(32).fill(7));
    expect(job.memory.digest.every((byte) => byte === 0)).toBe(true);
  });

  test("wipes its memory when it is rejected or aborted", () => {
    const failed = createJob();
    failed.reject(new Error("failed"));
    expect(isWiped(failed)).toBe(true);

    const controller = new AbortController();
    const aborted = createJob(controller.signal);
    controller.abort();
    expect(isWiped(aborted)).toBe(true);
  });

  test("settles only once", async () => {
    const job = createJob();
    expect(job.resolve()).toBe(true);
    expect(job.resolve()).toBe(false);
    expect(job.reject(new Error("late"))).toBe(false);
  });
});
