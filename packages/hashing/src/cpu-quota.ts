/**
 * Counts the cores that this process can use and keeps the workers within the CPU quota of the process. When the
 * quota is exhausted, Linux stops all threads, including the event loop, until the quota's period ends (sched-bwc).
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/** The part of a quota that is reserved for the event loop. */
const EVENT_LOOP_SHARE = 0.1;
/** Up to this much unused time is saved for the next slices, to make up for pauses that end late. */
const CREDIT_MS = 5;

/**
 * Returns the lower of two values: the cores of the affinity mask and the CPU quota, rounded up to whole cores. Rounding up is
 * safe because the throttle keeps the workers within the quota.
 * @param root the folder that contains `proc/self` and `sys/fs/cgroup`.
 */
export function availableCores(root = "/"): number {
  return Math.ceil(Math.min(affinityCores(root), quotaCores(root)));
}

/** The affinity mask on Linux (proc_pid_status(5)), because Bun's `availableParallelism` rounds a CPU quota down. */
function affinityCores(root: string): number {
  const status = readText(join(root, "proc/self/status"));
  const ranges = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1]?.split(",");
  const sizes = ranges?.map((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return last - first + 1;
  });
  return sizes?.reduce((total, size) => total + size) ?? availableParallelism();
}

/** Returns the lowest CPU quota of this process's control groups, in cores; Infinity without a quota. */
export function quotaCores(root = "/"): number {
  const groups = readText(join(root, "proc/self/cgroup")).split("\n");
  const quotas = groups.flatMap((line) => {
    // Version 2 of control groups has an empty list of controllers and only one mount.
    const [, controllers, ...path] = line.split(":");
    const isV1 = controllers?.split(",").includes("cpu");
    if (controllers !== "" && !isV1) return [];
    const mounts = isV1 ? ["cpu", "cpu,cpuacct"] : [""];
    return mounts.map((mount) => lowestQuota(join(root, "sys/fs/cgroup", mount), path.join(":")));
  });
  return Math.min(...quotas);
}

/**
 * Returns the lowest quota on the path from the mount to the group, because a group is also limited by its parents. In a
 * container, the path can point outside the mount. Then the mount's own quota applies.
 */
function lowestQuota(mount: string, path: string): number {
  const names = path.split("/").filter((name) => name !== "" && name !== "..");
  const folders = names.map((_, index) => join(mount, ...names.slice(0, index + 1)));
  return Math.min(...[mount, ...folders].map(quotaOf));
}

/**
 * Returns the quota of one group. Version 2: `cpu.max` contains "<quota µs or max> <period µs>" (Linux admin guide, cgroup-v2,
 * CPU interface files). Version 1: quota and period are in two files; -1 means no quota (Linux scheduler docs, sched-bwc).
 */
function quotaOf(folder: string): number {
  const read = (name: string) => readText(join(folder, name));
  const text = read("cpu.max") || `${read("cpu.cfs_quota_us")} ${read("cpu.cfs_period_us")}`;
  const [quota = "", period = ""] = text.split(" ");
  const cores = Number.parseInt(quota, 10) / Number.parseInt(period, 10);
  return Number.isFinite(cores) && cores > 0 ? cores : Number.POSITIVE_INFINITY;
}

/** Returns an empty text if the file cannot be read. */
function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** The state that all workers of a process share to keep within the CPU quota of the process. */
export interface QuotaBudget {
  /** The cores that all workers together can use, above 0. */
  readonly cores: number;
  /** The fraction of the time that each worker can run while all workers are busy: above 0, at most 1. */
  readonly share: number;
  /** The time at which the quota will have covered all used processor time (int64, microseconds of the monotonic clock). */
  readonly paidUntil: SharedArrayBuffer;
}

/** Returns null without a quota. @param quota the cores that the whole process can use; Infinity without a quota. */
export function createQuotaBudget(quota: number, workers: number): QuotaBudget | null {
  if (quota === Number.POSITIVE_INFINITY) return null;
  const cores = (1 - EVENT_LOOP_SHARE) * quota;
  return { cores, share: Math.min(1, cores / workers), paidUntil: new SharedArrayBuffer(8) };
}

/**
 * Returns a function that charges a slice to the budget by the generic cell rate algorithm (ITU-T I.371). The function takes
 * the processor time and the elapsed time of the slice that just ended. The function returns the required pause in milliseconds.
 */
export function createQuotaThrottle(
  { cores, paidUntil }: QuotaBudget,
  clockMs = () => Number(process.hrtime.bigint()) / 1e6,
) {
  const cell = new BigInt64Array(paidUntil);
  return ({ usedMs, elapsedMs }: Record<"usedMs" | "elapsedMs", number>): number => {
    const nowMs = clockMs();
    for (;;) {
      const before = Atomics.load(cell, 0);
      const paidMs = Math.max(Number(before) / 1000, nowMs - elapsedMs - CREDIT_MS) + usedMs / cores;
      if (Atomics.compareExchange(cell, 0, before, BigInt(Math.round(1000 * paidMs))) === before)
        return Math.max(0, paidMs - nowMs);
    }
  };
}
