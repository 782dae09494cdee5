/**
 * Tests whether the time of a failed login reveals the reason (unknown e-mail, wrong password or inactive user), and whether
 * the time of a registration, of a reset request or of a login that is limited per e-mail reveals whether the e-mail is known.
 * Sends the requests one at a time in random order. Exits with 1 if a rank test finds a difference between logins, or if the
 * difference between registrations, which write different rows, can exceed 2 ms, or that between reset requests 1 ms: with
 * a mail server that is fast, hangs or is down, and while 16 clients write.
 */
import { openDatabase } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { interleave, median, metOrMissed, parseOptions, print } from "@latchkey/testing/benchmark";
import { startMailServer } from "@latchkey/testing/mail-server";
import { closedLoopRate, startService } from "@latchkey/testing/measured-service";
import { send } from "./support/clients.ts";
import { medianInterval, rankTest } from "./support/rank-test.ts";

/** Bonferroni correction for four comparisons: one false alarm in a hundred runs. */
const SIGNIFICANCE = 0.01 / 4;
const MAX_REGISTRATION_DIFFERENCE_MS = 2;
const MAX_RESET_DIFFERENCE_MS = 1;
const WRITERS = 16;
const WARM_UP_ROUNDS = 5;

const { samples, limited, registrations, resets } = parseOptions({
  samples: 150,
  limited: 1000,
  registrations: 2000,
  resets: 2000,
});

const FAILED = ["unknown e-mail", "wrong password", "inactive user"] as const;
const LIMITED = ["limited, unknown e-mail", "limited, known e-mail"] as const;
/** Only the second creates users. */
const REGISTRATIONS = {
  "registered e-mail": 409,
  "unknown e-mail": 201,
  "unknown e-mail, taken username": 409,
} as const;
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

async function timeRegistration(kind: keyof typeof REGISTRATIONS, round: number): Promise<number> {
  const known = emailOf(FAILED[1]);
  const body = {
    email: kind === "registered e-mail" ? known : `${kind.replace(/\W+/g, "-")}.${round}@example.org`,
    username: kind === "unknown e-mail, taken username" ? known : `${kind} ${round}`,
    password: "correct horse battery",
  };
  const { status, ms } = await send(`${service.url}/auth/register`, { body });
  if (status !== REGISTRATIONS[kind]) throw new Error(`A registration (${kind}) returned ${status}`);
  return ms;
}

