/**
 * Logins of other clients while one user sends password changes as fast as the service responds, with the default rate
 * limits. Rounds with and without the attack alternate; every login comes from a different client address.
 */
import {
  interleave,
  medianRatio,
  metOrMissed,
  parseOptions,
  print,
  printRow,
} from "@latchkey/testing/benchmark";
import { loadDuring, startService } from "@latchkey/testing/measured-service";
import { seed, send } from "./support/clients.ts";

const defaults = { rounds: 8, seconds: 6, clients: 32, connections: 32 };
const { rounds, seconds, clients, connections } = parseOptions(defaults);
const TARGET = 0.9;
/** Of the user that `seed` creates. */
const PASSWORD = "correct horse battery";

await using service = await startService({ RATE_LIMIT_DEFAULT: "6000/minute", TRUST_PROXY: "1" });
const { url } = service;
const { authorization } = await seed(url);
let logins = 0;
/** The e-mails are unknown, which takes as long, because the logins with one e-mail are limited. */
const logIn = async () => {
  logins += 1;
  const address = `10.${(logins >> 16) & 255}.${(logins >> 8) & 255}.${logins & 255}`;
  const { status } = await send(`${url}/auth/login`, {
    headers: { "x-forwarded-for": address },
    body: { email: `client-${logins}@example.org`, password: PASSWORD },
  });
  return status === 401;
};
/** Logins per second. */
const without = async () => (await loadDuring(clients, logIn, () => Bun.sleep(1000 * seconds))).rate;
const attack = { headers: { authorization, "x-forwarded-for": "203.0.113.7" }, body: { password: PASSWORD } };
const sendAttack = () => send(`${url}/auth/me`, attack, "PATCH");
const during = async () => (await loadDuring(connections, sendAttack, without)).result;

print(`${rounds} rounds of ${seconds} s, ${clients} clients; the attacker has ${connections} connections`);
const results = await interleave({ without, during }, { rounds, warmUp: 1 });
printRow("logins/s without the attack", results.without);
printRow("logins/s during the attack", results.during, { baselines: { "without it": results.without } });
const ratio = medianRatio(results.during, results.without);
print(`at least ${100 * TARGET} %: ${metOrMissed(ratio >= TARGET)}`);
