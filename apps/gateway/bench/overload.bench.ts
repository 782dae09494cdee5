/**
 * `bun run bench overload [--seconds 60] [--ignored 10] [--factor 3]`: an open loop of logins above the capacity, which is
 * measured first with closed-loop clients. The service, the logins and the probe of `/healthz` are separate processes.
 */
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { post, startProcess } from "@latchkey/testing/service-process";
import { parseOptions, print } from "./support/options.ts";

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

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

async function run(): Promise<void> {
  const { seconds, ignored, factor, clients } = parseOptions({
    seconds: 60,
    ignored: 10,
    factor: 3,
    clients: 64,
  });
  await using folder = await openFolder();
  await using service = startProcess(
    {
      DATABASE_URL: folder.databaseUrl,
      RATE_LIMIT_ENABLED: "false",
      HASH_WORKERS: String(navigator.hardwareConcurrency),
    },
    // A 503 is logged with its cause; there are thousands.
    { onLine: () => {} },
  );
  const url = await service.ready();
  await post(`${url}/auth/register`, USER);

  const logIn = async () => {
    const sentMs = performance.now();
    const response = await post(`${url}/auth/login`, USER);
    await response.arrayBuffer();
    return { sentMs, status: response.status, ms: performance.now() - sentMs };
  };
  /** Returns the logins per second of a closed loop. */
  const measureCapacity = async (): Promise<number> => {
    const countedFrom = performance.now() + 1000;
    const endsAt = countedFrom + 5000;
    let counted = 0;
    const client = async (): Promise<void> => {
      while (performance.now() < endsAt) {
        const { sentMs, ms } = await logIn();
        if (sentMs + ms >= countedFrom && sentMs + ms < endsAt) counted += 1;
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return counted / 5;
  };
  /** Sends logins on schedule, regardless of earlier responses; returns those of the counted time. */
  const openLoop = async (perSecond: number) => {
    const logins: ReturnType<typeof logIn>[] = [];
    const startedMs = performance.now();
    for (let due = 0; due < perSecond * seconds; due++) {
      await Bun.sleep(Math.max(0, startedMs + (1000 * due) / perSecond - performance.now()));
      logins.push(logIn());
    }
    const countedFrom = startedMs + 1000 * ignored;
    return (await Promise.all(logins)).filter(({ sentMs }) => sentMs >= countedFrom);
  };
  /** The p99 of `/healthz` in milliseconds until the promise resolves. */
  const probeDuring = async (task: Promise<unknown>): Promise<number> => {
    const command = [process.execPath, import.meta.path, "--probe", url];
    const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
    await task;
    child.kill();
    const output = await new Response(child.stdout).text();
    if ((await child.exited) !== 0) throw new Error("The probe failed");
    return Number(output);
  };

  print(describeMachine());
  const capacity = await measureCapacity();
  print(`capacity ${capacity.toFixed(1)} logins/s in a closed loop of ${clients} clients`);

  const burst = await Promise.all(Array.from({ length: Math.round(BURST_SECONDS * capacity) }, logIn));
  const failed = burst.filter(({ status }) => status !== 200).length;
  print(`burst of ${burst.length} logins on an idle service: ${failed} failed: ${result(failed === 0)}`);

  const idleMs = await probeDuring(Bun.sleep(5000));

  const load = openLoop(factor * capacity);
  await Bun.sleep(1000 * ignored);
  const probeMs = await probeDuring(load);
  const logins = await load;
  const answered = logins.filter(({ status }) => status === 200);
  const prompt = answered.filter(({ ms }) => ms <= PROMPT_MS).length;
  const shed = logins.filter(({ status }) => status === 503).map(({ ms }) => ms);
  const counted = seconds - ignored;
  const percent = (count: number): number => (100 * count) / (capacity * counted);
  const others = logins.length - answered.length - shed.length;
  print(`${factor} times the capacity, from second ${ignored} to ${seconds}:`);
  print(
    `  200 within 1 s  ${percent(prompt).toFixed(1)} % of the capacity: ${result(percent(prompt) >= TARGETS.promptPercent)}`,
  );
  print(
    `  200             ${percent(answered.length).toFixed(1)} %; p50 ${percentile(
      answered.map(({ ms }) => ms),
      50,
    ).toFixed(0)} ms`,
  );
  print(
    `  503             ${shed.length}; p99 ${percentile(shed, 99).toFixed(0)} ms: ${result(percentile(shed, 99) <= PROMPT_MS)}`,
  );
  print(`  other statuses  ${others}`);
  print(
    `  /healthz        p99 ${probeMs.toFixed(2)} ms, idle ${idleMs.toFixed(2)} ms: ${result(probeMs < TARGETS.probeMs)}`,
  );
  print(describeMachine());
}

const result = (isMet: boolean): string => (isMet ? "met" : "missed");

const [flag, probed] = process.argv.slice(2);
/** Internal: the process of the probe. */
if (flag === "--probe" && probed !== undefined) await probe(probed);
else await run();
