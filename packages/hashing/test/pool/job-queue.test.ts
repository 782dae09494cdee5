/** The order of the queue and the sum of its iterations. */
import { describe, expect, test } from "bun:test";
import { JobQueue } from "../../src/pool/job-queue.ts";

type Named = { readonly name: string; readonly iterations: number };

const [a, b, c, d] = ["a", "b", "c", "d"].map((name, index) => ({ name, iterations: 10 ** index }));
if (!a || !b || !c || !d) throw new Error("four jobs");

const filled = (...jobs: readonly Named[]) => {
  const queue = new JobQueue<Named>();
  for (const job of jobs) queue.push(job);
  return queue;
};

describe("JobQueue", () => {
  test("returns jobs in the order of insertion, after those that were added at the front", () => {
    const queue = filled(a, b, c);
    queue.unshift(d);
    expect([...queue]).toEqual([d, a, b, c]);
    expect([d, a, b, c].map(() => queue.take("first"))).toEqual([d, a, b, c]);
    expect(queue.take("first")).toBeUndefined();
  });

  test("returns jobs from both ends", () => {
    const queue = filled(a, b, c);
    const taken = (["last", "first", "last", "last"] as const).map((end) => queue.take(end));
    expect(taken).toEqual([c, a, b, undefined]);
  });

  test("knows the sum of the iterations of its jobs", () => {
    const queue = filled(a, b, c);
    expect(queue.iterations).toBe(111);
    queue.delete(b);
    expect(queue.iterations).toBe(101);
    queue.unshift(d);
    queue.take("last");
    expect(queue.iterations).toBe(1001);
  });

  test.each([
    [a, [b, c]],
    [b, [a, c]],
    [c, [a, b]],
  ])("removes a job from any position: %o", (removed, rest) => {
    const queue = filled(a, b, c);
    queue.delete(removed);
    queue.delete(removed);
    queue.push(d);
    expect([...queue]).toEqual([...rest, d]);
  });

  test("can lose jobs while it is iterated", () => {
    const queue = filled(a, b, c, d);
    const seen: Named[] = [];
    for (const job of queue) {
      seen.push(job);
      queue.delete(job);
      queue.delete(c);
    }
    expect(seen).toEqual([a, b, d]);
  });

  test("works again after it has been empty", () => {
    const queue = filled();
    queue.unshift(a);
    queue.delete(a);
    queue.push(b);
    expect([queue.take("last"), queue.iterations]).toEqual([b, 0]);
  });
});
