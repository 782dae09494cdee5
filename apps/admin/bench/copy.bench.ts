/**
 * Copies users and todos from an embedded database to PostgreSQL and back with the admin tool: each direction alone, then with
 * SIGKILL in the middle and a second run, which a target with rows would refuse. Exits with 1 if a target is missed.
 */
import { join } from "node:path";
import { metOrMissed, parseOptions, print } from "@latchkey/testing/benchmark";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { CHECKOUT } from "@latchkey/testing/repository";
import { querySqlite } from "@latchkey/testing/sqlite";

const { rows } = parseOptions({ rows: 1_000_000 });
const PEAK_MB = 300;

await using folder = await openFolder();
await using postgres = await startPostgresServer({ fsync: "on" });
const source = folder.databaseUrl;
// Migrates the database.
await (await startService({ DATABASE_URL: source }))[Symbol.asyncDispose]();
const numbers = `with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${rows})`;
await querySqlite(
  source,
  `insert into users (email, username, hashed_password)
    ${numbers} select 'user' || i || '@example.com', 'user' || i, lower(hex(randomblob(16)) || '$' || hex(randomblob(32))) from numbers`,
);
await querySqlite(
  source,
  `insert into todos (title) ${numbers} select 'The title of todo ' || i from numbers`,
);

/** Runs `copy` and returns its report, which is empty if it is killed after `timeout` milliseconds. */
async function copy(from: string, to: string, timeout?: number) {
  const startedMs = performance.now();
  const main = join(CHECKOUT, "apps/admin/src/main.ts");
  const child = Bun.spawn([process.execPath, main, "copy", "--to", to], {
    env: { ...process.env, DATABASE_URL: from },
    stdio: ["ignore", "pipe", "pipe"],
    killSignal: "SIGKILL",
    ...(timeout !== undefined && { timeout }),
  });
  const report = await new Response(child.stdout).text();
  const errors = await new Response(child.stderr).text();
  const code = await child.exited;
  const seconds = (performance.now() - startedMs) / 1000;
  return { report, code, errors, seconds, peakMb: (child.resourceUsage()?.maxRSS ?? Number.NaN) / 1e6 };
}

function check(isMet: boolean, figures: string): void {
  if (!isMet) process.exitCode = 1;
  print(`  ${figures}: ${metOrMissed(isMet)}`);
}

const reports = new Set<string>();
async function measure(name: string, from: string, createUrl: () => Promise<string>): Promise<string> {
  const alone = await createUrl();
  const { report, code, errors, seconds, peakMb } = await copy(from, alone);
  if (code !== 0) throw new Error(errors);
  reports.add(report);
  const speed = ((2 * rows) / seconds).toFixed();
  check(peakMb <= PEAK_MB, `${name}: ${speed} rows/s, ${seconds.toFixed(1)} s, peak ${peakMb.toFixed()} MB`);
  const interrupted = await createUrl();
  const killed = await copy(from, interrupted, Math.round(500 * seconds));
  const second = await copy(from, interrupted);
  reports.add(second.report);
  check(
    killed.report === "" && second.code === 0,
    `copied again after SIGKILL at ${killed.seconds.toFixed(1)} s`,
  );
  return alone;
}

let files = 0;
const server = await measure("libsql to PostgreSQL", source, () => postgres.createDatabase());
await measure("PostgreSQL to libsql", server, async () => `file:${join(folder.path, `copy${++files}.db`)}`);
check(reports.size === 1, `rows and digests of all four copies are equal`);
print([...reports].join("\n"));
