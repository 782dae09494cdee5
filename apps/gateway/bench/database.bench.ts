/** Compares two routes on PostgreSQL with a server that runs the same queries with the driver only. */
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { compare, describeLoad, describeRounds, ratePercent } from "./support/compare.ts";
import { parseOptions, print } from "./support/options.ts";
import { seed, startBaseline } from "./support/servers.ts";

const options = parseOptions({ rounds: 5, seconds: 2, connections: 32, "pool-size": 10 });
const TARGET_PERCENT = 50;

const poolSize = String(options["pool-size"]);
print(describeMachine());
await using server = await startPostgresServer();
const url = await server.createDatabase();
await using folder = await openFolder();
await using service = await startService(folder, { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize });
const headers = await seed(service.url);
await using baseline = await startBaseline("baseline-queries.ts", url, poolSize);
print(`\nPostgreSQL, ${poolSize} database connections per process; ${describeLoad(options)}`);
for (const path of ["/auth/me", "/todos?limit=20"]) {
  const results = await compare({ service, baseline, path, headers, ...options });
  const percent = ratePercent(results);
  const comparison = percent >= TARGET_PERCENT ? "at least" : "less than";
  print(`${path}: ${percent.toFixed(0)} % of the baseline: ${comparison} the target of ${TARGET_PERCENT} %`);
  print(`  service  ${describeRounds(results.service)}`);
  print(`  baseline ${describeRounds(results.baseline)}`);
}
print(`\n${describeMachine()}`);
