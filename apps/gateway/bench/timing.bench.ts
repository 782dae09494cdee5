/**
 * Tests whether the time of a failed login reveals the reason: unknown e-mail, wrong password or inactive user. Sends the
 * logins one at a time in random order. Exits with 1 if a rank test finds a difference.
 */
import { describeMachine } from "@latchkey/cli";
import { openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { post, startProcess } from "@latchkey/testing/service-process";
import { parseOptions, print } from "./support/options.ts";
import { median, rankTest } from "./support/rank-test.ts";

/** Bonferroni correction for three comparisons: one false alarm in a hundred runs. */
const SIGNIFICANCE = 0.01 / 3;
const WARM_UP_ROUNDS = 5;

const { samples } = parseOptions({ samples: 150 });

const EMAILS = {
  "unknown e-mail": "nobody@example.org",
  "wrong password": "active@example.org",
  "inactive user": "inactive@example.org",
} as const;
type Reason = keyof typeof EMAILS;
const REASONS = Object.keys(EMAILS) as Reason[];

async function seed(url: string, databaseUrl: string): Promise<void> {
  for (const username of ["active", "inactive"]) {
    const user = { email: `${username}@example.org`, username, password: "correct horse battery" };
    const { status } = await post(`${url}/auth/register`, user);
    if (status !== 201) throw new Error(`Registration returned ${status}`);
  }
  await using database = await openDatabase({ url: databaseUrl });
  const inactive = await database.users.findByEmail(EMAILS["inactive user"]);
  if (inactive) await database.users.setActive(inactive.id, false);
}

/** Returns the time until the complete response is received, in milliseconds. */
async function timeLogin(url: string, email: string): Promise<number> {
  const startedAt = performance.now();
  const response = await post(`${url}/auth/login`, { email, password: "not the password" });
  await response.arrayBuffer();
  const milliseconds = performance.now() - startedAt;
  if (response.status !== 401) throw new Error(`A login that should fail returned ${response.status}`);
  return milliseconds;
}

const shuffled = <Value>(items: readonly Value[]): Value[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

function report(times: Readonly<Record<Reason, readonly number[]>>): boolean {
  for (const reason of REASONS) print(`  ${reason.padEnd(17)} median ${median(times[reason]).toFixed(3)} ms`);
  let isDifferent = false;
  for (const [index, first] of REASONS.entries()) {
    for (const second of REASONS.slice(index + 1)) {
      const p = rankTest(times[first], times[second]);
      const difference = (median(times[first]) - median(times[second])) * 1000;
      print(`  ${first} / ${second}: medians differ by ${difference.toFixed(0)} µs, p = ${p.toFixed(4)}`);
      isDifferent ||= p < SIGNIFICANCE;
    }
  }
  return isDifferent;
}

await using folder = await openFolder();
await using service = startProcess({
  DATABASE_URL: folder.databaseUrl,
  RATE_LIMIT_ENABLED: "false",
  LOG_LEVEL: "info",
});
const url = await service.ready();
await seed(url, folder.databaseUrl);
print(describeMachine());
print(`${samples} logins of each kind, one at a time, in random order`);

const times: Record<Reason, number[]> = {
  "unknown e-mail": [],
  "wrong password": [],
  "inactive user": [],
};
for (let round = -WARM_UP_ROUNDS; round < samples; round++) {
  for (const reason of shuffled(REASONS)) {
    const milliseconds = await timeLogin(url, EMAILS[reason]);
    if (round >= 0) times[reason].push(milliseconds);
  }
}
const isDifferent = report(times);
const result = isDifferent ? "reveal" : "do not reveal";
print(
  `The times ${result} the reason (Mann–Whitney test at ${SIGNIFICANCE.toFixed(4)}, ${samples} values each).`,
);
if (isDifferent) process.exitCode = 1;
print(describeMachine());
