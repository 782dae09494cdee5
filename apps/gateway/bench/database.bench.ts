/** The same comparison as `http.bench.ts` on PostgreSQL. */
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { describeLoad } from "./support/compare.ts";
import { parseOptions, print } from "./support/options.ts";
import { compareRoutes } from "./support/routes.ts";
import { seed, startElysia } from "./support/servers.ts";

const options = parseOptions({ rounds: 5, seconds: 2, connections: 32, "pool-size": 10 });

const poolSize = String(options["pool-size"]);
print(describeMachine());
await using server = await startPostgresServer();
const url = await server.createDatabase();
await using folder = await openFolder();
const env = { NODE_ENV: "production", DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize };
await using service = await startService(folder, env);
const { authorization } = await seed(service.url);
await using elysia = await startElysia("elysia-postgres.ts", url, poolSize);
print(`PostgreSQL, ${poolSize} database connections per process; ${describeLoad(options)}`);
await compareRoutes({
  servers: { Latchkey: service, "Elysia + `Bun.sql`": elysia },
  authorization,
  ...options,
});
print(`\n${describeMachine()}`);
