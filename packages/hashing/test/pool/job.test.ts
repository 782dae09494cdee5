/** The memory of a job is wiped when the job settles. */
import { expect, test } from "bun:test";
import { Job } from "../../src/pool/job.ts";

test("a job keeps the password until it resolves once, with a copy of the digest, and then wipes its memory", async () => {
  const job = new Job({ id: 1, submittedMs: 0, password: "a secret", salt: "salt", iterations: 1 }, () => {});
  const { password, digest, shape } = job.memory;
  expect(Buffer.from(password).toString()).toBe("a secret");
  digest.fill(7);
  expect([job.resolve(), job.resolve(), job.reject(new Error("late"))]).toEqual([true, false, false]);
  expect(new Uint8Array(shape.buffer).every((byte) => byte === 0)).toBe(true);
  expect(await job.promise).toEqual(new Uint8Array(32).fill(7));
});
