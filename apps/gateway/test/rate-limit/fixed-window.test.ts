/** Fixed windows in this process: bounded, and a live counter is dropped to make room only if the limit says so. */
import { expect, test } from "bun:test";
import { createFixedWindow } from "../../src/rate-limit/fixed-window.ts";
import { createClock } from "../support/clock.ts";

const windowMs = 1_000;
const limit = { name: "login", windowMs };

const KEYS = {
  ipv4: (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
  ipv6: (index: number) => `fd00:${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}::`,
  other: (index: number) => `first ${index}`,
};
type Family = keyof typeof KEYS;

/** A window in which all counters of single keys of a family, by default 100,000, are in use, and a way to count keys in it. */
function createFullStore({
  families = ["ipv4", "ipv6", "other"],
  maxKeys,
}: {
  families?: Family[];
  maxKeys?: number;
} = {}) {
  const clock = createClock();
  const window = createFixedWindow(limit, clock.now, maxKeys);
  const count = (...keys: string[]) => keys.map((key) => window.increment(key).count);
  const fill = () => {
    for (const family of families)
      for (let index = 0; index < (maxKeys ?? 100_000); index++) window.increment(KEYS[family](index));
  };
  fill();
  return { window, clock, count, fill };
}

test("when all counters are in use, new clients of one IPv6 /48 and of one IPv4 /24 share a counter; known keys keep theirs", () => {
  const { count } = createFullStore();
  expect(count("2001:db8:1::", "2001:db8:1:2::", "2001:db8:1:ffff::")).toEqual([1, 2, 3]);
  expect(count("192.0.2.0", "192.0.2.128", "192.0.2.255")).toEqual([1, 2, 3]);
  expect(count("2001:db8:2::", "2001:db9:1::", "192.0.3.0", "192.1.2.0")).toEqual([1, 1, 1, 1]);
  expect(count("first 0", "first 99", "first 0")).toEqual([2, 2, 3]);
});

test("a client with all IPv6 networks of the world uses up no counter of IPv4 clients", () => {
  const { count } = createFullStore({ families: ["ipv6"], maxKeys: 2 });
  count("2001:db8:1::", "2001:db8:2::", "2001:db9::", "2a00::", "2a01::", "2a02::");
  expect(count("192.0.2.0", "192.0.2.1")).toEqual([1, 1]);
});

test("when all counters are in use, one user cannot use up the limit of the others, and a new key cannot start its own anew", () => {
  const { count } = createFullStore();
  const [first = 0, ...others] = count(...Array.from({ length: 40 }, () => "1:0"));
  expect([first, others.at(-1)]).toEqual([1, 40]);
  expect(count("1:0", "1:1")).toEqual([41, 42]);
  // Any two users share a counter by chance only, one of 65,536.
  const users = count(...Array.from({ length: 100 }, (_, index) => `${index + 2}:0`));
  expect(users.filter((counted) => counted > 10).length).toBeLessThan(3);
});

test("when all counters are in use, a limit can end the oldest one for a new key", () => {
  const window = createFixedWindow({ ...limit, endsOldest: true }, () => 0, 2);
  const keys = ["1:a", "1:b", "2:a", "2:b", "2:a", "1:a"];
  expect(keys.map((key) => window.increment(key).count)).toEqual([1, 1, 1, 1, 2, 1]);
  expect(window.size).toBe(2);
});

test("when all counters are in use, a network's counter has a window of the same length", () => {
  const { window, clock, count, fill } = createFullStore({ families: ["ipv4"], maxKeys: 100 });
  clock.advance(windowMs / 2);
  expect(window.increment("192.0.2.1").resetsAt).toBe(clock.now() + windowMs);
  expect(count("192.0.2.2")).toEqual([2]);
  clock.advance(windowMs);
  fill();
  expect(count("192.0.2.3")).toEqual([1]);
});

test("when the counters of /48 and /24 networks are also in use, new clients are counted by /32 and /16, then together", () => {
  const { window, count } = createFullStore({ families: ["ipv4", "ipv6"], maxKeys: 2 });
  expect(count("2001:db8:1::", "2001:db8:2::")).toEqual([1, 1]);
  expect(count("2001:db8:3::", "2001:db8:4::")).toEqual([1, 2]);
  expect(count("2001:db8:1:1::")).toEqual([2]);
  expect(count("2001:db9::", "2a00::", "2a01::")).toEqual([1, 1, 2]);
  expect(count("192.0.2.0", "192.0.3.0")).toEqual([1, 1]);
  expect(count("192.0.4.0", "192.0.5.0")).toEqual([1, 2]);
  expect(count("198.51.100.7", "203.0.113.7", "100.64.0.7")).toEqual([1, 1, 2]);
  expect(window.size).toBe(12);
});

test("an increment of an ended window that is taken back changes nothing in the next one", () => {
  const clock = createClock();
  const window = createFixedWindow(limit, clock.now);
  const ended = window.increment("a");
  clock.advance(windowMs);
  expect(window.increment("a").count).toBe(1);
  ended.undo();
  expect(window.increment("a").count).toBe(2);
});

test("expired counters are dropped when a key is new, live ones are not", () => {
  const clock = createClock();
  const window = createFixedWindow(limit, clock.now);
  for (let index = 0; index < 100; index++) window.increment(`early ${index}`);
  clock.advance(windowMs / 2);
  for (let index = 0; index < 50; index++) window.increment(`late ${index}`);
  clock.advance(windowMs / 2);
  expect(window.increment("new").count).toBe(1);
  expect(window.size).toBe(51);
  expect(window.increment("late 0").count).toBe(2);
  expect(window.increment("early 0").count).toBe(1);
});

test("of many counters that expire at once, each new key drops at most a hundred, and one that is counted again is kept", () => {
  const { window, clock, count } = createFullStore({ families: ["other"], maxKeys: 300 });
  clock.advance(windowMs);
  expect(count("first 299")).toEqual([1]);
  expect(window.size).toBe(200);
  expect(count("new 1", "new 2")).toEqual([1, 1]);
  expect(window.size).toBe(3);
  expect(count("first 299")).toEqual([2]);
});
