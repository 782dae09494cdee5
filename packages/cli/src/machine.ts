/** Identifies the machine of a measurement, because figures from different machines cannot be compared. */
import { availableParallelism, cpus, loadavg, platform, release } from "node:os";

/**
 * Returns one line: processor, cores, operating system and version of Bun.
 * @param options `loadAverage`: add the load average over 1, 5 and 15 minutes. @default true
 */
export function describeMachine({ loadAverage = true } = {}): string {
  const averages = loadavg().map((average) => average.toFixed(2));
  return [
    cpus()[0]?.model.trim() ?? "unknown processor",
    `${availableParallelism()} cores`,
    `${platform()} ${release()}`,
    `Bun ${Bun.version}`,
    ...(loadAverage ? [`load average ${averages.join(" ")}`] : []),
  ].join(", ");
}
