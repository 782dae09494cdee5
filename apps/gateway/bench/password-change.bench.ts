/**
 * Logins of other clients while one user sends password changes as fast as the service responds, with the default rate
 * limits: `bun run bench password-change [--rounds N] [--seconds S]`. Rounds with and without the attack alternate. The
 * service and the attacker are separate processes; every login comes from a different client address.
 */
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { print } from "./support/options.ts";
import { median } from "./support/rank-test.ts";
import { seed } from "./support/servers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "8" },
    seconds: { type: "string", default: "6" },
    clients: { type: "string", default: "32" },
    connections: { type: "string", default: "32" },
    /** Internal: the process of the attacker, which runs until it is killed. */
    attack: { type: "string" },
    token: { type: "string", default: "" },
  },
});
const TARGET = 0.9;
const USER = { email: "bench@example.org", password: "correct horse battery" };

/** Sends password changes over connections of its own, each as soon as the previous response has arrived. */
async function attack(url: string, authorization: string): Promise<never> {
  const statuses = new Map<number, number>();
  process.on("SIGTERM", () => {
    process.stdout.write(JSON.stringify(Object.fromEntries(statuses)));
    process.exit();
  });
  const headers = { authorization, "content-type": "application/json", "x-forwarded-for": "203.0.113.7" };
  const init = { method: "PATCH", headers, body: JSON.stringify({ password: USER.password }) };
  const repeat = async (): Promise<never> => {
    for (;;) {
      const response = await fetch(`${url}/auth/me`, init);
      await response.arrayBuffer();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    }
  };
  return Promise.race(Array.from({ length: Number(values.connections) }, repeat));
}

function startAttack(url: string, token: string) {
  const command = [process.execPath, import.meta.path, "--attack", url, "--token", token];
  const child = Bun.spawn([...command, "--connections", values.connections], { stdout: "pipe" });
  return async (): Promise<string> => {
    child.kill();
    return new Response(child.stdout).text();
  };
}

let logins = 0;

/** Successful logins per second of clients that each log in again as soon as the response has arrived. */
async function loginRate(url: string): Promise<number> {
  const endsAt = performance.now() + Number(values.seconds) * 1000;
  let succeeded = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      logins += 1;
      const address = `10.${(logins >> 16) & 255}.${(logins >> 8) & 255}.${logins & 255}`;
      const headers = { "content-type": "application/json", "x-forwarded-for": address };
      const response = await fetch(`${url}/auth/login`, {
        method: "POST",
        headers,
        body: JSON.stringify(USER),
      });
      await response.arrayBuffer();
      if (response.ok && performance.now() < endsAt) succeeded += 1;
    }
  };
  await Promise.all(Array.from({ length: Number(values.clients) }, client));
  return succeeded / Number(values.seconds);
}

async function measure(): Promise<void> {
  await using folder = await openFolder();
  await using service = await startService(folder, { RATE_LIMIT_DEFAULT: "6000/minute", TRUST_PROXY: "1" });
  const { url } = service;
  const { authorization } = await seed(url);
  print(describeMachine());
  print(
    `${values.rounds} rounds of ${values.seconds} s, ${values.clients} clients; the attacker has ${values.connections} connections`,
  );
  await loginRate(url);
  const rates = { without: [] as number[], during: [] as number[] };
  for (let round = 0; round < Number(values.rounds); round++) {
    // The order alternates, so that a slow change of the machine's load favours neither side.
    for (const isAttacked of round % 2 === 0 ? [false, true] : [true, false]) {
      const stop = isAttacked ? startAttack(url, authorization) : null;
      const rate = await loginRate(url);
      (isAttacked ? rates.during : rates.without).push(rate);
      if (stop) print(`  responses to the attacker in round ${round + 1}: ${await stop()}`);
    }
  }
  const ratio = median(rates.during) / median(rates.without);
  const row = (name: string, figures: readonly number[], digits: number) =>
    print(
      `${name.padEnd(28)} ${median(figures).toFixed(digits)}; rounds ${figures.map((figure) => figure.toFixed(digits)).join(" ")}`,
    );
  row("logins/s without the attack", rates.without, 1);
  row("logins/s during the attack", rates.during, 1);
  print(
    `ratio of the medians ${ratio.toFixed(2)}; at least ${TARGET}: ${ratio >= TARGET ? "met" : "missed"}`,
  );
  print(describeMachine());
}

if (values.attack !== undefined) await attack(values.attack, values.token);
else await measure();
