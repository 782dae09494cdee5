/** The command `plan`: the options and the output. */
import { parseNumber, parseWholeNumber, requireText, write } from "@latchkey/cli";
import type { Command } from "commander";
import { createPlan, type Plan, readCapacity } from "../capacity/plan.ts";
import { formatCount, formatDecimals, formatMs, formatOffered } from "../report/format.ts";
import type { Texts } from "./options.ts";

interface PlanFlags extends Texts<"headroom" | "poolSize">, Partial<Texts<"loginsPerSecond" | "capacity">> {
  readonly json?: boolean;
}

export function addPlanCommand(program: Command): void {
  // By default, commander parses an option after `plan`, such as `--json`, as the program's option of the same name.
  program.enablePositionalOptions();
  program
    .command("plan")
    .description("calculate replicas, connections and queries for a load of logins")
    .option("--capacity <file>", "the JSON file that --find-capacity --report has written")
    .option("--logins-per-second <rate>", "the load, 0.1 to 1000000")
    .option("--headroom <percent>", "unused part of the capacity of each replica, 0 to 90", "20")
    .option("--pool-size <count>", "DATABASE_POOL_SIZE of a replica, 1 to 1000", "10")
    .option("--json", "print JSON instead of text")
    .action(async ({ capacity, loginsPerSecond, headroom, poolSize, json }: PlanFlags) => {
      const rate = { name: "--logins-per-second", text: loginsPerSecond };
      const asked = {
        loginsPerSecond: parseNumber(rate, { min: 0.1, max: 1_000_000 }),
        headroomPercent: parseNumber({ name: "--headroom", text: headroom }, { min: 0, max: 90 }),
        poolSize: parseWholeNumber({ name: "--pool-size", text: poolSize }, { min: 1, max: 1000 }),
      };
      const plan = createPlan(asked, await readCapacity(requireText({ name: "--capacity", text: capacity })));
      await write(json ? `${JSON.stringify(plan)}\n` : describePlan(plan));
    });
}

function describePlan(plan: Plan): string {
  const { asked, measured, loginsPerReplica } = plan;
  const [connections, most] = [plan.connections, plan.connectionsAtMost].map(formatCount);
  const rate = (perSecond: number) => formatDecimals(perSecond, 1);
  const rows = [
    ["replicas", `${formatCount(plan.replicas)}, one of them spare`],
    [
      "a replica",
      `${rate(loginsPerReplica)} logins/s while the spare is down: at most ${rate(measured.loginsPerSecond)} minus ${asked.headroomPercent} %`,
    ],
    ["memory", `${formatDecimals(plan.memoryMegabytes / 1000, 1)} GB`],
    ["PostgreSQL", `${formatOffered(plan.queriesPerSecond)} queries/s, each a row by e-mail`],
    ["", `${connections} connections, ${most} while pools are replaced`],
    ["Redis", `${formatOffered(plan.scriptsPerSecond)} scripts/s if REDIS_URL is set`],
  ];
  return `${formatOffered(asked.loginsPerSecond)} logins/s with p99 within ${formatMs(measured.p99BoundMs)} ms:

${rows.map(([name = "", text = ""]) => `  ${name.padEnd(12)}${text}\n`).join("")}
Measured on ${measured.machine}, ${measured.startedAt.slice(0, 10)}.
`;
}
