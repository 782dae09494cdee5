/** The available cores, from files like those of real control groups, and the pauses that keep within a CPU quota. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { availableCores, createQuotaThrottle, quotaSharePerWorker } from "../src/cpu-quota.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "latchkey-cores-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function cores(files: Record<string, string>, affinity = 8): number {
  for (const [name, text] of Object.entries(files)) {
    const file = join(root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return availableCores(root, affinity);
}

const V2 = "0::/\n";
const V1 = "12:cpuset:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n0::/system.slice\n";

describe("availableCores", () => {
  test("is the size of the affinity mask without control groups", () => {
    expect(cores({})).toBe(8);
    expect(availableCores()).toBeGreaterThanOrEqual(1);
  });

  test.each([
    ["max 100000\n", 8],
    ["200000 100000\n", 2],
    ["150000 100000\n", 1],
    ["50000 100000\n", 1],
    ["1600000 100000\n", 8],
    ["25000 10000\n", 2],
    ["garbage\n", 8],
    ["", 8],
  ])("with cgroup v2 in a container, cpu.max %p allows %p cores", (max, expected) => {
    expect(cores({ "proc/self/cgroup": V2, "sys/fs/cgroup/cpu.max": max })).toBe(expected);
  });

  test("with cgroup v2 on a host, the lowest quota on the path to the group applies", () => {
    expect(
      cores({
        "proc/self/cgroup": "0::/system.slice/latchkey.service\n",
        "sys/fs/cgroup/system.slice/cpu.max": "300000 100000\n",
        "sys/fs/cgroup/system.slice/latchkey.service/cpu.max": "max 100000\n",
      }),
    ).toBe(3);
  });

  test.each([
    ["-1\n", 8],
    ["250000\n", 2],
    ["20000\n", 1],
  ])(
    "with cgroup v1 in a container whose path is outside the mount, quota %p allows %p cores",
    (quota, expected) => {
      expect(
        cores({
          "proc/self/cgroup": V1,
          "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": quota,
          "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        }),
      ).toBe(expected);
    },
  );

  test("with cgroup v1 on a host, the quota of the process's own group applies", () => {
    expect(
      cores({
        "proc/self/cgroup": "1:cpu:/jobs/one\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/cpu/jobs/one/cpu.cfs_quota_us": "400000\n",
        "sys/fs/cgroup/cpu/jobs/one/cpu.cfs_period_us": "100000\n",
      }),
    ).toBe(4);
  });

  test("is limited by the affinity mask if the quota is higher", () => {
    expect(cores({ "proc/self/cgroup": V2, "sys/fs/cgroup/cpu.max": "400000 100000\n" }, 2)).toBe(2);
  });
});

describe("quotaSharePerWorker", () => {
  test.each([
    [Number.POSITIVE_INFINITY, 4, 1],
    [1, 1, 0.9],
    [0.5, 1, 0.45],
    [1.5, 1, 1],
    [2, 2, 0.9],
    [2, 4, 0.45],
  ])("divides a quota of %p cores among %p workers: %p each", (quota, workers, share) => {
    expect(quotaSharePerWorker({ quota, workers })).toBeCloseTo(share);
  });
});

describe("createQuotaThrottle", () => {
  test("never pauses without a quota", () => {
    const pauseAfter = createQuotaThrottle(1);
    const pauses = Array.from({ length: 100 }, () => pauseAfter(4));
    expect(pauses.every((pause) => pause === 0)).toBe(true);
  });

  test.each([0.1, 0.45, 0.9, 0.99])("keeps slices and pauses at a share of %p", (share) => {
    const pauseAfter = createQuotaThrottle(share);
    let busyMs = 0;
    let pausedMs = 0;
    for (let slice = 0; slice < 10_000; slice++) {
      busyMs += 4.2;
      pausedMs += pauseAfter(4.2);
    }
    expect(busyMs / (busyMs + pausedMs)).toBeCloseTo(share, 2);
  });

  test("returns pauses of whole milliseconds that are long enough for a timer", () => {
    const pauseAfter = createQuotaThrottle(0.9);
    const pauses = Array.from({ length: 100 }, () => pauseAfter(4)).filter((pause) => pause > 0);
    expect(pauses.length).toBeGreaterThan(10);
    for (const pause of pauses) {
      expect(pause).toBeInteger();
      expect(pause).toBeGreaterThanOrEqual(2);
    }
  });
});
