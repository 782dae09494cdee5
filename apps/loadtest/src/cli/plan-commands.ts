/** The commands `plan` and `validate`. */
import { CliError, EXIT, parseNumber, parseWholeNumber, requireText, write, writeError } from "@latchkey/cli";
import type { Command } from "commander";
import { readCapacity } from "../plan/capacity-file.ts";
import { createPlan } from "../plan/planner.ts";
import { withWorkers } from "../plan/service-model.ts";
import { validate } from "../plan/validate.ts";
import { describeComparisons, describePlan } from "../report/plan-text.ts";
import { parseMilliseconds, parseOrigin, parseSeconds } from "./arguments.ts";
import type { Texts } from "./options.ts";

/** With this number of hash workers the one HTTP thread is still mostly idle. */
const MAX_CORES = 64;

/** @param signal ends a validation early */
export function addPlanCommands(program: Command, signal: AbortSignal): void {
  // Otherwise the program's options of the same name would be parsed after the command.
  program.enablePositionalOptions();
  addPlan(program);
  addValidate(program, signal);
}

interface PlanFlags
  extends Texts<"p99" | "headroom" | "poolSize" | "maxConnections">,
    Partial<Texts<"loginsPerSecond" | "capacity" | "coresPerReplica">> {
  readonly json?: boolean;
}

const whole = (name: string, text: string, min: number, max: number): number =>
  parseWholeNumber({ name, text }, { min, max });

function addPlan(program: Command): void {
  program
    .command("plan")
    .description("calculate the replicas, cores and stores for a load of logins")
    .option("--logins-per-second <rate>", "the load, 0.1 to 1000000")
    .option("--p99 <time>", "bound on the 99th percentile of the latency, such as 800ms", "1s")
    .option(
      "--capacity <file>",
      "report of --find-capacity --report  (default: a reference of another machine)",
    )
    .option("--cores-per-replica <count>", "hash workers per replica, 1 to 64  (default: as measured)")
    .option("--headroom <percent>", "unused part of the highest rate of each replica, 0 to 90", "20")
    .option("--pool-size <count>", "DATABASE_POOL_SIZE of a replica, 1 to 1000", "10")
    .option("--max-connections <count>", "max_connections of PostgreSQL, 1 to 100000", "100")
    .option("--json", "print JSON instead of text")
    .action(async (flags: PlanFlags) => {
      const asked = {
        loginsPerSecond: parseNumber(
          { name: "--logins-per-second", text: flags.loginsPerSecond },
          { min: 0.1, max: 1_000_000 },
        ),
        p99Ms: parseMilliseconds({ name: "--p99", text: flags.p99 }),
        headroomPercent: parseNumber({ name: "--headroom", text: flags.headroom }, { min: 0, max: 90 }),
        poolSize: whole("--pool-size", flags.poolSize, 1, 1000),
        maxConnections: whole("--max-connections", flags.maxConnections, 1, 100_000),
      };
      const { coresPerReplica: cores } = flags;
      const workers = cores === undefined ? null : whole("--cores-per-replica", cores, 1, MAX_CORES);
      const capacity = await readCapacity(flags.capacity ?? null);
      const plan = createPlan(asked, withWorkers(capacity.service, workers ?? capacity.service.workers));
      const { machine, kernel, path, startedAt } = capacity;
      const measured = { file: path, machine, kernel, startedAt };
      await write(flags.json ? `${JSON.stringify({ ...plan, measured })}\n` : describePlan(plan, capacity));
    });
}

interface ValidateFlags extends Texts<"duration" | "seed">, Partial<Texts<"url" | "capacity">> {
  readonly json?: boolean;
}

function addValidate(program: Command, signal: AbortSignal): void {
  program
    .command("validate")
    .description("compare the planner's model with the service, at 50, 70, 80 and 95 % of its capacity")
    .option("--url <url>", "URL of the service, which must run without rate limits")
    .option("--capacity <file>", "recent report of --find-capacity --report of this service")
    .option("--duration <time>", "duration of each run, 5s to 10m", "60s")
    .option("--seed <number>", "seed of the arrivals, 0 to 1000000000", "1000")
    .option("--json", "print JSON instead of a table")
    .action(async (flags: ValidateFlags) => {
      const url = parseOrigin({ name: "--url", text: flags.url });
      const path = requireText({ name: "--capacity", text: flags.capacity });
      const durationSeconds = parseSeconds(
        { name: "--duration", text: flags.duration },
        { min: 5, max: 600 },
      );
      const seed = whole("--seed", flags.seed, 0, 1_000_000_000);
      const { service } = await readCapacity(path);
      const onShare = (percent: number, rate: number) =>
        writeError(`${percent} % of capacity: ${rate.toFixed(1)} logins/s for ${durationSeconds} s\n`);
      const comparisons = await validate({ service, url, durationSeconds, seed, signal, onShare });
      await write(flags.json ? `${JSON.stringify(comparisons)}\n` : describeComparisons(comparisons));
      if (signal.aborted) throw new CliError("", EXIT.interrupted);
      const differing = comparisons.filter(({ agrees }) => !agrees);
      if (differing.length === 0) return;
      const shares = differing.map(({ sharePercent }) => `${sharePercent} %`);
      throw new CliError(`Model and service differ at ${shares.join(", ")} of the capacity.`, EXIT.failed);
    });
}
