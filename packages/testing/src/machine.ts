/** Describes the machine, because benchmark results are meaningless without it. */
import { availableParallelism, cpus, loadavg, platform, release } from "node:os";

/** One line: processor, cores, operating system, Bun, and the current load average over 1, 5 and 15 minutes. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const load = loadavg().map((minutes) => minutes.toFixed(2));
  return [
    model,
    `${availableParallelism()} cores`,
    `${platform()} ${release()}`,
    `Bun ${Bun.version}`,
    `load average ${load.join(" ")}`,
  ].join(", ");
}
