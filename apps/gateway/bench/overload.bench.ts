/**
 * An open loop of logins above the capacity, which is measured first with closed-loop clients. The service, the logins and
 * the probe of `/healthz` are separate processes.
 */
import { metOrMissed, parseOptions, percentile, print } from "@latchkey/testing/benchmark";
import { closedLoopRate, openLoop, startService } from "@latchkey/testing/measured-service";
import { send, startBenchmarkProcess } from "./support/clients.ts";

const { seconds, ignored, factor, clients } = parseOptions({
  seconds: 60,
  ignored: 10,
  factor: 3,
  clients: 64,
});
const PROMPT_MS = 1000;
const BURST_SECONDS = 2;
const PROBE_INTERVAL_MS = 5;
const TARGETS = { promptPercent: 90, probeMs: 5 } as const;
const USER = { email: "bench@example.org", username: "bench", password: "correct horse battery" };

/** Requests `/healthz` every 5 ms until SIGTERM, then prints the p99 in milliseconds, counted from the intended start. */
async function probe(origin: string): Promise<void> {
  const times: number[] = [];
  let isRunning = true;
  process.on("SIGTERM", () => {
    isRunning = false;
  });
  for (let dueMs = performance.now(); isRunning; dueMs += PROBE_INTERVAL_MS) {
    await Bun.sleep(Math.max(0, dueMs - performance.now()));
    // The lateness of the timer is not part of the latency.
    const fromMs = performance.now() - dueMs < PROBE_INTERVAL_MS ? performance.now() : dueMs;
    const response = await fetch(`${origin}/healthz`);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`/healthz returned ${response.status}`);
    times.push(performance.now() - fromMs);
  }
  print(String(percentile(times, 99)));
}

/** The p99 of `/healthz` in milliseconds until the promise resolves. */
async function probeDuring(task: Promise<unknown>, url: string): Promise<number> {
  const stop = startBenchmarkProcess({ PROBED_URL: url });
  await task;
  return Number(await stop());
}

async function run(): Promise<void> {
  const workers = String(navigator.hardwareConcurrency);
  await using service = await startService({ RATE_LIMIT_ENABLED: "false", HASH_WORKERS: workers });
  const { url } = service;
  await send(`${url}/auth/register`, { body: USER });
  const logIn = () => send(`${url}/auth/login`, { body: USER });

  const capacity = await closedLoopRate({ clients, seconds: 5, warmUpSeconds: 1 }, logIn);
  print(`capacity ${capacity.toFixed(1)} logins/s in a closed loop of ${clients} clients`);

  const burst = await Promise.all(Array.from({ length: Math.round(BURST_SECONDS * capacity) }, logIn));
  const failed = burst.filter(({ status }) => status !== 200).length;
  print(`burst of ${burst.length} logins on an idle service: ${failed} failed: ${metOrMissed(failed === 0)}`);

  const idleMs = await probeDuring(Bun.sleep(5000), url);

  const countedFrom = performance.now() + 1000 * ignored;
  const all: Awaited<ReturnType<typeof logIn>>[] = [];
  const load = openLoop({ perSecond: factor * capacity, seconds }, async () => all.push(await logIn()));
  await Bun.sleep(1000 * ignored);
  const probeMs = await probeDuring(load, url);
  const logins = all.filter(({ sentMs }) => sentMs >= countedFrom);
  const timesOf = (code: number) => logins.filter(({ status }) => status === code).map(({ ms }) => ms);
  const [answered, shed] = [timesOf(200), timesOf(503)];
  const percent = (count: number): number => (100 * count) / (capacity * (seconds - ignored));
  const promptPercent = percent(answered.filter((ms) => ms <= PROMPT_MS).length);
  const shedMs = percentile(shed, 99);
  const isPrompt = metOrMissed(promptPercent >= TARGETS.promptPercent);
  const times = `p99 ${probeMs.toFixed(2)} ms, idle ${idleMs.toFixed(2)} ms`;
  print(`${factor} times the capacity, from second ${ignored} to ${seconds}:`);
  print(`  200 within 1 s  ${promptPercent.toFixed(1)} % of the capacity: ${isPrompt}`);
  print(
    `  200             ${percent(answered.length).toFixed(1)} %; p50 ${percentile(answered, 50).toFixed(0)} ms`,
  );
  print(`  503             ${shed.length}; p99 ${shedMs.toFixed(0)} ms: ${metOrMissed(shedMs <= PROMPT_MS)}`);
  print(`  other statuses  ${logins.length - answered.length - shed.length}`);
  print(`  /healthz        ${times}: ${metOrMissed(probeMs < TARGETS.probeMs)}`);
}

const { PROBED_URL } = process.env;
if (PROBED_URL === undefined) await run();
else await probe(PROBED_URL);
