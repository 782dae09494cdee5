/**
 * The response times of reads on the embedded database: alone, and while four addresses write as fast as the service responds
 * and one more client writes, too. Rounds with and without writers alternate.
 */
import { interleave, median, metOrMissed, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import {
  closedLoopRate,
  type LoadResult,
  measureLoad,
  startService,
} from "@latchkey/testing/measured-service";
import { send } from "./support/clients.ts";
import { seed } from "./support/servers.ts";

const { rounds, seconds, readers, writers } = parseOptions({
  rounds: 5,
  seconds: 3,
  readers: 32,
  writers: 64,
});
const TARGET = 2;
const ADDRESSES = 4;
const OTHER_CLIENT = { intervalMs: 1000, succeededPercent: 90, slowestMs: 5000 } as const;

await using service = await startService({ NODE_ENV: "production", TRUST_PROXY: "1" });
const headers = await seed(service.url);

async function write(address: string) {
  const response = await send(`${service.url}/todos`, {
    body: { title: "Written during the reads" },
    headers: { "x-forwarded-for": address },
  });
  if (response.status !== 201 && response.status !== 503)
    throw new Error(`POST /todos returned ${response.status}`);
  return { ...response, isCreated: response.status === 201 };
}

print(`${rounds} rounds of ${seconds} s, ${readers} readers, ${writers} writers`);
for (const path of ["/auth/me", "/todos?limit=20"]) {
  const read = () => measureLoad({ url: service.url + path, headers, connections: readers, seconds });
  const ofOtherClient: Awaited<ReturnType<typeof write>>[] = [];
  /** Writes until the reads have ended. */
  const readDuringWrites = () => {
    const readsEnded = new AbortController();
    const { signal } = readsEnded;
    let sent = 0;
    const writes = closedLoopRate(
      { clients: writers, signal },
      async () => (await write(`192.0.2.${sent++ % ADDRESSES}`)).isCreated,
    );
    const pending: Promise<unknown>[] = [];
    const writeOnce = async () => ofOtherClient.push(await write("198.51.100.1"));
    const timer = setInterval(() => pending.push(writeOnce()), OTHER_CLIENT.intervalMs);
    const reads = read().finally(() => {
      readsEnded.abort();
      clearInterval(timer);
      return Promise.all(pending);
    });
    return Promise.all([reads, writes]);
  };
  const { alone, contended } = await interleave(
    { alone: read, contended: readDuringWrites },
    { rounds, warmUp: 1 },
  );
  print(`\n${path}; ${Math.round(median(contended.map(([, writes]) => writes)))} writes/s`);
  const p99s = (loads: readonly LoadResult[]) => loads.map(({ p99 }) => p99);
  const [aloneMs, contendedMs] = [p99s(alone), p99s(contended.map(([reads]) => reads))];
  printRow(`${path} without writers, p99 in ms`, aloneMs);
  printRow(`${path} with writers, p99 in ms`, contendedMs, { baselines: { "without writers": aloneMs } });
  const ratio = median(contendedMs) / median(aloneMs);
  print(`  ratio of the p99 ${ratio.toFixed(2)}; at most ${TARGET}: ${metOrMissed(ratio <= TARGET)}`);
  const succeeded = ofOtherClient.filter(({ isCreated }) => isCreated).length;
  const slowestMs = Math.max(...ofOtherClient.map(({ ms }) => ms));
  const isServed =
    100 * succeeded >= OTHER_CLIENT.succeededPercent * ofOtherClient.length &&
    slowestMs <= OTHER_CLIENT.slowestMs;
  print(
    `  another client: ${succeeded} of ${ofOtherClient.length} writes succeeded, slowest ${slowestMs.toFixed(1)} ms: ${metOrMissed(isServed)}`,
  );
}
