/** Compares two routes on PostgreSQL, through all middleware, with the same queries over the bare driver. */
import { parseArgs } from "node:util";
import { openFolder } from "@latchkey/testing/folder";
import { describeMachine } from "@latchkey/testing/machine";
import { startService } from "@latchkey/testing/measured-service";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { driver } from "./load.ts";
import { compare, describeRounds, print, ratePercent } from "./rounds.ts";
import { seed, startBare } from "./servers.ts";

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
  await using service = await startService(folder, { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize });
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
print(`\n${describeMachine()}`);
