/**
 * Copies users and todos from an embedded database to PostgreSQL and back with the admin tool: each direction alone, then with
 * SIGKILL in the middle and a second run, which a target with rows would refuse. Exits with 1 if a target is missed.
 */
import { join } from "node:path";
import { check, parseOptions, print } from "@latchkey/testing/benchmark";
import { fillTables } from "@latchkey/testing/filled-tables";
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { querySqlite } from "@latchkey/testing/sqlite";
import { runTool } from "./support/tool.ts";

const { rows } = parseOptions({ rows: 1_000_000 });
const PEAK_MB = 300;

await using folder = await openFolder();
await using postgres = await startPostgresServer({ fsync: "on" });
const source = folder.databaseUrl;
await runTool(source, ["migrate"]);
for (const statement of fillTables(rows)) await querySqlite(source, statement);

const reports = new Set<string>();
async function measure(name: string, from: string, createUrl: () => Promise<string>): Promise<string> {
  const copy = (to: string, timeout?: number) => runTool(from, ["copy", "--to", to], timeout);
  const alone = await createUrl();
  const { output, seconds, peakMb } = await copy(alone);
  const figures = `${((2 * rows) / seconds).toFixed()} rows/s, ${seconds.toFixed(1)} s`;
  check(peakMb <= PEAK_MB, `  ${name}: ${figures}, peak ${peakMb.toFixed()} MB`);
  const interrupted = await createUrl();
  const killed = await copy(interrupted, Math.round(500 * seconds));
  const second = await copy(interrupted);
  for (const report of [output, second.output]) reports.add(report);
  check(killed.output === "", `  copied again after SIGKILL at ${killed.seconds.toFixed(1)} s`);
  return alone;
}

let files = 0;
const server = await measure("libsql to PostgreSQL", source, () => postgres.createDatabase());
await measure("PostgreSQL to libsql", server, async () => `file:${join(folder.path, `copy${++files}.db`)}`);
check(reports.size === 1, "  rows and digests of all four copies are equal");
print([...reports].join("\n"));
