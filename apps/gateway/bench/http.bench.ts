/**
 * Compares three routes on the embedded database, in the configuration of production, with small programs without
 * middleware that return the same bodies, and measures the memory of the service.
 */
import { parseOptions, printRow } from "@latchkey/testing/benchmark";
import { residentBytes, startService } from "@latchkey/testing/measured-service";
import { compareRoutes } from "./support/compare.ts";
import { seed, startElysia, startFastify } from "./support/servers.ts";

const options = parseOptions({ rounds: 5, seconds: 2, connections: 32 });
const printMemory = async (name: string) => printRow(name, [(await residentBytes(service.pid)) / 1024 ** 2]);

await using service = await startService({ NODE_ENV: "production" });
await Bun.sleep(1000);
await printMemory("MiB resident, idle");
const headers = await seed(service.url);
await using elysia = await startElysia("elysia-sqlite.ts", service.databaseUrl);
await using fastify = await startFastify(service.databaseUrl);
const yardsticks = { "Elysia + bun:sqlite": elysia, ...(fastify && { "Fastify + better-sqlite3": fastify }) };
await compareRoutes({ Latchkey: service, ...yardsticks }, { ...options, headers });
await printMemory("MiB resident, after the load");
