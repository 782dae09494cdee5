/** `hash …`: measures password hashing on this machine, with the workers and the kernel that the service would use. */
import { cpus } from "node:os";
import { parseWholeNumber, toJson, write, writeError } from "@latchkey/cli";
import { createHasher } from "@latchkey/hashing";
import { Command } from "commander";
import { readVariables, type Variables } from "../environment.ts";
import { JSON_OPTION, withExamples } from "./help.ts";

export function hashCommand(variables: Variables): Command {
  const bench = withExamples(
    new Command("bench"),
    ["bun run admin hash bench", "HASH_WORKERS=1 HASH_KERNEL=portable bun run admin hash bench --seconds 10"],
    "Uses all cores of the workers, and so slows down a service on this machine.\nHASH_WORKERS and HASH_KERNEL work as they do for the service.",
  )
    .description("print how many logins per second this machine can verify")
    .option("--seconds <count>", "duration of the measurement, 1 to 60", "3")
    .option(...JSON_OPTION)
    .action(async ({ seconds, json = false }: { seconds: string; json?: boolean }) => {
      const duration = parseWholeNumber({ name: "--seconds", text: seconds }, { min: 1, max: 60 });
      const { HASH_KERNEL, HASH_WORKERS } = readVariables(["HASH_KERNEL", "HASH_WORKERS"], variables);
      const workers = HASH_WORKERS !== null && { workers: HASH_WORKERS };
      const capacity = await measureCapacity({ kernel: HASH_KERNEL, ...workers }, duration);
      await write(`${json ? toJson(capacity) : describeCapacity(capacity)}\n`);
      if (!json && capacity.other_cores > MAX_OTHER_CORES)
        writeError(
          `Other processes used ${capacity.other_cores.toFixed(1)} cores meanwhile: stop them and measure again.\n`,
        );
    });
  return new Command("hash").description("measure password hashing on this machine").addCommand(bench);
}

/** On an idle system, all other processes together use fewer cores than this number. */
const MAX_OTHER_CORES = 0.2;

/** Returns the CPU time of all other processes of this machine. */
function otherCpuMs(): number {
  const { user, system } = process.cpuUsage();
  const busyMs = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  return busyMs - (user + system) / 1000;
}

/**
 * A round consists of as many derivations as can run concurrently. The first round is a warm-up and is not measured.
 * @param seconds the approximate duration of the measured rounds; at least one round is measured
 */
async function measureCapacity(options: { kernel: string; workers?: number }, seconds: number) {
  // The limits of the queue are larger than any measurement, so no derivation is rejected.
  await using hasher = createHasher({ ...options, queueLimit: 1_000_000, queueSeconds: 3600 });
  const { lanes } = hasher.stats();
  /** Returns the seconds of `count` concurrent derivations, a multiple of `lanes`: no lane is idle in the last round. */
  const timeDerivations = async (count: number): Promise<number> => {
    const start = performance.now();
    await Promise.all(Array.from({ length: count }, () => hasher.hash("capacity")));
    return (performance.now() - start) / 1000;
  };
  const derivations = lanes * Math.max(1, Math.round(seconds / (await timeDerivations(lanes))));
  const otherMs = otherCpuMs();
  const elapsedSeconds = await timeDerivations(derivations);
  const otherCores = (otherCpuMs() - otherMs) / 1000 / elapsedSeconds;
  const stats = hasher.stats();
  return {
    kernel: stats.kernel,
    workers: stats.workers,
    /** The number of concurrent derivations of all workers together. */
    lanes,
    derivations_per_second: Math.round((10 * derivations) / elapsedSeconds) / 10,
    /** The reason why a faster kernel of this machine is not used; null if the fastest kernel is used. */
    fallback_reason: stats.fallbackReason,
    /**
     * The number of cores that other processes used during the measurement. The value is not exact, because the CPU times of the
     * machine and of this process come from different clocks.
     */
    other_cores: Math.max(0, Math.round(100 * otherCores) / 100),
  };
}

function describeCapacity(capacity: Awaited<ReturnType<typeof measureCapacity>>): string {
  const { kernel, workers, lanes, derivations_per_second: perSecond, fallback_reason: reason } = capacity;
  return (
    `This machine verifies ${perSecond.toFixed(1)} logins per second (one derivation of 600,000 iterations each) ` +
    `with the ${kernel} kernel in ${count(workers, "worker")} of ${count(lanes / workers, "lane")}` +
    (reason === null ? "." : `; a faster kernel is not used: ${reason}.`)
  );
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
