/**
 * Imports a file of users into each database with the admin tool: checks it, commits it, and commits it again with SIGKILL in
 * the middle and a second run, while the service writes every 50 ms. Exits with 1 if a user is lost or a target is missed.
 */
import { join } from "node:path";
import { metOrMissed, parseOptions, print } from "@latchkey/testing/benchmark";
import { openFolder } from "@latchkey/testing/folder";
import HASH_VECTORS from "@latchkey/testing/hash-vectors";
import { startService } from "@latchkey/testing/measured-service";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { CHECKOUT } from "@latchkey/testing/repository";
import { post } from "@latchkey/testing/service-process";

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

/** Runs `users …` and returns its report, which is empty if it is killed after `timeout` milliseconds. */
async function runTool(databaseUrl: string, args: readonly string[], timeout?: number) {
  const startedMs = performance.now();
  const main = join(CHECKOUT, "apps/admin/src/main.ts");
  const child = Bun.spawn([process.execPath, main, "users", ...args, "--json"], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "pipe", "inherit"],
    killSignal: "SIGKILL",
    ...(timeout !== undefined && { timeout }),
  });
  const report: Record<string, number> = JSON.parse((await new Response(child.stdout).text()) || "{}");
  await child.exited;
  const seconds = (performance.now() - startedMs) / 1000;
  return { report, seconds, peakMb: (child.resourceUsage()?.maxRSS ?? Number.NaN) / 1e6 };
}

function check(isMet: boolean, figures: string): void {
  if (!isMet) process.exitCode = 1;
  print(`  ${figures}: ${metOrMissed(isMet)}`);
}

async function timeWrite(url: string): Promise<number> {
  const startedMs = performance.now();
  const { status } = await post(`${url}/todos`, { title: "Written during the import" });
  if (status !== 201) throw new Error(`POST /todos returned ${status}`);
  return performance.now() - startedMs;
}

const commit = ["import", file, "--commit"];
const databases = {
  libsql: async (name: string) => `file:${join(folder.path, name)}.db`,
  PostgreSQL: () => postgres.createDatabase(),
};
for (const [database, createUrl] of Object.entries(databases)) {
  print(`${lines} lines, ${database}`);
  const url = await createUrl("alone");
  // Migrates the database.
  await (await startService({ DATABASE_URL: url }))[Symbol.asyncDispose]();
  let seconds = 0;
  for (const [name, args] of Object.entries({ check: ["import", file], commit })) {
    const run = await runTool(url, args);
    seconds = run.seconds;
    const isMet =
      run.report.new === lines && lines / seconds >= TARGETS.usersPerSecond && run.peakMb <= TARGETS.peakMb;
    check(isMet, `${name}: ${(lines / seconds).toFixed()} users/s, peak ${run.peakMb.toFixed()} MB`);
  }
  const sharedUrl = await createUrl("shared");
  await using service = await startService({ DATABASE_URL: sharedUrl });
  const writes: Promise<number>[] = [];
  const timer = setInterval(() => writes.push(timeWrite(service.url)), WRITE_INTERVAL_MS);
  await runTool(sharedUrl, commit, Math.round(300 * seconds));
  const { users: before = Number.NaN } = (await runTool(sharedUrl, ["stats"])).report;
  const { report } = await runTool(sharedUrl, commit);
  const { users: after } = (await runTool(sharedUrl, ["stats"])).report;
  clearInterval(timer);
  const isComplete = report.existing === before && report.new === lines - before && after === lines;
  check(isComplete, `${before} users at SIGKILL, then ${report.new} new ones, together ${after}`);
  const longestMs = Math.max(...(await Promise.all(writes)));
  check(
    longestMs <= TARGETS.writeMs,
    `longest of ${writes.length} writes of the service: ${longestMs.toFixed()} ms`,
  );
}
