/** A plan and a validation as lines for people. */
import type { Capacity } from "../plan/capacity-file.ts";
import type { Plan } from "../plan/planner.ts";
import type { Interval } from "../plan/repeated-simulation.ts";
import { QUERIES_PER_LOGIN, SCRIPTS_PER_LOGIN } from "../plan/stores.ts";
import type { Comparison } from "../plan/validate.ts";

/** Grouped in threes, with as many decimals as a figure of its size bears. */
export function figure(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : 1;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const percent = (share: number): string => `${figure(100 * share)} %`;
const milliseconds = (interval: Interval): string =>
  `${figure(interval.middle)} ms (${figure(interval.low)} to ${figure(interval.high)})`;

const MODEL = [
  "Model: a replica is one station whose speed depends on how many logins are in it, as a closed loop measured it",
  "(Chandy, Herzog and Woo 1975). The mean is that of processor sharing (Cohen 1979); percentiles are simulated,",
  "ten times, with their lowest and highest. Assumed: workers share nothing, so twice the cores do twice the work,",
  "and a balancer that picks at random leaves Poisson arrivals. docs/capacity.md says how well it predicts.",
];

export function describePlan(plan: Plan, capacity: Capacity): string {
  const { asked, replica, stores } = plan;
  const lines = [
    `${figure(asked.loginsPerSecond)} logins/s, 99 % of them within ${figure(asked.p99Ms)} ms:`,
    "",
    row("replicas", `${figure(plan.replicas)}: ${carrying(plan)} the load, one more may fail`),
    row("cores", `${figure(plan.cores)}: ${replica.cores} for the hash workers of each replica`),
    row("a replica", rates(plan)),
    row("memory", memory(stores.memoryMegabytes)),
    row("PostgreSQL", queries(plan)),
    ...connections(plan).map((line) => row("", line)),
    row("Redis", scripts(plan)),
    "",
    "A replica while one is missing:",
    "",
    ...prediction(plan),
    "",
    ...source(capacity),
    ...MODEL,
  ];
  return `${lines.join("\n")}\n`;
}

const row = (name: string, text: string): string => `  ${name.padEnd(12)}${text}`.trimEnd();

function rates({ asked, replica }: Plan): string {
  return (
    `${figure(replica.perSecond)} logins/s while one is missing; up to ${figure(replica.highestPerSecond)} hold the ` +
    `bound, ${figure(asked.headroomPercent)} % of which is left free`
  );
}

const queries = ({ stores }: Plan): string =>
  `${figure(stores.postgres.queriesPerSecond)} queries/s: ${QUERIES_PER_LOGIN} a login, a row by its e-mail; nothing is written`;

function connections({ asked, replicas, stores: { postgres } }: Plan): string[] {
  const held = `${figure(postgres.connections)} connections (${replicas} × DATABASE_POOL_SIZE=${asked.poolSize})`;
  const all = `${held}, ${figure(postgres.connectionsAtMost)} while pools are replaced`;
  const limit = `max_connections=${postgres.maxConnections}`;
  if (!postgres.isTooMany) return [`${all}: within ${limit}`];
  return [all, `more than ${limit} bears: lower the first, raise the second, or put a pooler between`];
}

const carrying = ({ replicas }: Plan): string =>
  replicas === 2 ? "1 carries" : `${figure(replicas - 1)} carry`;
const memory = (megabytes: number): string =>
  megabytes < 1000 ? `${figure(megabytes)} MB` : `${figure(megabytes / 1000)} GB`;

const scripts = ({ stores }: Plan): string =>
  `${figure(stores.redis.scriptsPerSecond)} scripts/s: ${SCRIPTS_PER_LOGIN} a login, where REDIS_URL shares the limits`;

function prediction({
  prediction: { utilisation, meanByFormulaMs, shedProbability, simulated },
}: Plan): string[] {
  return [
    row("utilisation", percent(utilisation)),
    row("mean", `${figure(meanByFormulaMs)} ms by formula, ${milliseconds(simulated.meanMs)} simulated`),
    row("p50", milliseconds(simulated.p50)),
    row("p95", milliseconds(simulated.p95)),
    row("p99", milliseconds(simulated.p99)),
    row(
      "shed",
      `${shedProbability < 1e-6 ? "fewer than one in a million" : percent(shedProbability)} by formula`,
    ),
  ];
}

function source({ machine, kernel, path, startedAt }: Capacity): string[] {
  const measured = `${machine}${kernel === null ? "" : `, kernel ${kernel}`}, ${startedAt.slice(0, 10)}`;
  if (path !== null) return [`Measured: ${path}, on ${measured}.`];
  return [
    `Measured on a machine that is not yours: ${measured}.`,
    "For your own: bun run loadtest --url URL --find-capacity --metrics URL --report capacity, then --capacity capacity.json.",
  ];
}

/** A table with a row for each share of the capacity. */
export function describeComparisons(comparisons: readonly Comparison[]): string {
  const header = [
    "capacity",
    "asked/s",
    "measured/s",
    "predicted/s",
    "",
    "p99 ms",
    "predicted",
    "",
    "repeated",
    "",
  ];
  const rows = comparisons.map((comparison) => [
    `${comparison.sharePercent} %`,
    figure(comparison.ratePerSecond),
    figure(comparison.perSecond.measured),
    figure(comparison.perSecond.predicted),
    signed(comparison.perSecond.errorPercent),
    figure(comparison.p99.measured),
    figure(comparison.p99.predicted),
    signed(comparison.p99.errorPercent),
    `${figure(comparison.p99.repeated.low)} to ${figure(comparison.p99.repeated.high)}`,
    comparison.agrees ? "agrees" : "DIFFERS",
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padStart(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  const warnings = comparisons.flatMap(({ sharePercent, bottleneck }) =>
    bottleneck === null ? [] : [`WARNING: at ${sharePercent} % the tester was the bottleneck: ${bottleneck}`],
  );
  return `${[...[header, ...rows].map(line), ...warnings].join("\n")}\n`;
}

const signed = (errorPercent: number): string => `${errorPercent < 0 ? "" : "+"}${errorPercent.toFixed(1)} %`;
