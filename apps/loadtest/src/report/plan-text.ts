/** A plan and a validation as text for a terminal. */
import type { Capacity } from "../plan/capacity-file.ts";
import { type Plan, QUERIES_PER_LOGIN, SCRIPTS_PER_LOGIN } from "../plan/planner.ts";
import type { Interval } from "../plan/simulation.ts";
import type { Compared, Comparison } from "../plan/validate.ts";
import { alignTable, formatDecimals } from "./format.ts";

const figure = (value: number): string =>
  formatDecimals(value, Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : 1);
const percent = (proportion: number): string => `${figure(100 * proportion)} %`;
const range = ({ low, high }: Interval): string => `${figure(low)} to ${figure(high)}`;
const milliseconds = (interval: Interval): string => `${figure(interval.middle)} ms (${range(interval)})`;

const MODEL = [
  "Model: a replica is one station whose speed depends on the number of logins in it, as measured by a closed loop",
  "(Chandy, Herzog and Woo 1975). The mean is that of processor sharing (Cohen 1979); percentiles are simulated ten",
  "times and printed with their minimum and maximum. Assumptions: workers share nothing, so twice the cores have twice",
  "the capacity, and the balancer preserves Poisson arrivals. Accuracy: see docs/capacity.md.",
];

export function describePlan(plan: Plan, capacity: Capacity): string {
  const { asked, replica, replicas, stores } = plan;
  const active = replicas === 2 ? "1 handles" : `${figure(replicas - 1)} handle`;
  const { memoryMegabytes: megabytes } = stores;
  const lines = [
    `${figure(asked.loginsPerSecond)} logins/s, 99 % of them within ${figure(asked.p99Ms)} ms:`,
    "",
    row("replicas", `${figure(replicas)}: ${active} the load, one is spare`),
    row("cores", `${figure(plan.cores)}: ${replica.cores} for the hash workers of each replica`),
    row(
      "a replica",
      `${figure(replica.perSecond)} logins/s while one is missing; at most ${figure(replica.highestPerSecond)} within the ` +
        `bound, minus ${figure(asked.headroomPercent)} % headroom`,
    ),
    row("memory", megabytes < 1000 ? `${figure(megabytes)} MB` : `${figure(megabytes / 1000)} GB`),
    row(
      "PostgreSQL",
      `${figure(stores.postgres.queriesPerSecond)} queries/s: ${QUERIES_PER_LOGIN} per login, each a row by e-mail; one write per network and day`,
    ),
    ...connections(plan).map((line) => row("", line)),
    row(
      "Redis",
      `${figure(stores.redis.scriptsPerSecond)} scripts/s: ${SCRIPTS_PER_LOGIN} per login, if REDIS_URL is set`,
    ),
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

function connections({ asked, replicas, stores: { postgres } }: Plan): string[] {
  const normal = `${figure(postgres.connections)} connections (${replicas} × DATABASE_POOL_SIZE=${asked.poolSize})`;
  const all = `${normal}, ${figure(postgres.connectionsAtMost)} while pools are replaced`;
  const limit = `max_connections=${postgres.maxConnections}`;
  if (!postgres.isTooMany) return [`${all}: within ${limit}`];
  return [all, `exceeds ${limit}: decrease the pool size, increase max_connections or add a pooler`];
}

function prediction({
  prediction: { utilisation, meanByFormulaMs, shedProbability, simulated },
}: Plan): string[] {
  const rejected = shedProbability < 1e-6 ? "less than one in a million" : percent(shedProbability);
  return [
    row("utilisation", percent(utilisation)),
    row(
      "mean",
      `at most ${figure(meanByFormulaMs)} ms by formula, ${milliseconds(simulated.meanMs)} simulated`,
    ),
    ...(["p50", "p95", "p99"] as const).map((name) => row(name, milliseconds(simulated[name]))),
    row("rejected", `${rejected} by formula`),
  ];
}

function source({ machine, kernel, path, startedAt }: Capacity): string[] {
  const measured = `${machine}${kernel === null ? "" : `, kernel ${kernel}`}, ${startedAt.slice(0, 10)}`;
  if (path !== null) return [`Measured: ${path}, on ${measured}.`];
  return [
    `Measured on a reference machine: ${measured}.`,
    "For your machine: bun run loadtest --url URL --find-capacity --metrics URL --report capacity, then --capacity capacity.json.",
  ];
}

/** A table with one row per percentage of the capacity. */
export function describeComparisons(comparisons: readonly Comparison[]): string {
  const errorOf = ({ errorPercent }: Compared) =>
    `${errorPercent < 0 ? "" : "+"}${errorPercent.toFixed(1)} %`;
  const rows = comparisons.map(({ sharePercent, ratePerSecond, perSecond, p99, agrees }) => [
    `${sharePercent} %`,
    figure(ratePerSecond),
    ...[figure(perSecond.measured), figure(perSecond.predicted), errorOf(perSecond)],
    ...[figure(p99.measured), figure(p99.predicted), errorOf(p99), range(p99.repeated)],
    agrees ? "agrees" : "DIFFERS",
  ]);
  const rates = ["offered/s", "measured/s", "predicted/s", ""];
  const header = ["capacity", ...rates, "p99 ms", "predicted", "", "repeated", ""];
  const warnings = comparisons.flatMap(({ sharePercent, bottleneck }) =>
    bottleneck === null
      ? []
      : [`WARNING: at ${sharePercent} % the load generator was the bottleneck: ${bottleneck}`],
  );
  return `${[...alignTable([header, ...rows], 0), ...warnings].join("\n")}\n`;
}
