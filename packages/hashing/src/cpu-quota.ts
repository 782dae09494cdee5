/**
 * Counts the cores that this process can use and keeps the workers within the CPU quota of its control group. A process
 * that exhausts its quota is stopped with all its threads, the event loop too, until the period ends (Linux, sched-bwc).
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/** The part of a quota that is reserved for the event loop. */
const EVENT_LOOP_SHARE = 0.1;
/** Time that was not used before a slice can be used later up to this amount, which makes up for pauses that end late. */
const CREDIT_MS = 5;

/**
 * The affinity mask limited by the CPU quota, rounded up to whole cores: the throttle keeps the workers within the quota.
 * @param root the folder that contains `proc/self` and `sys/fs/cgroup`.
 */
export function availableCores(root = "/"): number {
  return Math.ceil(Math.min(affinityCores(root), quotaCores(root)));
}

/** On Linux, from the affinity mask (proc_pid_status(5)): Bun's `availableParallelism` rounds a CPU quota down. */
function affinityCores(root: string): number {
  const status = readText(join(root, "proc/self/status"));
  const ranges = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1]?.split(",");
  const sizes = ranges?.map((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return last - first + 1;
  });
  return sizes?.reduce((total, size) => total + size) ?? availableParallelism();
}

/** The lowest CPU quota of this process's control groups, in cores; Infinity without a quota. */
export function quotaCores(root = "/"): number {
  const groups = readText(join(root, "proc/self/cgroup")).split("\n");
  const quotas = groups.flatMap((line) => {
    // Version 2 has no list of controllers, and one mount.
    const [, controllers, ...path] = line.split(":");
    const isV1 = controllers?.split(",").includes("cpu");
    if (controllers !== "" && !isV1) return [];
    const mounts = isV1 ? ["cpu", "cpu,cpuacct"] : [""];
    return mounts.map((mount) => lowestQuota(join(root, "sys/fs/cgroup", mount), path.join(":")));
  });
  return Math.min(...quotas);
}

/**
 * The lowest quota on the path from the mount to the group, because a quota also limits the groups below it. In a
 * container the path can point outside the mount; the mount's own quota then applies.
 */
function lowestQuota(mount: string, path: string): number {
  const names = path.split("/").filter((name) => name !== "" && name !== "..");
  const folders = names.map((_, index) => join(mount, ...names.slice(0, index + 1)));
  return Math.min(...[mount, ...folders].map(quotaOf));
}

/**
 * The quota of one group. Version 2, `cpu.max`: "<quota µs or max> <period µs>" (Linux admin guide, cgroup-v2, CPU interface
 * files). Version 1: the same in two files, with a quota of -1 for none (Linux scheduler documentation, sched-bwc).
 */
function quotaOf(folder: string): number {
  const read = (name: string) => readText(join(folder, name));
  const text = read("cpu.max") || `${read("cpu.cfs_quota_us")} ${read("cpu.cfs_period_us")}`;
  const [quota = "", period = ""] = text.split(" ");
  const cores = Number.parseInt(quota, 10) / Number.parseInt(period, 10);
  return Number.isFinite(cores) && cores > 0 ? cores : Number.POSITIVE_INFINITY;
}

/** Empty if the file does not exist. */
function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** What the workers of a process share to keep within its CPU quota together. */
export interface QuotaBudget {
  /** The cores that all workers together can use, above 0. */
  readonly cores: number;
  /** The part of its time that each worker can use while all are busy, above 0, at most 1. */
  readonly share: number;
  /** The time until which the used processor time is paid (int64, microseconds of the monotonic clock). */
  readonly paidUntil: SharedArrayBuffer;
}

/** Null without a quota. @param quota in cores, for the whole process; Infinity without a quota. */
export function createQuotaBudget(quota: number, workers: number): QuotaBudget | null {
  if (quota === Number.POSITIVE_INFINITY) return null;
  const cores = (1 - EVENT_LOOP_SHARE) * quota;
  return { cores, share: Math.min(1, cores / workers), paidUntil: new SharedArrayBuffer(8) };
}

/**
 * Returns a function that charges the slice that just ended to the budget, and returns the pause in milliseconds after which
 * it is paid, 0 if none is due: the generic cell rate algorithm (ITU-T I.371). It takes the processor and the elapsed time.
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
