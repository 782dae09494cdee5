/** Counting usable cores from files shaped like those of real control groups. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { availableCores } from "../src/cores.ts";

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
  return availableCores({ root, affinity });
}

const V2 = "0::/\n";
const V1 = "12:cpuset:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n0::/system.slice\n";

describe("availableCores", () => {
  test("without control groups: the affinity mask", () => {
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
  ])("cgroup v2, container: cpu.max %p", (max, expected) => {
    expect(cores({ "proc/self/cgroup": V2, "sys/fs/cgroup/cpu.max": max })).toBe(expected);
  });

  test("cgroup v2, host: the tightest group on the way down counts", () => {
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
  ])("cgroup v1, container whose path is not below the mount: quota %p", (quota, expected) => {
    expect(
      cores({
        "proc/self/cgroup": V1,
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": quota,
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
      }),
    ).toBe(expected);
  });

  test("cgroup v1, host: a quota on the process's own group", () => {
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

  test("the affinity mask cuts a wider quota", () => {
    expect(cores({ "proc/self/cgroup": V2, "sys/fs/cgroup/cpu.max": "400000 100000\n" }, 2)).toBe(2);
  });
});
