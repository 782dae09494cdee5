/**
 * Logins of other clients while one user sends password changes as fast as the service responds, with the default rate
 * limits. Rounds with and without the attack alternate. The service and the attacker are separate processes; every login
 * comes from a different client address.
 */
import { interleave, median, metOrMissed, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { closedLoopRate, startService } from "@latchkey/testing/measured-service";
import { countStatuses, send, startBenchmarkProcess } from "./support/clients.ts";
import { seed } from "./support/servers.ts";

const { rounds, seconds, clients, connections } = parseOptions({
  rounds: 8,
  seconds: 6,
  clients: 32,
  connections: 32,
});
const TARGET = 0.9;
/** Of the user that `seed` creates. */
const PASSWORD = "correct horse battery";

/** Sends password changes over connections of its own, each as soon as the previous response has arrived. */
async function attack(url: string, authorization: string): Promise<void> {
  const count = countStatuses();
  const headers = { authorization, "x-forwarded-for": "203.0.113.7" };
  const body = { password: PASSWORD };
  await closedLoopRate({ clients: connections }, async () => {
    const { status } = await send(`${url}/auth/me`, { method: "PATCH", headers, body });
    count(status);
  });
}

async function run(): Promise<void> {
  await using service = await startService({ RATE_LIMIT_DEFAULT: "6000/minute", TRUST_PROXY: "1" });
  const { url } = service;
  const { authorization } = await seed(url);
  let logins = 0;
  /**
   * Logins per second of clients that each log in again as soon as the response has arrived. The e-mails are unknown, which
   * takes as long, because the logins with one e-mail from many addresses are limited.
   */
  const without = () =>
    closedLoopRate({ clients, seconds }, async () => {
      logins += 1;
      const address = `10.${(logins >> 16) & 255}.${(logins >> 8) & 255}.${logins & 255}`;
      const { status } = await send(`${url}/auth/login`, {
        headers: { "x-forwarded-for": address },
        body: { email: `client-${logins}@example.org`, password: PASSWORD },
      });
      return status === 401;
    });
  const during = async () => {
    const stop = startBenchmarkProcess({ ATTACKED_URL: url, ATTACKER: authorization });
    return { rate: await without(), statuses: await stop() };
  };

  print(`${rounds} rounds of ${seconds} s, ${clients} clients; the attacker has ${connections} connections`);
  await without();
  const results = await interleave({ without, during }, { rounds });
  for (const [round, { statuses }] of results.during.entries())
    print(`  responses to the attacker in round ${round + 1}: ${statuses}`);
  const rates = results.during.map(({ rate }) => rate);
  printRow("logins/s without the attack", results.without);
  printRow("logins/s during the attack", rates);
  const ratio = median(rates) / median(results.without);
  print(`ratio of the medians ${ratio.toFixed(2)}; at least ${TARGET}: ${metOrMissed(ratio >= TARGET)}`);
}

const { ATTACKED_URL, ATTACKER = "" } = process.env;
if (ATTACKED_URL === undefined) await run();
else await attack(ATTACKED_URL, ATTACKER);
