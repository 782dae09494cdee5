/**
 * Requests per second of three routes through every layer, against a bare router doing the same work; and the memory of
 * the idle service. Each server is a process of its own; the rounds of the two are interleaved.
 */
import { parseArgs } from "node:util";
import { openFolder } from "@latchkey/testing/folder";
import { describeMachine } from "@latchkey/testing/machine";
import { benchSecretKey, startService } from "@latchkey/testing/measured-service";
import { driver } from "./load.ts";
import { compare, describeRounds, print, ratePercent } from "./rounds.ts";
import { seed, startBare } from "./servers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "32" },
  },
});
const rounds = Number(values.rounds);
const load = { seconds: Number(values.seconds), connections: Number(values.connections) };

/** Resident memory in MB, where /proc tells. */
async function residentMegabytes(pid: number): Promise<string> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024).toFixed(0);
}

await using folder = await openFolder();
await using service = await startService(folder);
print(describeMachine());
await Bun.sleep(1000);
print(`idle service: ${await residentMegabytes(service.pid)} MB resident`);
const headers = await seed(service.url);
await using yardstick = await startBare("bare.ts", folder.databaseUrl, benchSecretKey);
print(`${rounds} rounds of ${load.seconds} s, ${load.connections} connections, driven by ${driver}`);
for (const path of ["/healthz", "/auth/me", "/todos?limit=20"]) {
  const results = await compare({ service, yardstick, path, headers, load, rounds });
  print(`\n${path}: ${ratePercent(results).toFixed(0)} % of the bare route`);
  print(`  all layers ${describeRounds(results.service)}`);
  print(`  bare       ${describeRounds(results.yardstick)}`);
}
print(`\nservice after the load: ${await residentMegabytes(service.pid)} MB resident`);
print(describeMachine());
