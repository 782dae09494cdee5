/**
 * The response times of reads on the embedded database, alone and while other clients write as fast as the service
 * responds. Rounds with and without writers alternate.
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

await using service = await startService({ NODE_ENV: "production" });
const headers = await seed(service.url);

async function write(): Promise<void> {
  const { status } = await send(`${service.url}/todos`, { body: { title: "Written during the reads" } });
  if (status !== 201) throw new Error(`POST /todos returned ${status}`);
}

/** Prints the medians and returns that of the p99. */
function report(name: string, loads: readonly LoadResult[]): number {
  const of = (key: keyof LoadResult) => median(loads.map((load) => load[key]));
  printRow(
    `${name}, p99 in ms`,
    loads.map(({ p99 }) => p99),
  );
  print(`    ${Math.round(of("rate"))} reads/s, p50 ${of("p50").toFixed(1)} ms`);
  return of("p99");
}

print(`${rounds} rounds of ${seconds} s, ${readers} readers, ${writers} writers`);
for (const path of ["/auth/me", "/todos?limit=20"]) {
  const read = () => measureLoad({ url: service.url + path, headers, connections: readers, seconds });
  /** Writes until the reads have ended. */
  const readDuringWrites = () => {
    const readsEnded = new AbortController();
    const writes = closedLoopRate({ clients: writers, signal: readsEnded.signal }, write);
    return Promise.all([read().finally(() => readsEnded.abort()), writes]);
  };
  const { alone, contended } = await interleave(
    { alone: read, contended: readDuringWrites },
    { rounds, warmUp: 1 },
  );
  print(`\n${path}; ${Math.round(median(contended.map(([, writes]) => writes)))} writes/s`);
  const aloneMs = report(`${path} without writers`, alone);
  const contendedMs = report(
    `${path} with writers`,
    contended.map(([reads]) => reads),
  );
  const ratio = contendedMs / aloneMs;
  print(`  ratio of the p99 ${ratio.toFixed(2)}; at most ${TARGET}: ${metOrMissed(ratio <= TARGET)}`);
}
