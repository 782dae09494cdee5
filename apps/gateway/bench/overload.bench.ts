/** An open loop of logins above the capacity, which is measured first with closed-loop clients, and a burst. */
import { metOrMissed, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { runLoadTest, startService } from "@latchkey/testing/measured-service";

const defaults = { seconds: 60, ignored: 10, factor: 3, clients: 64 };
const { seconds, ignored, factor, clients } = parseOptions(defaults);
const PROMPT_MS = 1000;
const BURST_SECONDS = 2;
const MAX_CLIENTS = 1000;
const TARGETS = { promptPercent: 90, probeMs: 5 } as const;

await using service = await startService({ RATE_LIMIT_ENABLED: "false" });
const { url } = service;
const { perSecond: capacity } = (await runLoadTest({ url, concurrency: clients, duration: 5 })).all;
printRow(`capacity, logins/s of ${clients} clients`, [capacity]);

const concurrency = Math.min(MAX_CLIENTS, Math.round(BURST_SECONDS * capacity));
const burst = await runLoadTest({ url, concurrency, duration: BURST_SECONDS });
const { errors } = burst.all;
print(`  burst of ${concurrency} clients on an idle service: ${errors} failed: ${metOrMissed(errors === 0)}`);

print(`\n${factor} times the capacity, from second ${ignored} to ${seconds}`);
const run = await runLoadTest({ url, rate: factor * capacity, duration: seconds });
const { all, probeP99 } = run;
const counted = run.seconds.slice(ignored);
const percent = (responses: typeof counted): number =>
  (100 * responses.reduce((sum, { answered }) => sum + answered, 0)) / (capacity * counted.length);
/** A second counts if 99 % of its responses were prompt. */
const promptPercent = percent(counted.filter(({ p99 }) => (p99 ?? 0) <= PROMPT_MS));
printRow("answered, % of the capacity", [percent(counted)]);
printRow("answered within 1 s, % of the capacity", [promptPercent]);
printRow("/healthz p99, ms", [probeP99], { digits: 2 });
print(`  all responses by status: ${JSON.stringify(all.statuses)}`);
const { promptPercent: minPercent, probeMs: maxMs } = TARGETS;
print(`at least ${minPercent} % answered within 1 s: ${metOrMissed(promptPercent >= minPercent)}`);
print(`p99 of /healthz below ${maxMs} ms: ${metOrMissed(probeP99 < maxMs)}`);
