/**
 * The response times of reads on the embedded database: alone, and while four addresses write as fast as the service responds
 * and one more client writes, too. Rounds with and without writers alternate.
 */
import { interleave, median, metOrMissed, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { loadDuring, measureLoad, sendEvery, startService } from "@latchkey/testing/measured-service";
import { seed, send } from "./support/clients.ts";

const defaults = { rounds: 5, seconds: 3, readers: 32, writers: 64 };
const { rounds, seconds, readers, writers } = parseOptions(defaults);
const TARGET = 2;
const ADDRESSES = 4;
const OTHER_CLIENT = { intervalMs: 1000, succeededPercent: 90, slowestMs: 5000 } as const;

await using service = await startService({ NODE_ENV: "production", TRUST_PROXY: "1" });
const headers = await seed(service.url);

async function write(address: string) {
  const request = { body: { title: "Written during the reads" }, headers: { "x-forwarded-for": address } };
  const response = await send(`${service.url}/todos`, request);
  if (response.status !== 503) response.expect(201);
  return response;
}

print(`${rounds} rounds of ${seconds} s, ${readers} readers, ${writers} writers`);
for (const path of ["/auth/me", "/todos?limit=20"]) {
  const load = { url: service.url + path, headers, connections: readers, seconds };
  const readP99 = async () => (await measureLoad(load)).p99;
  const ofOtherClient: Awaited<ReturnType<typeof write>>[] = [];
  const readDuringWrites = async () => {
    let sent = 0;
    const writeAs = async () => (await write(`192.0.2.${sent++ % ADDRESSES}`)).status === 201;
    const writeAsOther = async () => ofOtherClient.push(await write("198.51.100.1"));
    const readDuringOther = () => sendEvery(OTHER_CLIENT.intervalMs, writeAsOther, readP99);
    return loadDuring(writers, writeAs, readDuringOther);
  };
  const tasks = { aloneMs: readP99, contended: readDuringWrites };
  const { aloneMs, contended } = await interleave(tasks, { rounds, warmUp: 1 });
  print(`\n${path}; ${Math.round(median(contended.map(({ rate }) => rate)))} writes/s`);
  const contendedMs = contended.map(({ result }) => result);
  printRow(`${path} without writers, p99 in ms`, aloneMs);
  printRow(`${path} with writers, p99 in ms`, contendedMs, { baselines: { "without writers": aloneMs } });
  const ratio = median(contendedMs) / median(aloneMs);
  print(`  ratio of the p99 ${ratio.toFixed(2)}; at most ${TARGET}: ${metOrMissed(ratio <= TARGET)}`);
  const succeeded = ofOtherClient.filter(({ status }) => status === 201).length;
  const slowestMs = Math.max(...ofOtherClient.map(({ ms }) => ms));
  const isServed = 100 * succeeded >= OTHER_CLIENT.succeededPercent * ofOtherClient.length;
  const isMet = isServed && slowestMs <= OTHER_CLIENT.slowestMs;
  const writesOfOther = `${succeeded} of ${ofOtherClient.length} writes succeeded`;
  print(`  another client: ${writesOfOther}, slowest ${slowestMs.toFixed(1)} ms: ${metOrMissed(isMet)}`);
}
