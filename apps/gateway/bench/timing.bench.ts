/**
 * Whether the time of a failed login tells why it failed: unknown e-mail, wrong password and inactive account, one after
 * another in random order against a service of its own process, at production cost. Exits with 1 where a rank test tells
 * two of them apart.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDatabase } from "@latchkey/database";
import { describeMachine } from "@latchkey/testing/machine";
import { post, startProcess } from "@latchkey/testing/service-process";
import { median, rankTest } from "./rank-test.ts";

/** Of three comparisons together (Bonferroni): a sound service is accused once in a hundred runs. */
const SIGNIFICANCE = 0.01 / 3;

const { values } = parseArgs({ options: { samples: { type: "string", default: "150" } } });
const samples = Number(values.samples);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const EMAILS = {
  "unknown e-mail": "nobody@example.org",
  "wrong password": "active@example.org",
  "inactive account": "inactive@example.org",
} as const;
type Reason = keyof typeof EMAILS;
const REASONS = Object.keys(EMAILS) as Reason[];

async function seed(url: string, databaseUrl: string): Promise<void> {
  for (const username of ["active", "inactive"]) {
    const person = { email: `${username}@example.org`, username, password: "correct horse battery" };
    const { status } = await post(`${url}/auth/register`, person);
    if (status !== 201) throw new Error(`Registering answered ${status}`);
  }
  await using database = await openDatabase({ url: databaseUrl });
  const inactive = await database.users.findByEmail(EMAILS["inactive account"]);
  if (inactive) await database.users.setActive(inactive.id, false);
}

/** Milliseconds until the whole answer is there. */
async function timeLogin(url: string, email: string): Promise<number> {
  const beganAt = performance.now();
  const response = await post(`${url}/auth/login`, { email, password: "not the password" });
  await response.arrayBuffer();
  const milliseconds = performance.now() - beganAt;
  if (response.status !== 401) throw new Error(`A login that should fail answered ${response.status}`);
  return milliseconds;
}

const shuffled = <Value>(items: readonly Value[]): Value[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

function report(times: Readonly<Record<Reason, readonly number[]>>): boolean {
  for (const reason of REASONS) print(`  ${reason.padEnd(17)} median ${median(times[reason]).toFixed(3)} ms`);
  let isTold = false;
  for (const [index, first] of REASONS.entries()) {
    for (const second of REASONS.slice(index + 1)) {
      const p = rankTest(times[first], times[second]);
      const apart = (median(times[first]) - median(times[second])) * 1000;
      print(`  ${first} against ${second}: medians ${apart.toFixed(0)} µs apart, p = ${p.toFixed(4)}`);
      isTold ||= p < SIGNIFICANCE;
    }
  }
  return isTold;
}

const folder = await mkdtemp(join(tmpdir(), "latchkey-timing-"));
try {
  const databaseUrl = `file:${join(folder, "timing.db")}`;
  await using service = startProcess({
    DATABASE_URL: databaseUrl,
    RATE_LIMIT_ENABLED: "false",
    LOG_LEVEL: "info",
  });
  const url = await service.ready();
  await seed(url, databaseUrl);
  print(describeMachine());
  print(`${samples} logins of each kind, one at a time, in random order`);

  const times: Record<Reason, number[]> = {
    "unknown e-mail": [],
    "wrong password": [],
    "inactive account": [],
  };
  // The first few warm up whatever there is.
  for (let round = -5; round < samples; round++) {
    for (const reason of shuffled(REASONS)) {
      const milliseconds = await timeLogin(url, EMAILS[reason]);
      if (round >= 0) times[reason].push(milliseconds);
    }
  }
  const isTold = report(times);
  const bound = `a Mann–Whitney test at ${SIGNIFICANCE.toFixed(4)}, ${samples} values each`;
  print(
    isTold
      ? `The times tell the reasons apart (${bound}).`
      : `The times do not tell the reasons apart (${bound}).`,
  );
  if (isTold) process.exitCode = 1;
  print(describeMachine());
} finally {
  await rm(folder, { recursive: true, force: true });
}
