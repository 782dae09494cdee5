/**
 * Counts the cores that this process can use and keeps the workers within the CPU quota of its control group. A process
 * that exhausts its quota is stopped with all its threads, the event loop too, until the period ends (Linux, sched-bwc).
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/** The part of a quota that is reserved for the event loop. */
const EVENT_LOOP_SHARE = 0.1;
/** Shorter pauses are accumulated, because timers have a resolution of whole milliseconds. */
const MIN_PAUSE_MS = 2;

/**
 * The affinity mask limited by the CPU quota: whole cores, rounded down so that the quota is not exceeded, at least 1.
 * @param root the folder that contains `proc/self/cgroup` and `sys/fs/cgroup`.
 */
export function availableCores(root = "/", affinity = availableParallelism()): number {
  return Math.max(1, Math.floor(Math.min(affinity, quotaCores(root))));
}

/** The lowest CPU quota of this process's control groups, in cores; Infinity without a quota. */
export function quotaCores(root = "/"): number {
  const groups = readText(join(root, "proc/self/cgroup")).split("\n");
  const quotas = groups.flatMap((line) => {
    const [hierarchy, controllers, ...rest] = line.split(":");
    const path = rest.join(":");
    const lowestIn = (mount: string, quota: typeof quotaV1) => lowestQuota(join(root, mount), path, quota);
    if (hierarchy === "0" && controllers === "") return lowestIn("sys/fs/cgroup", quotaV2);
    if (!controllers?.split(",").includes("cpu")) return [];
    return ["cpu", "cpu,cpuacct"].map((name) => lowestIn(`sys/fs/cgroup/${name}`, quotaV1));
  });
  return Math.min(...quotas);
}

/**
 * The lowest quota on the path from the mount to the group, because a quota also limits the groups below it. In a
 * container the path can point outside the mount; the mount's own quota then applies.
 */
function lowestQuota(mount: string, path: string, quota: (folder: string) => number): number {
  const names = path.split("/").filter((name) => name !== "" && name !== "..");
  const folders = names.map((_, index) => join(mount, ...names.slice(0, index + 1)));
  return Math.min(...[mount, ...folders].map(quota));
}

/** cgroup v2, `cpu.max`: "<quota µs or max> <period µs>" (Linux admin guide, cgroup-v2, CPU interface files). */
function quotaV2(folder: string): number {
  const [quota, period] = readText(join(folder, "cpu.max")).split(" ");
  return toCores(quota, period);
}

/** cgroup v1: quota in µs, -1 for none (Linux scheduler documentation, sched-bwc). */
function quotaV1(folder: string): number {
  return toCores(readText(join(folder, "cpu.cfs_quota_us")), readText(join(folder, "cpu.cfs_period_us")));
}

function toCores(quota = "", period = ""): number {
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

/**
 * The part of its time that each worker can spend on derivations, above 0, at most 1; 1 without a quota.
 * @param quota in cores, for the whole process; Infinity without a quota.
 */
export function quotaSharePerWorker({ quota, workers }: { quota: number; workers: number }): number {
  return Math.min(1, ((1 - EVENT_LOOP_SHARE) * quota) / workers);
}

/**
 * Returns a function that computes the pause after a slice of a given duration: whole milliseconds, 0 if none is due yet.
 * The pauses keep one worker within its quota share.
 * @param quotaShare above 0, at most 1.
 */
export function createQuotaThrottle(quotaShare: number): (sliceMs: number) => number {
  let dueMs = 0;
  return (sliceMs) => {
    dueMs += sliceMs * (1 / quotaShare - 1);
    if (dueMs < MIN_PAUSE_MS) return 0;
    const pauseMs = Math.floor(dueMs);
    dueMs -= pauseMs;
    return pauseMs;
  };
}
