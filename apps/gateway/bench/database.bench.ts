/** The same comparison as `bun run bench http`, on PostgreSQL. */
import { parseOptions } from "@latchkey/testing/benchmark";
import { startService } from "@latchkey/testing/measured-service";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { compareRoutes } from "./support/compare.ts";
import { seed, startElysia } from "./support/servers.ts";

const options = parseOptions({ rounds: 5, seconds: 2, connections: 32, "pool-size": 10 });

const poolSize = String(options["pool-size"]);
await using server = await startPostgresServer();
const url = await server.createDatabase();
await using service = await startService({
  NODE_ENV: "production",
  DATABASE_URL: url,
  DATABASE_POOL_SIZE: poolSize,
});
const headers = await seed(service.url);
await using elysia = await startElysia("elysia-postgres.ts", url, poolSize);
await compareRoutes({ Latchkey: service, "Elysia + Bun.sql": elysia }, { ...options, headers });
