/** What a report was measured on. */
import { availableParallelism, cpus } from "node:os";

/** Processor, cores and runtime of this machine, in one line. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return `${model}, ${availableParallelism()} cores, Bun ${Bun.version}`;
}
