/** The memory of a job is wiped when the job settles, regardless of the result. */
import { expect, test } from "bun:test";
import { Job, type JobInput } from "../../src/pool/job.ts";

const createJob = (signal?: AbortSignal) => {
  const input: JobInput = { password: "a secret", salt: "salt", iterations: 1, signal };
  const job = new Job({ id: 1, submittedMs: 0 }, input, () => {});
  job.promise.catch(() => {});
  return job;
};
const isWiped = (job: Job) => [...job.memory.password, ...job.memory.salt].every((byte) => byte === 0);

test("a job keeps the password until it resolves with a copy of the digest, and then wipes its memory", async () => {
  const job = createJob();
  expect(new TextDecoder().decode(job.memory.password.slice())).toBe("a secret");
  job.memory.digest.fill(7);
  expect([job.resolve(), job.resolve(), job.reject(new Error("late"))]).toEqual([true, false, false]);
  expect(isWiped(job)).toBe(true);
  expect(await job.promise).toEqual(new Uint8Array(32).fill(7));
  expect(job.memory.digest.every((byte) => byte === 0)).toBe(true);
});

test("a job wipes its memory when it is rejected or aborted", () => {
  const controller = new AbortController();
  const [failed, aborted] = [createJob(), createJob(controller.signal)];
  failed.reject(new Error("failed"));
  controller.abort();
  expect([isWiped(failed), isWiped(aborted)]).toEqual([true, true]);
});
