/**
 * What the databases and the service before them cost: two routes on PostgreSQL through every layer against their queries
 * over the bare driver, and a page of todos wherever it starts, on both databases.
 */
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/tooling/machine";
import { startPostgresServer } from "@latchkey/tooling/postgres-server";
import { reportLibsqlPages, reportPostgresPages } from "../../../packages/database/bench/pages.ts";
import { driver } from "./load.ts";
import { compare, describeRounds, print, ratePercent } from "./rounds.ts";
import { openFolder, seed, startBare, startService } from "./servers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "32" },
    "pool-size": { type: "string", default: "10" },
  },
});
const rounds = Number(values.rounds);
const load = { seconds: Number(values.seconds), connections: Number(values.connections) };
const poolSize = values["pool-size"];
const AIM_PERCENT = 50;

print(describeMachine());
await using server = await startPostgresServer();
{
  const url = await server.createDatabase();
  await using folder = await openFolder();
  await using service = await startService(folder.path, { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize });
  const headers = await seed(service.url);
  await using yardstick = await startBare("bare-queries.ts", url, poolSize);
  print(
    `\nPostgreSQL, ${poolSize} connections to it in each process; ${rounds} rounds of ${load.seconds} s,`,
  );
  print(`${load.connections} connections of clients, driven by ${driver}`);
  for (const path of ["/auth/me", "/todos?limit=20"]) {
    const results = await compare({ service, yardstick, path, headers, load, rounds });
    const percent = ratePercent(results);
    const verdict = percent >= AIM_PERCENT ? "at least" : "less than";
    print(`${path}: ${percent.toFixed(0)} % of the bare queries: ${verdict} the aim of ${AIM_PERCENT} %`);
    print(`  all layers ${describeRounds(results.service)}`);
    print(`  bare       ${describeRounds(results.yardstick)}`);
  }
}
await reportLibsqlPages();
await reportPostgresPages(server);
print(`\n${describeMachine()}`);
