/**
 * Logins of a user from a familiar network while very many addresses guess the user's password. Rounds with and
 * without the attack alternate. The service and the attacker are separate processes; `--rate` is in guesses per second.
 */
import { interleave, median, parseOptions, percentile, print, ratios } from "@latchkey/testing/benchmark";
import { openLoop, startService } from "@latchkey/testing/measured-service";
import { countStatuses, send, startBenchmarkProcess } from "./support/clients.ts";

const { rounds, logins, rate } = parseOptions({ rounds: 5, logins: 300, rate: 100 });
const TARGET = 1.1;
const ADDRESSES = 10_000;
const OWNER = { email: "owner@example.org", username: "owner", password: "correct horse battery" };
const ownerRequest = { headers: { "x-forwarded-for": "192.0.2.1" }, body: OWNER };

/** Sends each guess from the next address; each is in another /64. */
async function attack(url: string): Promise<void> {
  const count = countStatuses();
  await openLoop({ perSecond: rate }, async (sent) => {
    const headers = { "x-forwarded-for": `2001:db8:${(sent % ADDRESSES).toString(16)}::1` };
    const body = { ...OWNER, password: `guess ${sent}` };
    const { status } = await send(`${url}/auth/login`, { headers, body });
    count(status);
  });
}

async function run(): Promise<void> {
  await using service = await startService({
    HASH_WORKERS: "1",
    TRUST_PROXY: "1",
    // The owner logs in more often than the quota of one address allows.
    RATE_LIMIT_LOGIN: "1000000/minute",
  });
  const { url } = service;
  await send(`${url}/auth/register`, ownerRequest);

  /** Returns the p99 of logins one after another, in milliseconds. All of them must succeed. */
  const idle = async (): Promise<number> => {
    const times: number[] = [];
    while (times.length < logins) {
      const { status, ms } = await send(`${url}/auth/login`, ownerRequest);
      if (status !== 200) throw new Error(`A login of the owner returned ${status}`);
      times.push(ms);
    }
    return percentile(times, 99);
  };
  const attacked = async () => {
    const stop = startBenchmarkProcess({ ATTACKED_URL: url });
    return { p99: await idle(), statuses: await stop() };
  };

  print(`${rounds} rounds of ${logins} logins, without and with ${rate} guesses per second`);
  // Takes the ten attempts of the e-mail and compiles the code.
  await attacked();
  const results = await interleave({ idle, attacked }, { rounds });
  for (const [round, { p99, statuses }] of results.attacked.entries()) {
    const times = `p99 idle ${results.idle[round]?.toFixed(1)} ms, attacked ${p99.toFixed(1)} ms`;
    print(`  round ${round + 1}: ${times}; guesses ${statuses}`);
  }
  const attackedP99s = results.attacked.map(({ p99 }) => p99);
  const ratio = median(ratios(attackedP99s, results.idle));
  print(`p99 of the owner: ${ratio.toFixed(3)} times idle (median); at most ${TARGET}: ${ratio <= TARGET}`);
  if (ratio > TARGET) process.exitCode = 1;
}

const { ATTACKED_URL } = process.env;
if (ATTACKED_URL === undefined) await run();
else await attack(ATTACKED_URL);
