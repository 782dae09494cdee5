/**
 * Tests whether the time of a failed login reveals the reason (unknown e-mail, wrong password or inactive user), and whether
 * the time of a login that is limited per e-mail reveals whether the e-mail is known. Sends the logins one at a time in
 * random order. Exits with 1 if a rank test finds a difference.
 */
import { openDatabase } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { interleave, median, parseOptions, print } from "@latchkey/testing/benchmark";
import { startService } from "@latchkey/testing/measured-service";
import { send } from "./support/clients.ts";
import { rankTest } from "./support/rank-test.ts";

/** Bonferroni correction for four comparisons: one false alarm in a hundred runs. */
const SIGNIFICANCE = 0.01 / 4;
const WARM_UP_ROUNDS = 5;

const { samples, limited } = parseOptions({ samples: 150, limited: 1000 });

const FAILED = ["unknown e-mail", "wrong password", "inactive user"] as const;
const LIMITED = ["limited, unknown e-mail", "limited, known e-mail"] as const;
type Reason = (typeof FAILED)[number] | (typeof LIMITED)[number];

/** One e-mail has ten attempts, so each round uses others. */
const emailOf = (reason: Reason, round = 0): string => `${reason.replace(/\W+/g, "-")}.${round}@example.org`;

/** Users share one hash, because no password is correct. */
async function seed(databaseUrl: string): Promise<void> {
  await using hasher = createHasher({ workers: 1 });
  const hashedPassword = await hasher.hash("correct horse battery");
  await using database = await openDatabase({ url: databaseUrl });
  const create = async (reason: Reason, round: number) => {
    const email = emailOf(reason, round);
    const { id } = await database.users.create({ email, username: email, hashedPassword });
    // The query that finds the user also reads its network, as after a login.
    await database.users.storeNetwork(id, "a network of another client");
    if (reason === "inactive user") await database.users.setActive(id, false);
  };
  for (let round = -WARM_UP_ROUNDS; round < samples; round++) {
    await create("wrong password", round);
    await create("inactive user", round);
  }
  await create("limited, known e-mail", 0);
}

/** Returns the time until the complete response is received, in milliseconds. */
async function timeLogin(email: string, expected: number): Promise<number> {
  const body = { email, password: "not the password" };
  const { status, ms } = await send(`${service.url}/auth/login`, { body });
  if (status !== expected) throw new Error(`A login that should fail returned ${status}`);
  return ms;
}

const shuffle = <Value>(items: readonly Value[]): Value[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

/** Measures each reason once per round, in random order. Prints all comparisons and returns whether one is significant. */
async function findDifference(
  reasons: readonly Reason[],
  rounds: number,
  time: (reason: Reason, round: number) => Promise<number>,
): Promise<boolean> {
  const tasks = reasons.map((reason) => [reason, (round: number) => time(reason, round)] as const);
  const options = { rounds, warmUp: WARM_UP_ROUNDS, order: shuffle };
  const entries = Object.entries(await interleave(Object.fromEntries(tasks), options));
  for (const [reason, values] of entries)
    print(`  ${reason.padEnd(24)} median ${median(values).toFixed(3)} ms`);
  let isDifferent = false;
  for (const [index, [first, firstTimes]] of entries.entries()) {
    for (const [second, secondTimes] of entries.slice(index + 1)) {
      const p = rankTest(firstTimes, secondTimes);
      const difference = (median(firstTimes) - median(secondTimes)) * 1000;
      print(`  ${first} / ${second}: medians differ by ${difference.toFixed(0)} µs, p = ${p.toFixed(4)}`);
      isDifferent ||= p < SIGNIFICANCE;
    }
  }
  return isDifferent;
}

await using service = await startService({
  HASH_WORKERS: "1",
  RATE_LIMIT_LOGIN: "1000000/minute",
  LOG_LEVEL: "info",
});
await seed(service.databaseUrl);
print(`${samples} failed and ${limited} limited logins of each kind, one at a time, in random order`);

const failed = await findDifference(FAILED, samples, (reason, round) =>
  timeLogin(emailOf(reason, round), 401),
);
for (const reason of LIMITED) {
  for (let attempt = 1; attempt <= 10; attempt++) await timeLogin(emailOf(reason), 401);
}
const isDifferent =
  (await findDifference(LIMITED, limited, (reason) => timeLogin(emailOf(reason), 429))) || failed;
const result = isDifferent ? "reveal" : "do not reveal";
print(`The times ${result} the reason (Mann–Whitney test at ${SIGNIFICANCE.toFixed(4)}).`);
if (isDifferent) process.exitCode = 1;
