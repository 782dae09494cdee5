/**
 * Tests whether the time of a failed login reveals the reason (unknown e-mail, wrong password or inactive user), and whether
 * the time of a registration, of a reset request, of a change of e-mail or of a login that is limited per e-mail reveals whether
 * the e-mail is known.
 * Sends the requests one at a time in random order. Exits with 1 if the median difference of two kinds can exceed 0.5 ms for
 * logins, 2 ms for registrations, which write different rows, or 1 ms for changes of e-mail and reset requests: with a mail server
 * that is fast, hangs or is down, and while 16 clients write.
 */
import { join } from "node:path";
import { noPassword, openDatabase } from "@latchkey/database";
import { check, interleave, median, medianInterval, parseOptions, print } from "@latchkey/testing/benchmark";
import { startMailServer } from "@latchkey/testing/mail-server";
import { loadDuring, startService } from "@latchkey/testing/measured-service";
import { logIn, send, sendExpecting } from "./support/clients.ts";

const WRITERS = 16;
const WARM_UP_ROUNDS = 5;
const PASSWORD = "correct horse battery";

const options = { samples: 300, limited: 1000, registrations: 2000, changes: 500, resets: 2000 };
const { samples, limited, registrations, changes, resets } = parseOptions(options);

/** One e-mail has ten attempts, so each round uses others. All are equally long. */
const emailOf = (user: "nobody" | "active" | "paused", round = 0): string => `${user}.${round}@example.org`;

/** Users share one hash, because no password is correct. */
async function seed(databaseUrl: string): Promise<void> {
  const { hashedPassword } = noPassword();
  await using database = await openDatabase({ url: databaseUrl });
  for (let round = -WARM_UP_ROUNDS; round <= samples; round++) {
    for (const user of ["active", "paused"] as const) {
      const email = emailOf(user, round);
      const { id } = await database.users.create({ email, username: email, hashedPassword });
      // The query that finds the user also reads its network, as after a login.
      await database.users.storeNetwork(id, "a network of another client");
      if (user === "paused") await database.users.changeAsOperator(id, { isActive: false });
    }
  }
}

const shuffle = <Value>(items: readonly Value[]): Value[] => {
  const places = new Map(items.map((item) => [item, Math.random()]));
  return items.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
};

/** Sends one request and returns the time until the complete response is received, in milliseconds. */
type Kind = (round: number) => Promise<number>;

/** Measures each kind once per round, in random order, and compares the times of each pair in the same rounds. */
async function compare(what: string, rounds: number, limitMs: number, kinds: Readonly<Record<string, Kind>>) {
  print(`${what}, ${rounds} of each kind`);
  const options = { rounds, warmUp: WARM_UP_ROUNDS, order: shuffle };
  const results = Object.entries(await interleave(kinds, options));
  for (const [name, times] of results) print(`  ${name.padEnd(32)} median ${median(times).toFixed(3)} ms`);
  for (const [index, [name, times]] of results.entries()) {
    for (const [other, otherTimes] of results.slice(index + 1)) {
      const differences = times.map((ms, round) => ms - (otherTimes[round] ?? Number.NaN));
      const [low, high] = medianInterval(differences);
      const interval = `95 % interval ${low.toFixed(3)} to ${high.toFixed(3)} ms`;
      print(`  ${name} / ${other}: median difference ${median(differences).toFixed(3)} ms, ${interval}`);
      check(-limitMs < low && high < limitMs, `    within ±${limitMs} ms`);
    }
  }
}

let answer: 250 | "hang" = 250;
const mailServer = await startMailServer({ answer: () => answer });
const env = {
  MAIL_URL: mailServer.url,
  MAIL_FROM: "accounts@example.com",
  PUBLIC_URL: "http://127.0.0.1:3000",
  RATE_LIMIT_MAIL: "1000000/minute",
  HASH_WORKERS: "1",
  RATE_LIMIT_LOGIN: "1000000/minute",
  RATE_LIMIT_REGISTER: "1000000/minute",
  LOG_LEVEL: "info",
};
await using service = await startService(env);
await seed(service.databaseUrl);
print("One request at a time, in random order");

