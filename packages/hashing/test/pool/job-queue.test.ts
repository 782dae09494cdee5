/** The order of the queue and the sum of its iterations. */
import { expect, test } from "bun:test";
import { randomInt } from "node:crypto";
import { JobQueue } from "../../src/pool/job-queue.ts";

interface TestJob {
  readonly iterations: number;
}

test("has the order and the sum of a list, whichever jobs are added and removed", () => {
  const queue = new JobQueue<TestJob>();
  const list: TestJob[] = [];
  const jobs: TestJob[] = [];
  for (let step = 1; step <= 1_000; step++) {
    const job = { iterations: step };
    jobs.push(job);
    // It can have left the queue, or not be in it yet.
    const other = jobs.at(-randomInt(1, 30)) ?? job;
    const isFirst = step % 2 === 0;
    const actions = [
      () => [queue.push(job), void list.push(job)],
      () => [queue.unshift(job), void list.unshift(job)],
      () => [queue.take(isFirst ? "first" : "last"), isFirst ? list.shift() : list.pop()],
      () => [queue.delete(other), void (list.includes(other) && list.splice(list.indexOf(other), 1))],
    ];
    const [taken, expected] = actions[randomInt(actions.length)]?.() ?? [];
    expect(taken).toBe(expected);
    expect([...queue]).toEqual(list);
    expect(queue.iterations).toBe(list.reduce((sum, { iterations }) => sum + iterations, 0));
  }
});
