/**
 * Imports a file of users into each database with the admin tool: checks it, commits it, and commits it again with SIGKILL in
 * the middle and a second run, while the service writes every 50 ms. Exits with 1 if a user is lost or a target is missed.
 */
import { join } from "node:path";
import { check, parseOptions, print } from "@latchkey/testing/benchmark";
import { openFolder } from "@latchkey/testing/folder";
import HASH_VECTORS from "@latchkey/testing/hash-vectors";
import { sendEvery, startService } from "@latchkey/testing/measured-service";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { post } from "@latchkey/testing/service-process";
import { runTool } from "./support/tool.ts";

const { lines } = parseOptions({ lines: 1_000_000 });
const TARGETS = { usersPerSecond: 5000, peakMb: 300, writeMs: 500 } as const;
const WRITE_INTERVAL_MS = 50;

await using folder = await openFolder();
await using postgres = await startPostgresServer({ fsync: "on" });
const file = join(folder.path, "users.jsonl");
const writer = Bun.file(file).writer();
for (let index = 1; index <= lines; index++) {
  const [username, { hash } = {}] = [`user${index}`, HASH_VECTORS[index % HASH_VECTORS.length]];
  writer.write(`${JSON.stringify({ email: `${username}@example.com`, username, password_hash: hash })}\n`);
  if (index % 10_000 === 0) await writer.flush();
}
await writer.end();

/** The report is empty if the tool is killed after `timeout` milliseconds. */
async function runUsers(databaseUrl: string, args: readonly string[], timeout?: number) {
  const run = await runTool(databaseUrl, ["users", ...args, "--json"], timeout);
  const report: Record<string, number> = JSON.parse(run.output || "{}");
  return { ...run, report };
}

const commit = ["import", file, "--commit"];
const databases = {
  libsql: async (name: string) => `file:${join(folder.path, name)}.db`,
  PostgreSQL: () => postgres.createDatabase(),
};
for (const [database, createUrl] of Object.entries(databases)) {
  print(`${lines} lines, ${database}`);
  const url = await createUrl("alone");
  await runTool(url, ["migrate"]);
  let seconds = 0;
  for (const [name, args] of Object.entries({ check: ["import", file], commit })) {
    const run = await runUsers(url, args);
    seconds = run.seconds;
    const isMet =
      run.report.new === lines && lines / seconds >= TARGETS.usersPerSecond && run.peakMb <= TARGETS.peakMb;
    check(isMet, `  ${name}: ${(lines / seconds).toFixed()} users/s, peak ${run.peakMb.toFixed()} MB`);
  }
  const sharedUrl = await createUrl("shared");
  await using service = await startService({ DATABASE_URL: sharedUrl });
  const writesMs: number[] = [];
  const write = async () => {
    const startedMs = performance.now();
    const { status } = await post(`${service.url}/todos`, { title: "Written during the import" });
    if (status !== 201) throw new Error(`POST /todos returned ${status}`);
    writesMs.push(performance.now() - startedMs);
  };
  const readStats = async () => (await runUsers(sharedUrl, ["stats"])).report.users ?? Number.NaN;
  const { before, report, after } = await sendEvery(WRITE_INTERVAL_MS, write, async () => {
    await runUsers(sharedUrl, commit, Math.round(300 * seconds));
    const before = await readStats();
    const { report } = await runUsers(sharedUrl, commit);
    return { before, report, after: await readStats() };
  });
  const isComplete = report.existing === before && report.new === lines - before && after === lines;
  check(isComplete, `  ${before} users at SIGKILL, then ${report.new} new ones, together ${after}`);
  const longestMs = Math.max(...writesMs);
  const longest = `  longest of ${writesMs.length} writes of the service: ${longestMs.toFixed()} ms`;
  check(longestMs <= TARGETS.writeMs, longest);
}
