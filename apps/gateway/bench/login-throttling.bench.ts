/**
 * Logins of a user from a familiar network while very many addresses guess the user's password:
 * `bun run bench login-throttling [--rounds N] [--logins N] [--rate N]`. Rounds with and without the attack alternate. The
 * service and the attacker are separate processes; `--rate` is in guesses per second.
 */
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startProcess } from "@latchkey/testing/service-process";
import { print } from "./support/options.ts";
import { median } from "./support/rank-test.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    logins: { type: "string", default: "300" },
    rate: { type: "string", default: "100" },
    /** Internal: the process of the attacker, which runs until it is killed. */
    attack: { type: "string" },
  },
});
const TARGET = 1.1;
const ADDRESSES = 10_000;
const TICK_MS = 20;
const OWNER = { email: "owner@example.org", username: "owner", password: "correct horse battery" };

const send = (url: string, path: string, address: string, body: object): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify(body),
  });

/** Sends guesses on schedule, regardless of earlier responses, each from the next address; each is in another /64. */
function attack(url: string): void {
  const statuses = new Map<number, number>();
  process.on("SIGTERM", () => {
    process.stdout.write(JSON.stringify(Object.fromEntries(statuses)));
    process.exit();
  });
  let sent = 0;
  const guess = async () => {
    sent += 1;
    const address = `2001:db8:${(sent % ADDRESSES).toString(16)}::1`;
    const response = await send(url, "/auth/login", address, { ...OWNER, password: `guess ${sent}` });
    await response.arrayBuffer();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  };
  const startedAt = performance.now();
  setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * Number(values.rate);
    while (sent < due) void guess();
  }, TICK_MS);
}

async function run(): Promise<void> {
  await using folder = await openFolder();
  await using service = startProcess({
    DATABASE_URL: folder.databaseUrl,
    TRUST_PROXY: "1",
    // The owner logs in more often than the quota of one address allows.
    RATE_LIMIT_LOGIN: "1000000/minute",
    RATE_LIMIT_DEFAULT: "1000000/minute",
  });
  const url = await service.ready();
  await send(url, "/auth/register", "192.0.2.1", OWNER);

  /** Returns the p99 of logins one after another, in milliseconds. All of them must succeed. */
  const ownerP99 = async (): Promise<number> => {
    const times: number[] = [];
    for (let login = 0; login < Number(values.logins); login++) {
      const startedAt = performance.now();
      const response = await send(url, "/auth/login", "192.0.2.1", OWNER);
      await response.arrayBuffer();
      times.push(performance.now() - startedAt);
      if (response.status !== 200) throw new Error(`A login of the owner returned ${response.status}`);
    }
    return times.sort((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;
  };
  const attacked = async () => {
    const command = [process.execPath, import.meta.path, "--attack", url, "--rate", values.rate];
    const child = Bun.spawn(command, { stdout: "pipe" });
    const p99 = await ownerP99();
    child.kill();
    return { p99, statuses: await new Response(child.stdout).text() };
  };

  print(describeMachine());
  print(
    `${values.rounds} rounds of ${values.logins} logins, without and with ${values.rate} guesses per second`,
  );
  // Takes the ten attempts of the e-mail and compiles the code.
  await attacked();
  const ratios: number[] = [];
  for (let round = 1; round <= Number(values.rounds); round++) {
    const idle = await ownerP99();
    const { p99, statuses } = await attacked();
    ratios.push(p99 / idle);
    print(
      `  round ${round}: p99 idle ${idle.toFixed(1)} ms, attacked ${p99.toFixed(1)} ms; guesses ${statuses}`,
    );
  }
  const ratio = median(ratios);
  print(`p99 of the owner: ${ratio.toFixed(3)} times idle (median); at most ${TARGET}: ${ratio <= TARGET}`);
  if (ratio > TARGET) process.exitCode = 1;
  print(describeMachine());
}

if (values.attack !== undefined) attack(values.attack);
else await run();
