/** The same comparison as `bun run bench http`, on PostgreSQL, and without prepared statements, as through a pooler. */
import { parseOptions } from "@latchkey/testing/benchmark";
import { startService } from "@latchkey/testing/measured-service";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { seed } from "./support/clients.ts";
import { compareRoutes, startElysia } from "./support/compare.ts";

const options = parseOptions({ rounds: 5, seconds: 2, connections: 32, "pool-size": 10 });

const poolSize = String(options["pool-size"]);
await using server = await startPostgresServer();
const url = await server.createDatabase();
const env = { NODE_ENV: "production", DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize };
await using service = await startService(env);
await using unprepared = await startService({ ...env, DATABASE_PREPARED_STATEMENTS: "false" });
const headers = await seed(service.url);
await using elysia = await startElysia(url, poolSize);
const servers = { Latchkey: service, "Latchkey, unprepared": unprepared, "Elysia + Bun.sql": elysia };
await compareRoutes(servers, { ...options, headers });
