/** What each middleware costs: the service with more and more of them, from the outermost to all, loaded in alternation. */
import { join } from "node:path";
import { median, print, printTable } from "@latchkey/testing/benchmark";
import { type MeasuredServer, startService } from "@latchkey/testing/measured-service";
import { seed } from "./clients.ts";
import { type ComparisonOptions, measureRoute, ROUTES } from "./compare.ts";

/** In the order of `middleware/pipeline.ts`; the first row has none. */
const LAYERS = [
  "no middleware",
  "error handler",
  "CORS",
  "transport headers",
  "request id",
  "client address",
  "preflight",
  "rate limit",
  "expectation",
  "body limit",
  "default headers, access log",
];

export async function printLayers(options: Omit<ComparisonOptions, "headers">): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const servers: Record<string, MeasuredServer> = {};
  const main = join(import.meta.dir, "altered-main.ts");
  let env: Record<string, string> = { NODE_ENV: "production" };
  let headers = { authorization: "" };
  for (const [layers, name] of LAYERS.entries()) {
    const server = resources.use(await startService({ ...env, LAYERS: `${layers}` }, main));
    if (layers === 0) {
      headers = await seed(server.url);
      env = { ...env, DATABASE_URL: server.databaseUrl };
    }
    servers[name] = server;
  }
  const rows = [["", ...ROUTES], ...LAYERS.map((name) => [name])];
  for (const path of ROUTES) {
    const results = Object.values(await measureRoute(servers, path, { ...options, headers }));
    const costs = results.map((list) => median(list.map((round) => round["µs CPU"])));
    for (const [layers, total] of costs.entries()) {
      const cost = total - (costs[layers - 1] ?? 0);
      const percent = (100 * cost) / (costs.at(-1) ?? 1);
      rows[layers + 1]?.push(`${cost.toFixed(1)} (${percent.toFixed(0)} %)`);
    }
  }
  print(`Processor time per request in µs, and percent of the whole; medians of ${options.rounds} rounds`);
  printTable(rows);
}
