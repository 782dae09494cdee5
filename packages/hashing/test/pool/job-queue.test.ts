/** The order of the queue. */
import { describe, expect, test } from "bun:test";
import { Queue } from "../../src/pool/job-queue.ts";

const drain = (queue: Queue<string>) => {
  const all: string[] = [];
  for (let value = queue.shift(); value !== undefined; value = queue.shift()) all.push(value);
  return all;
};

describe("Queue", () => {
  test("returns values in the order of insertion, after those that were added at the front", () => {
    const queue = new Queue<string>();
    for (const value of ["a", "b", "c"]) queue.push(value);
    queue.unshift("z");
    expect(queue.size).toBe(4);
    expect(drain(queue)).toEqual(["z", "a", "b", "c"]);
    expect(queue.size).toBe(0);
  });

  test.each([
    ["a", ["b", "c"]],
    ["b", ["a", "c"]],
    ["c", ["a", "b"]],
  ])("removes %p from any position", (removed, rest) => {
    const queue = new Queue<string>();
    for (const value of ["a", "b", "c"]) queue.push(value);
    expect(queue.delete(removed)).toBe(true);
    expect(queue.delete(removed)).toBe(false);
    queue.push("d");
    expect(drain(queue)).toEqual([...rest, "d"]);
  });

  test("works again after it has been empty", () => {
    const queue = new Queue<string>();
    queue.unshift("a");
    expect(queue.delete("a")).toBe(true);
    queue.push("b");
    expect(drain(queue)).toEqual(["b"]);
  });
});