const shuffle = <Value>(items: readonly Value[]): Value[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

/** Compares the times of two kinds in the same rounds, prints the result and returns whether they differ. */
type Compare = (names: string, first: readonly number[], second: readonly number[]) => boolean;

const compareLogins: Compare = (names, first, second) => {
  const p = rankTest(first, second);
  const difference = (median(first) - median(second)) * 1000;
  print(`  ${names}: medians differ by ${difference.toFixed(0)} µs, p = ${p.toFixed(4)}`);
  return p < SIGNIFICANCE;
};

const compareMedians =
  (limitMs: number): Compare =>
  (names, first, second) => {
    const differences = first.map((ms, round) => ms - (second[round] ?? Number.NaN));
    const [low, high] = medianInterval(differences);
    const interval = `${low.toFixed(3)} to ${high.toFixed(3)} ms`;
    print(`  ${names}: median difference ${median(differences).toFixed(3)} ms, 95 % interval ${interval}`);
    return !(-limitMs < low && high < limitMs);
  };

/** Measures each kind once per round, in random order. Prints all comparisons and returns whether one finds a difference. */
async function findDifference<Kind extends string>(
  kinds: readonly Kind[],
  rounds: number,
  time: (kind: Kind, round: number) => Promise<number>,
  compare: Compare = compareLogins,
): Promise<boolean> {
  const tasks = kinds.map((kind) => [kind, (round: number) => time(kind, round)] as const);
  const options = { rounds, warmUp: WARM_UP_ROUNDS, order: shuffle };
  const entries = Object.entries(await interleave(Object.fromEntries(tasks), options));
  for (const [kind, values] of entries) print(`  ${kind.padEnd(32)} median ${median(values).toFixed(3)} ms`);
  let isDifferent = false;
  for (const [index, [first, firstTimes]] of entries.entries()) {
    for (const [second, secondTimes] of entries.slice(index + 1)) {
      if (compare(`${first} / ${second}`, firstTimes, secondTimes)) isDifferent = true;
    }
  }
  return isDifferent;
}

let answer: 250 | "hang" = 250;
const mailServer = await startMailServer({ answer: () => answer });
await using service = await startService({
  MAIL_URL: mailServer.url,
  MAIL_FROM: "accounts@example.com",
  PUBLIC_URL: "http://127.0.0.1:3000",
  RATE_LIMIT_MAIL: "1000000/minute",
  HASH_WORKERS: "1",
  RATE_LIMIT_LOGIN: "1000000/minute",
  RATE_LIMIT_REGISTER: "1000000/minute",
  LOG_LEVEL: "info",
});
await seed(service.databaseUrl);
print(
  `${samples} failed and ${limited} limited logins and ${registrations} registrations of each kind, one at a time, in random order`,
);

const failed = await findDifference(FAILED, samples, (reason, round) =>
  timeLogin(emailOf(reason, round), 401),
);
for (const reason of LIMITED) {
  for (let attempt = 1; attempt <= 10; attempt++) await timeLogin(emailOf(reason), 401);
}
const isDifferent =
  (await findDifference(LIMITED, limited, (reason) => timeLogin(emailOf(reason), 429))) || failed;
const result = isDifferent ? "reveal" : "do not reveal";
print(`The times of logins ${result} the reason (Mann–Whitney test at ${SIGNIFICANCE.toFixed(4)}).`);
const kinds = ["registered e-mail", "unknown e-mail", "unknown e-mail, taken username"] as const;
const differs = await findDifference(
  kinds,
  registrations,
  timeRegistration,
  compareMedians(MAX_REGISTRATION_DIFFERENCE_MS),
);
print(`registrations within ±${MAX_REGISTRATION_DIFFERENCE_MS} ms: ${metOrMissed(!differs)}`);

/** Requests resets for other users than before, so that the first three of each state are within the budget. */
async function findResetDifference(state: string): Promise<boolean> {
  print(`${resets} reset requests of each kind, ${state}`);
  const timeReset = async (kind: "registered e-mail" | "unknown e-mail", round: number) => {
    // As long as each other.
    const email =
      kind === "registered e-mail"
        ? emailOf(FAILED[1], Math.abs(round) % samples)
        : emailOf(FAILED[0], round);
    const { status, ms } = await send(`${service.url}/auth/password-reset`, { body: { email } });
    if (status !== 202) throw new Error(`A reset request returned ${status}`);
    return ms;
  };
  const kinds = ["registered e-mail", "unknown e-mail"] as const;
  return findDifference(kinds, resets, timeReset, compareMedians(MAX_RESET_DIFFERENCE_MS));
}

let resetsDiffer = await findResetDifference("with a fast mail server");
answer = "hang";
resetsDiffer = (await findResetDifference("with a mail server that hangs")) || resetsDiffer;
await mailServer[Symbol.asyncDispose]();
resetsDiffer = (await findResetDifference("with a mail server that is down")) || resetsDiffer;
const ended = new AbortController();
const writes = closedLoopRate({ clients: WRITERS, signal: ended.signal }, async () => {
  const { status } = await send(`${service.url}/todos`, { body: { title: "Written meanwhile" } });
  return status === 201;
});
resetsDiffer = (await findResetDifference(`while ${WRITERS} clients write`)) || resetsDiffer;
ended.abort();
print(`  ${Math.round(await writes)} writes/s`);
print(`reset requests within ±${MAX_RESET_DIFFERENCE_MS} ms: ${metOrMissed(!resetsDiffer)}`);
if (isDifferent || differs || resetsDiffer) process.exitCode = 1;
