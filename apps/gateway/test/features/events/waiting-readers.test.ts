/** Requests that wait for events: what they cost, and that each of them ends. */
import { expect, test } from "bun:test";
import { createWaitingReaders } from "../../../src/features/events/waiting-readers.ts";

/** Waits that end with the value of `state`, which a test changes. */
function createSubject() {
  const stopping = new AbortController();
  const waiting: number[] = [];
  const subject = { position: 0, error: null as Error | null, reads: 0, stopping, waiting };
  const waitForState = createWaitingReaders<number>({
    async readState() {
      subject.reads += 1;
      if (subject.error) throw subject.error;
      return subject.position;
    },
    stopping: stopping.signal,
    observe: (count) => waiting.push(count),
    pollMs: 5,
  });
  const wait = (after: number, { waitMs = 60_000, signal = new AbortController().signal } = {}) =>
    waitForState({ waitMs, signal, isReady: (position) => position > after });
  return Object.assign(subject, { wait });
}

test("one query per interval wakes all requests, each only with news for it", async () => {
  const subject = createSubject();
  const startedAt = performance.now();
  const waits = Array.from({ length: 99 }, () => subject.wait(0));
  const ahead = subject.wait(7);
  subject.position = 7;
  expect(await Promise.all(waits)).toEqual(Array(99).fill(7));
  expect(subject.reads).toBeLessThanOrEqual((performance.now() - startedAt) / 5 + 1);
  subject.position = 8;
  expect(await ahead).toBe(8);
  expect([Math.max(...subject.waiting), subject.waiting.at(-1)]).toEqual([100, 0]);
});

test("of 101 requests, the last one is rejected, and a client that leaves makes room", async () => {
  const subject = createSubject();
  const [leaving, stopping] = [new AbortController(), subject.stopping];
  const left = subject.wait(0, { signal: leaving.signal });
  const waits = Array.from({ length: 99 }, () => subject.wait(0));
  await expect(subject.wait(0)).rejects.toMatchObject({ code: "TOO_MANY_READERS" });
  leaving.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  waits.push(subject.wait(0));
  stopping.abort();
  expect(await Promise.all(waits)).toEqual(Array(100).fill(null));
  expect(await subject.wait(0)).toBeNull();
  expect(subject.waiting.at(-1)).toBe(0);
});

test("a request ends with its time, or with the error of the database, after which others can wait", async () => {
  const subject = createSubject();
  expect(await subject.wait(0, { waitMs: 1 })).toBeNull();
  const waits = Promise.allSettled([subject.wait(0), subject.wait(0)]);
  subject.error = new Error("unreachable");
  for (const wait of await waits) expect(wait).toEqual({ status: "rejected", reason: subject.error });
  const next = subject.wait(0);
  Object.assign(subject, { error: null, position: 1 });
  expect(await next).toBe(1);
});
