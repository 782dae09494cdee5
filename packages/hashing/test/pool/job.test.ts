/** Memory that held a password is overwritten when its job ends, however it ends. */
import { describe, expect, test } from "bun:test";
import { Job, type JobInput } from "../src/job.ts";

const open = (signal?: AbortSignal) => {
  const input: JobInput = { password: "a secret", salt: "salt", iterations: 1, signal };
  const job = new Job(1, input, () => {});
  job.promise.catch(() => {});
  return job;
};
const isWiped = (job: Job) => [...job.memory.password, ...job.memory.salt].every((byte) => byte === 0);

describe("a job's memory", () => {
  test("holds the bytes while the job lives", () => {
    expect(new TextDecoder().decode(open().memory.password.slice())).toBe("a secret");
  });

  test("is wiped by an answer, which keeps its digest", async () => {
    const job = open();
    job.memory.digest.fill(7);
    job.resolve();
    expect(isWiped(job)).toBe(true);
    expect(await job.promise).toEqual(new Uint8Array(32).fill(7));
    expect(job.memory.digest.every((byte) => byte === 0)).toBe(true);
  });

  test("is wiped by an error and by an abort", () => {
    const failed = open();
    failed.reject(new Error("failed"));
    expect(isWiped(failed)).toBe(true);

    const controller = new AbortController();
    const aborted = open(controller.signal);
    controller.abort();
    expect(isWiped(aborted)).toBe(true);
  });

  test("settles once", async () => {
    const job = open();
    expect(job.resolve()).toBe(true);
    expect(job.resolve()).toBe(false);
    expect(job.reject(new Error("late"))).toBe(false);
  });
});