const kind =
  (path: string, status: number, body: (round: number) => object): Kind =>
  async (round) =>
    (await sendExpecting(status, service.url + path, { body: body(round) })).ms;
const wrongLogin = (email: string) => ({ email, password: "not the password" });
const failedLogin = (user: Parameters<typeof emailOf>[0]) =>
  kind("/auth/login", 401, (round) => wrongLogin(emailOf(user, round)));
await compare("failed logins", samples, 0.5, {
  "unknown e-mail": failedLogin("nobody"),
  "wrong password": failedLogin("active"),
  "inactive user": failedLogin("paused"),
});

// No round has used these.
const [unknown, known] = [emailOf("nobody", samples), emailOf("active", samples)];
for (const email of [unknown, known])
  for (let attempt = 1; attempt <= 10; attempt++)
    await sendExpecting(401, `${service.url}/auth/login`, { body: wrongLogin(email) });
await compare("limited logins", limited, 0.5, {
  "unknown e-mail": kind("/auth/login", 429, () => wrongLogin(unknown)),
  "known e-mail": kind("/auth/login", 429, () => wrongLogin(known)),
});

const newUser = (name: string) => ({ email: `${name}@example.org`, username: name, password: PASSWORD });
const register = (status: number, user: (round: number) => object) => kind("/auth/register", status, user);
// Only the second kind creates users.
await compare("registrations", registrations, 2, {
  "registered e-mail": register(409, (round) => ({ ...newUser(`a ${round}`), email: known })),
  "unknown e-mail": register(201, (round) => newUser(`b${round}`)),
  "unknown e-mail, taken username": register(409, (round) => ({ ...newUser(`c${round}`), username: known })),
});

{
  const variables = { ...env, AUTH_EMAIL_CHANGE: "true", RATE_LIMIT_PASSWORD_CHANGE: "1000000/minute" };
  const main = join(import.meta.dir, "support/constant-derivations.ts");
  await using changing = await startService(variables, main);
  await using database = await openDatabase({ url: changing.databaseUrl });
  const tokens: Record<string, string> = {};
  for (let round = -WARM_UP_ROUNDS; round < changes; round++) {
    for (const name of ["one", "two"]) {
      const user = newUser(`${name}${round}`);
      await database.users.create({ ...user, ...noPassword() });
      tokens[user.username] = await logIn(changing.url, user);
    }
  }
  /** Each user requests one change. Free e-mails are as long as the taken ones. */
  const change =
    (user: string, wanted: string): Kind =>
    async (round) => {
      const body = { email: `${wanted}${round}@example.org`, current_password: PASSWORD };
      const options = { body, token: tokens[`${user}${round}`] ?? "" };
      return (await sendExpecting(202, `${changing.url}/auth/email-change`, options)).ms;
    };
  await compare("changes of e-mail with a constant derivation", changes, 1, {
    "taken e-mail": change("one", "two"),
    "free e-mail": change("two", "new"),
  });
}

const reset = (email: (round: number) => string) =>
  kind("/auth/password-reset", 202, (round) => ({ email: email(round) }));
const compareResets = (state: string) =>
  compare(`reset requests ${state}`, resets, 1, {
    "registered e-mail": reset((round) => emailOf("active", Math.abs(round) % samples)),
    "unknown e-mail": reset((round) => emailOf("nobody", round)),
  });
await compareResets("with a fast mail server");
answer = "hang";
await compareResets("with a mail server that hangs");
await mailServer[Symbol.asyncDispose]();
await compareResets("with a mail server that is down");
const write = async () =>
  (await send(`${service.url}/todos`, { body: { title: "Written meanwhile" } })).status === 201;
const whileWriting = () => compareResets(`while ${WRITERS} clients write`);
const { rate } = await loadDuring(WRITERS, write, whileWriting);
print(`  ${Math.round(rate)} writes/s`);
