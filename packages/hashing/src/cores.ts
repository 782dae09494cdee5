/** Counts the cores that this process may use: its affinity mask, cut by the CPU quota of its control group. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/** What `availableCores` reads; every member has the running system as its default. */
export interface CoresSource {
  /** Folder that holds `proc/self/cgroup` and `sys/fs/cgroup`. @default "/" */
  readonly root?: string;
  /** Cores of the affinity mask. @default os.availableParallelism() */
  readonly affinity?: number;
}

/** Whole cores, at least 1; part of a core in a quota counts as none, so that the quota is not overdrawn. */
export function availableCores(source: CoresSource = {}): number {
  const { root = "/", affinity = availableParallelism() } = source;
  return Math.max(1, Math.floor(Math.min(affinity, quotaCores(root))));
}

/** Cores that the tightest control group above this process grants; Infinity without a quota. */
export function quotaCores(root = "/"): number {
  const groups = read(join(root, "proc/self/cgroup")) ?? "";
  let cores = Number.POSITIVE_INFINITY;
  for (const line of groups.split("\n")) {
    const [hierarchy, controllers, ...rest] = line.split(":");
    const path = rest.join(":");
    if (hierarchy === "0" && controllers === "") {
      cores = Math.min(cores, tightest(join(root, "sys/fs/cgroup"), path, quotaV2));
    } else if (controllers?.split(",").includes("cpu")) {
      cores = Math.min(cores, tightest(join(root, "sys/fs/cgroup/cpu"), path, quotaV1));
      cores = Math.min(cores, tightest(join(root, "sys/fs/cgroup/cpu,cpuacct"), path, quotaV1));
    }
  }
  return cores;
}

/** A quota binds the groups below it too; in a container the path may lie outside the mount, whose top then counts. */
function tightest(mount: string, path: string, quota: (folder: string) => number): number {
  let cores = quota(mount);
  let folder = mount;
  for (const name of path.split("/")) {
    if (name === "" || name === "..") continue;
    folder = join(folder, name);
    cores = Math.min(cores, quota(folder));
  }
  return cores;
}

/** cgroup v2, `cpu.max`: "<quota µs or max> <period µs>" (Linux admin guide, cgroup-v2, CPU interface files). */
function quotaV2(folder: string): number {
  const [quota, period] = (read(join(folder, "cpu.max")) ?? "").trim().split(" ");
  return ratio(quota, period);
}

/** cgroup v1: quota in µs, -1 for none (Linux scheduler documentation, sched-bwc). */
function quotaV1(folder: string): number {
  return ratio(read(join(folder, "cpu.cfs_quota_us")), read(join(folder, "cpu.cfs_period_us")));
}

function ratio(quota: string | undefined, period: string | undefined): number {
  const cores = Number.parseInt(quota ?? "", 10) / Number.parseInt(period ?? "", 10);
  return Number.isFinite(cores) && cores > 0 ? cores : Number.POSITIVE_INFINITY;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
