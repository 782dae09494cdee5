/**
 * Programs in namespaces of their own. As process 1, as in a container without an init process, signals without a handler have
 * no effect, except SIGKILL. Requires Linux, and permission to create namespaces.
 */
import { readFileSync } from "node:fs";

/** Runs the program in the arguments that follow. The program is a child of `unshare` and ends with `unshare`. */
export const UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

/** Whether this system can run a program as process 1. */
export const canBeProcess1 =
  Bun.which("unshare") !== null && Bun.spawnSync([...UNSHARE, "true"]).exitCode === 0;

/** Runs the program in the arguments that follow with this file as `/etc/hosts`. The program replaces `unshare`. */
export const withHosts = (file: string): string[] => [
  "unshare",
  "--mount",
  "sh",
  "-c",
  'mount --bind "$0" /etc/hosts && exec "$@"',
  file,
];

/** Whether this process can replace `/etc/hosts` for another one. Requires Linux and root. */
export const canReplaceHosts =
  Bun.which("unshare") !== null && Bun.spawnSync([...withHosts("/etc/hosts"), "true"]).exitCode === 0;

/** Returns the process id of the program that {@link UNSHARE} starts. Blocks until it is started, a few milliseconds. */
export function childOf(unshare: Bun.Subprocess): number {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const children = readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, "utf8");
    if (children !== "") return Number.parseInt(children, 10);
  }
  throw new Error("unshare has started no program");
}
