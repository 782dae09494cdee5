/**
 * Tests whether the time of a failed login reveals the reason (unknown e-mail, wrong password or inactive user), and whether
 * the time of a registration, of a reset request, of a change of e-mail or of a login that is limited per e-mail reveals whether
 * the e-mail is known.
 * Sends the requests one at a time in random order. Exits with 1 if the median difference of two kinds can exceed 0.5 ms for
 * logins, 2 ms for registrations, which write different rows, or 1 ms for changes of e-mail and reset requests: with a mail server
 * that is fast, hangs or is down, and while 16 clients write.
 */
import { openDatabase } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import {
  interleave,
  median,
  medianInterval,
  metOrMissed,
  parseOptions,
  print,
} from "@latchkey/testing/benchmark";
import { startMailServer } from "@latchkey/testing/mail-server";
import { closedLoopRate, startService } from "@latchkey/testing/measured-service";
import { send } from "./support/clients.ts";
import { startEmailChanges } from "./support/email-changes.ts";

const WRITERS = 16;
const WARM_UP_ROUNDS = 5;
const PASSWORD = "correct horse battery";

const { samples, limited, registrations, changes, resets } = parseOptions({
  samples: 300,
  limited: 1000,
  registrations: 2000,
  changes: 500,
  resets: 2000,
});

/** One e-mail has ten attempts, so each round uses others. All are equally long. */
const emailOf = (user: "nobody" | "active" | "paused", round = 0): string => `${user}.${round}@example.org`;

/** Users share one hash, because no password is correct. */
async function seed(databaseUrl: string): Promise<void> {
  await using hasher = createHasher({ workers: 1 });
  const hashedPassword = await hasher.hash(PASSWORD);
  await using database = await openDatabase({ url: databaseUrl });
  for (let round = -WARM_UP_ROUNDS; round <= samples; round++) {
    for (const user of ["active", "paused"] as const) {
      const email = emailOf(user, round);
      const { id } = await database.users.create({ email, username: email, hashedPassword });
      // The query that finds the user also reads its network, as after a login.
      await database.users.storeNetwork(id, "a network of another client");
      if (user === "paused") await database.users.setActive(id, false);
    }
  }
}

interface Kind {
  readonly path: string;
  readonly body: (round: number) => object;
  readonly status: number;
  /** Of a service other than the one of all other requests. */
  readonly url?: string;
  readonly token?: (round: number) => string;
}

const shuffle = <Value>(items: readonly Value[]): Value[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

/** Returns the time until the complete response is received, in milliseconds. */
async function time(kind: Kind, round: number): Promise<number> {
  const { path, body, status, url = service.url, token } = kind;
  const response = await send(url + path, { body: body(round), ...(token && { token: token(round) }) });
  if (response.status !== status) throw new Error(`POST ${path} returned ${response.status}`);
  return response.ms;
}

/** Measures each kind once per round, in random order, and compares the times of each pair in the same rounds. */
async function compare(what: string, rounds: number, limitMs: number, kinds: Readonly<Record<string, Kind>>) {
  print(`${what}, ${rounds} of each kind`);
  const tasks = Object.entries(kinds).map(
    ([name, kind]) => [name, (round: number) => time(kind, round)] as const,
  );
  const options = { rounds, warmUp: WARM_UP_ROUNDS, order: shuffle };
  const results = Object.entries(await interleave(Object.fromEntries(tasks), options));
  for (const [name, times] of results) print(`  ${name.padEnd(32)} median ${median(times).toFixed(3)} ms`);
  for (const [index, [name, times]] of results.entries()) {
    for (const [other, otherTimes] of results.slice(index + 1)) {
      const differences = times.map((ms, round) => ms - (otherTimes[round] ?? Number.NaN));
      const [low, high] = medianInterval(differences);
      const isMet = -limitMs < low && high < limitMs;
      if (!isMet) process.exitCode = 1;
      const interval = `95 % interval ${low.toFixed(3)} to ${high.toFixed(3)} ms`;
      print(`  ${name} / ${other}: median difference ${median(differences).toFixed(3)} ms, ${interval}`);
      print(`    within ±${limitMs} ms: ${metOrMissed(isMet)}`);
    }
  }
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
print("One request at a time, in random order");

const kind = (path: string, status: number, body: Kind["body"]): Kind => ({ path, status, body });
const wrongLogin = (email: string) => ({ email, password: "not the password" });
await compare("failed logins", samples, 0.5, {
  "unknown e-mail": kind("/auth/login", 401, (round) => wrongLogin(emailOf("nobody", round))),
  "wrong password": kind("/auth/login", 401, (round) => wrongLogin(emailOf("active", round))),
  "inactive user": kind("/auth/login", 401, (round) => wrongLogin(emailOf("paused", round))),
});

// No round has used these.
const [unknown, known] = [emailOf("nobody", samples), emailOf("active", samples)];
for (const email of [unknown, known])
  for (let attempt = 1; attempt <= 10; attempt++)
    await time(
      kind("/auth/login", 401, () => wrongLogin(email)),
      attempt,
    );
await compare("limited logins", limited, 0.5, {
  "unknown e-mail": kind("/auth/login", 429, () => wrongLogin(unknown)),
  "known e-mail": kind("/auth/login", 429, () => wrongLogin(known)),
});

const newUser = (name: string) => ({ email: `${name}@example.org`, username: name, password: PASSWORD });
// Only the second kind creates users.
await compare("registrations", registrations, 2, {
  "registered e-mail": kind("/auth/register", 409, (round) => ({ ...newUser(`a ${round}`), email: known })),
  "unknown e-mail": kind("/auth/register", 201, (round) => newUser(`b${round}`)),
  "unknown e-mail, taken username": kind("/auth/register", 409, (round) => ({
    ...newUser(`c${round}`),
    username: known,
  })),
});

{
  await using changing = await startEmailChanges({ mailServer, rounds: changes + WARM_UP_ROUNDS });
  const change = (name: string, of: (index: number) => { token: string; email: string }): [string, Kind] => [
    name,
    {
      ...{ url: changing.url, path: "/auth/email-change", status: 202 },
      token: (round) => of(round + WARM_UP_ROUNDS).token,
      body: (round) => ({ email: of(round + WARM_UP_ROUNDS).email, current_password: PASSWORD }),
    },
  ];
  const kinds = [change("taken e-mail", changing.taken), change("free e-mail", changing.free)];
  await compare("changes of e-mail with a constant derivation", changes, 1, Object.fromEntries(kinds));
}

const ended = new AbortController();
let writes: Promise<number> | undefined;
const states: Readonly<Record<string, () => unknown>> = {
  "with a fast mail server": () => undefined,
  "with a mail server that hangs": () => (answer = "hang"),
  "with a mail server that is down": () => mailServer[Symbol.asyncDispose](),
  [`while ${WRITERS} clients write`]: () => {
    writes = closedLoopRate({ clients: WRITERS, signal: ended.signal }, async () => {
      const { status } = await send(`${service.url}/todos`, { body: { title: "Written meanwhile" } });
      return status === 201;
    });
  },
};
for (const [state, begin] of Object.entries(states)) {
  await begin();
  await compare(`reset requests ${state}`, resets, 1, {
    "registered e-mail": kind("/auth/password-reset", 202, (round) => ({
      email: emailOf("active", Math.abs(round) % samples),
    })),
    "unknown e-mail": kind("/auth/password-reset", 202, (round) => ({ email: emailOf("nobody", round) })),
  });
}
ended.abort();
print(`  ${Math.round((await writes) ?? 0)} writes/s`);
