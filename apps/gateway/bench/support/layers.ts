/** What each middleware costs: the service with more and more of them, from the outermost to all, loaded in alternation. */
import { join } from "node:path";
import { interleave, median, print } from "@latchkey/testing/benchmark";
import { type Load, startService } from "@latchkey/testing/measured-service";
import { measure, ROUTES } from "./compare.ts";
import { seed } from "./servers.ts";

/** In the order of `app.ts`; the first row has none. */
const LAYERS = [
  "no middleware",
  "error handler",
  "CORS",
  "transport headers",
  "request id",
  "client address",
  "preflight",
  "rate limit",
  "body limit",
  "default headers, access log",
];

export async function printLayers({ rounds, ...load }: Load & { readonly rounds: number }): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const servers = [];
  let env: Record<string, string> = { NODE_ENV: "production" };
  let headers = { authorization: "" };
  for (const layers of LAYERS.keys()) {
    const main = join(import.meta.dir, "layered-main.ts");
    const server = resources.use(await startService({ ...env, LAYERS: `${layers}` }, main));
    if (layers === 0) {
      headers = await seed(server.url);
      env = { ...env, DATABASE_URL: server.databaseUrl };
    }
    servers.push(server);
  }
  const columns = [];
  for (const path of ROUTES) {
    const tasks = servers.map((server, layers) => [
      `${layers}`,
      () => measure({ ...server, path }, { ...load, headers }),
    ]);
    const results: Record<string, { readonly microseconds: number }[]> = await interleave(
      Object.fromEntries(tasks),
      { rounds, warmUp: 1 },
    );
    columns.push(
      LAYERS.map((_, layers) => median((results[layers] ?? []).map((round) => round.microseconds))),
    );
  }
  print(`Processor time per request in µs, and percent of the whole; medians of ${rounds} rounds`);
  print(`| | ${ROUTES.join(" | ")} |\n|---|${"--:|".repeat(ROUTES.length)}`);
  for (const [row, name] of LAYERS.entries()) {
    const cells = columns.map((column) => {
      const cost = (column[row] ?? 0) - (row === 0 ? 0 : (column[row - 1] ?? 0));
      return `${cost.toFixed(1)} (${((100 * cost) / (column.at(-1) ?? 1)).toFixed(0)} %)`;
    });
    print(`| ${name} | ${cells.join(" | ")} |`);
  }
}
