/** `plan` and `validate` on the command line: arguments to figures to text. */
import type { Command } from "commander";
import { EXIT, LoadtestError } from "../errors.ts";
import { readCapacity } from "../plan/capacity-file.ts";
import { createPlan, type PlanAsked } from "../plan/planner.ts";
import { withWorkers } from "../plan/service-model.ts";
import { type Comparison, validate } from "../plan/validate.ts";
import { describeComparisons, describePlan } from "../report/plan-text.ts";
import { expectText, parseMilliseconds, parseNumber, parseOrigin, parseWhole } from "./arguments.ts";

/** The hash workers of as many cores still leave the one thread that speaks HTTP most of its time. */
const MAX_CORES = 64;

export interface PlanCommandsOptions {
  /** Takes results. */
  readonly write: (text: string) => void;
  /** Takes progress. */
  readonly note: (text: string) => void;
  /** Ends a validation early. */
  readonly signal: AbortSignal;
}

/** Adds the two commands. Their actions throw LoadtestError: 64 for a wrong argument, 1 where model and service differ. */
export function addPlanCommands(program: Command, options: PlanCommandsOptions): void {
  // Otherwise the program's own options of the same names would be taken from behind the command.
  program.enablePositionalOptions();
  addPlan(program, options);
  addValidate(program, options);
}

interface PlanFlags {
  readonly loginsPerSecond?: string;
  readonly p99: string;
  readonly capacity?: string;
  readonly coresPerReplica?: string;
  readonly headroom: string;
  readonly poolSize: string;
  readonly maxConnections: string;
  readonly json?: boolean;
}

function addPlan(program: Command, { write }: PlanCommandsOptions): void {
  program
    .command("plan")
    .description("say how many replicas and cores a load of logins needs, and what it asks of the stores")
    .option("--logins-per-second <rate>", "the load, 0.1 to 1000000")
    .option("--p99 <time>", "99 % of the logins are to be answered within it, such as 800ms", "1s")
    .option(
      "--capacity <file>",
      "what --find-capacity --report wrote  (a reference that is not your machine)",
    )
    .option("--cores-per-replica <count>", "hash workers of one replica, 1 to 64  (as many as measured)")
    .option("--headroom <percent>", "what each replica keeps free of its highest rate, 0 to 90", "20")
    .option("--pool-size <count>", "DATABASE_POOL_SIZE of a replica, 1 to 1000", "10")
    .option("--max-connections <count>", "of the PostgreSQL server, 1 to 100000", "100")
    .option("--json", "print JSON instead of text")
    .action(async (flags: PlanFlags) => {
      const asked = parsePlan(flags);
      const coresPerReplica = parseCores(flags.coresPerReplica);
      const capacity = await readCapacity(flags.capacity ?? null);
      const service = withWorkers(capacity.service, coresPerReplica ?? capacity.service.workers);
      const plan = createPlan(asked, service);
      const { machine, kernel, path, startedAt } = capacity;
      const measured = { file: path, machine, kernel, startedAt };
      write(flags.json ? `${JSON.stringify({ ...plan, measured })}\n` : describePlan(plan, capacity));
    });
}

const parsePlan = ({ loginsPerSecond, p99, headroom, poolSize, maxConnections }: PlanFlags): PlanAsked => ({
  loginsPerSecond: parseNumber(
    { name: "--logins-per-second", text: loginsPerSecond },
    { min: 0.1, max: 1_000_000 },
  ),
  p99Ms: parseMilliseconds({ name: "--p99", text: p99 }),
  headroomPercent: parseNumber({ name: "--headroom", text: headroom }, { min: 0, max: 90 }),
  poolSize: parseWhole({ name: "--pool-size", text: poolSize }, { min: 1, max: 1000 }),
  maxConnections: parseWhole({ name: "--max-connections", text: maxConnections }, { min: 1, max: 100_000 }),
});

const parseCores = (text: string | undefined): number | null =>
  text === undefined ? null : parseWhole({ name: "--cores-per-replica", text }, { min: 1, max: MAX_CORES });

interface ValidateFlags {
  readonly url?: string;
  readonly capacity?: string;
  readonly duration: string;
  readonly seed: string;
  readonly json?: boolean;
}

function addValidate(program: Command, { write, note, signal }: PlanCommandsOptions): void {
  program
    .command("validate")
    .description("compare the planner's model with the service, at 50, 70, 80 and 95 % of its capacity")
    .option("--url <url>", "where the service listens; its rate limits are to be off")
    .option("--capacity <file>", "what --find-capacity --report wrote of this service, shortly before")
    .option("--duration <seconds>", "of each run, 5 to 600", "60")
    .option("--seed <number>", "of the arrivals, 0 to 1000000000", "1000")
    .option("--json", "print JSON instead of a table")
    .action(async (flags: ValidateFlags) => {
      const url = parseOrigin({ name: "--url", text: flags.url });
      const path = expectText({ name: "--capacity", text: flags.capacity });
      const durationSeconds = parseWhole({ name: "--duration", text: flags.duration }, { min: 5, max: 600 });
      const seed = parseWhole({ name: "--seed", text: flags.seed }, { min: 0, max: 1_000_000_000 });
      const { service } = await readCapacity(path);
      const comparisons = await validate({
        service,
        url,
        durationSeconds,
        seed,
        signal,
        onShare: (percent, rate) =>
          note(`${percent} % of capacity: ${rate.toFixed(1)} logins/s for ${durationSeconds} s\n`),
      });
      write(flags.json ? `${JSON.stringify(comparisons)}\n` : describeComparisons(comparisons));
      expectAgreement(comparisons);
    });
}

function expectAgreement(comparisons: readonly Comparison[]): void {
  const differing = comparisons
    .filter(({ agrees }) => !agrees)
    .map(({ sharePercent }) => `${sharePercent} %`);
  if (differing.length === 0) return;
  throw new LoadtestError(
    `Model and service differ at ${differing.join(", ")} of the capacity.`,
    EXIT.failed,
  );
}
