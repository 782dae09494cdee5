/**
 * The response times of reads on the embedded database, alone and while other clients write as fast as the service
 * responds: `bun run bench contention`. Rounds with and without writers alternate.
 */
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { post } from "@latchkey/testing/service-process";
import { LOAD_PROGRAM, type LoadResult, measureLoad } from "./support/load.ts";
import { parseOptions, print } from "./support/options.ts";
import { median } from "./support/rank-test.ts";
import { seed } from "./support/servers.ts";

const { rounds, seconds, readers, writers } = parseOptions({
  rounds: 5,
  seconds: 3,
  readers: 32,
  writers: 64,
});
const TARGET = 2;

await using folder = await openFolder();
await using service = await startService(folder, { NODE_ENV: "production" });
const headers = await seed(service.url);

/** Writes until the result is called, which returns the number of writes. */
function startWriters(): () => Promise<number> {
  let isStopped = false;
  let count = 0;
  const write = async (): Promise<void> => {
    while (!isStopped) {
      const { status } = await post(`${service.url}/todos`, { title: "Written during the reads" });
      if (status !== 201) throw new Error(`POST /todos returned ${status}`);
      count += 1;
    }
  };
  const all = Promise.all(Array.from({ length: writers }, write));
  return async () => {
    isStopped = true;
    await all;
    return count;
  };
}

print(describeMachine());
print(`${rounds} rounds of ${seconds} s, ${readers} readers (${LOAD_PROGRAM}), ${writers} writers`);
for (const path of ["/auth/me", "/todos?limit=20"]) {
  const read = () => measureLoad({ url: service.url + path, headers, connections: readers, seconds });
  const results: Record<"alone" | "contended", LoadResult[]> = { alone: [], contended: [] };
  const writes: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const alone = await read();
    const stop = startWriters();
    const contended = await read();
    const count = await stop();
    if (round < 0) continue;
    results.alone.push(alone);
    results.contended.push(contended);
    writes.push(count / seconds);
  }
  const row = (name: string, loads: readonly LoadResult[]): number => {
    const of = (key: keyof LoadResult) => median(loads.map((load) => load[key]));
    const list = loads.map(({ p99 }) => p99.toFixed(1)).join(" ");
    print(
      `  ${name}: ${Math.round(of("rate"))} reads/s, p50 ${of("p50").toFixed(1)} ms, p99 ${of("p99").toFixed(1)} ms; rounds ${list}`,
    );
    return of("p99");
  };
  print(`\n${path}; ${Math.round(median(writes))} writes/s`);
  const alone = row("without writers", results.alone);
  const ratio = row("with writers   ", results.contended) / alone;
  print(`  ratio of the p99 ${ratio.toFixed(2)}; at most ${TARGET}: ${ratio <= TARGET ? "met" : "missed"}`);
}
print(`\n${describeMachine()}`);
