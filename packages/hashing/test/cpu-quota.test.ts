/** The available cores, from files like those of real control groups, and the pauses that keep within a CPU quota. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { availableCores, createQuotaBudget, createQuotaThrottle } from "../src/cpu-quota.ts";

/** The groups of a process in a container; with version 1, their paths are outside the mount. */
const V2 = "0::/\n";
const V1 = "12:cpuset:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n0::/system.slice\n";
const container = (max: string) => ({ "proc/self/cgroup": V2, "sys/fs/cgroup/cpu.max": max });
const cgroup1 = (folder: string, quota: string) => ({
  [`sys/fs/cgroup/${folder}/cpu.cfs_quota_us`]: quota,
  [`sys/fs/cgroup/${folder}/cpu.cfs_period_us`]: "100000\n",
});
const container1 = (quota: string) => ({ "proc/self/cgroup": V1, ...cgroup1("cpu,cpuacct", quota) });

test.each<[cores: number, files: Readonly<Record<string, string>>, affinity?: string]>([
  [8, {}],
  [7, {}, "0,2-3,8-11"],
  [8, container("max 100000\n")],
  [2, container("150000 100000\n")],
  [1, container("50000 100000\n")],
  [8, container("1600000 100000\n")],
  [3, container("25000 10000\n")],
  [8, container("garbage\n")],
  [2, container("400000 100000\n"), "5,9"],
  [8, container1("-1\n")],
  [3, container1("250000\n")],
  // On a host, the lowest quota on the path to the group applies.
  [
    3,
    {
      "proc/self/cgroup": "0::/system.slice/latchkey.service\n",
      "sys/fs/cgroup/system.slice/cpu.max": "300000 100000\n",
      "sys/fs/cgroup/system.slice/latchkey.service/cpu.max": "max 100000\n",
    },
  ],
  [
    4,
    {
      "proc/self/cgroup": "1:cpu:/jobs/one\n",
      ...cgroup1("cpu", "-1\n"),
      ...cgroup1("cpu/jobs/one", "400000\n"),
    },
  ],
])("%d cores are available with the files %j", async (cores, files, affinity = "0-7") => {
  await using root = await openFolder();
  const status = `Name:\tbun\nCpus_allowed:\tff\nCpus_allowed_list:\t${affinity}\nMems_allowed:\t1\n`;
  for (const [name, text] of Object.entries({ "proc/self/status": status, ...files }))
    await Bun.write(join(root.path, name), text);
  expect(availableCores(root.path)).toBe(cores);
});

test("without a quota, or with one above the number of workers, no worker is held back", () => {
  expect(createQuotaBudget(Number.POSITIVE_INFINITY, 4)).toBeNull();
  expect(createQuotaBudget(4, 2)?.share).toBe(1);
});

describe("createQuotaThrottle", () => {
  const SLICE_MS = 6;
  const SLICE = { usedMs: SLICE_MS, elapsedMs: SLICE_MS };
  const RUN_MS = 60_000;

  /**
   * Simulates workers that run slices whenever they are not paused, each in its own thread.
   * @param slowdown elapsed time per processor time: above 1 if a neighbour uses the core.
   */
  function run({ quota = 1, workers = 1, slowdown = 1, lateMs = 0 }) {
    let nowMs = 0;
    const budget = createQuotaBudget(quota, workers);
    if (!budget) throw new Error("a quota");
    const throttle = createQuotaThrottle(budget, () => nowMs);
    const endsMs = Array.from({ length: workers }, () => SLICE_MS * slowdown);
    const usedMs = endsMs.map(() => 0);
    for (;;) {
      nowMs = Math.min(...endsMs);
      if (nowMs > RUN_MS) break;
      const worker = endsMs.indexOf(nowMs);
      usedMs[worker] = (usedMs[worker] ?? 0) + SLICE_MS;
      const pauseMs = throttle({ usedMs: SLICE_MS, elapsedMs: SLICE_MS * slowdown });
      endsMs[worker] = nowMs + pauseMs + (pauseMs > 0 ? lateMs : 0) + SLICE_MS * slowdown;
    }
    return usedMs.map((ms) => ms / RUN_MS);
  }

  test.each([
    [0.1, 1],
    [1.5, 2],
    [3.3, 4],
  ])("keeps a quota of %p cores, less the part of the event loop, with %p workers", (quota, workers) => {
    const shares = run({ quota, workers });
    expect(shares.reduce((sum, share) => sum + share)).toBeCloseTo(0.9 * quota, 2);
    for (const share of shares) expect(share).toBeCloseTo((0.9 * quota) / workers, 1);
  });

  test("lets a single busy worker use what the others do not use", () => {
    const budget = createQuotaBudget(1.5, 2);
    if (!budget) throw new Error("a quota");
    let nowMs = 0;
    const [busy, idle] = [0, 1].map(() => createQuotaThrottle(budget, () => nowMs));
    for (nowMs = SLICE_MS; nowMs < 1000; nowMs += SLICE_MS) expect(busy?.(SLICE)).toBe(0);
    expect(idle?.(SLICE)).toBeLessThan(SLICE_MS);
  });

  test("charges processor time: a busy neighbour, or pauses that end late, do not reduce what the quota allows", () => {
    expect(run({ quota: 0.5, lateMs: 2 })[0]).toBeCloseTo(0.45, 2);
    expect(run({ quota: 0.5, slowdown: 2 })[0]).toBeCloseTo(0.45, 2);
    expect(run({ quota: 0.5, slowdown: 4 })[0]).toBeCloseTo(0.25, 2);
  });

  test("does not let idle workers save time for more than a few milliseconds", () => {
    const budget = createQuotaBudget(0.5, 1);
    if (!budget) throw new Error("a quota");
    let nowMs = 0;
    const throttle = createQuotaThrottle(budget, () => nowMs);
    throttle(SLICE);
    nowMs = 60_000;
    // A slice is paid after 6 / 0.45 ms, of which 6 ms are over and 5 ms were saved.
    expect(throttle(SLICE)).toBeCloseTo(SLICE_MS / 0.45 - SLICE_MS - 5);
  });
});
