/**
 * Compares three routes on the embedded database, in the configuration of production, with small programs without
 * middleware that return the same bodies, and measures the memory of the service.
 */
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { describeLoad } from "./support/compare.ts";
import { parseOptions, print } from "./support/options.ts";
import { compareRoutes } from "./support/routes.ts";
import { seed, startElysia, startFastify } from "./support/servers.ts";

const options = parseOptions({ rounds: 5, seconds: 2, connections: 32 });

/** Resident memory in MB on Linux. */
async function residentMegabytes(pid: number): Promise<string> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024).toFixed(0);
}

await using folder = await openFolder();
await using service = await startService(folder, { NODE_ENV: "production" });
print(describeMachine());
await Bun.sleep(1000);
print(`idle service: ${await residentMegabytes(service.pid)} MB resident`);
const { authorization } = await seed(service.url);
await using elysia = await startElysia("elysia-sqlite.ts", folder.databaseUrl);
await using fastify = await startFastify(folder.databaseUrl);
print(describeLoad(options));
const servers = {
  Latchkey: service,
  "Elysia + `bun:sqlite`": elysia,
  ...(fastify && { "Fastify + better-sqlite3": fastify }),
};
await compareRoutes({ servers, authorization, ...options });
print(`\nservice after the load: ${await residentMegabytes(service.pid)} MB resident`);
print(describeMachine());
