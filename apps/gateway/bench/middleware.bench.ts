/**
 * What all layers together cost a request: `/healthz` of the service as it ships against the same route of a bare
 * router, in processor time per request. Each server is a process of its own; the rounds of the two are interleaved.
 */
import { parseArgs } from "node:util";
import { openFolder } from "@latchkey/testing/folder";
import { describeMachine } from "@latchkey/testing/machine";
import { benchSecretKey, startService } from "@latchkey/testing/measured-service";
import { driver } from "./load.ts";
import { compare, describeRounds, medianMicroseconds, print } from "./rounds.ts";
import { startBare } from "./servers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "16" },
  },
});
const rounds = Number(values.rounds);
const load = { seconds: Number(values.seconds), connections: Number(values.connections) };
const AIM_MICROSECONDS = 5;

await using folder = await openFolder();
await using service = await startService(folder);
await using yardstick = await startBare("bare.ts", folder.databaseUrl, benchSecretKey);
print(describeMachine());
print(`${rounds} rounds of ${load.seconds} s, ${load.connections} connections, driven by ${driver}`);
const results = await compare({ service, yardstick, path: "/healthz", load, rounds });
print(`  all layers ${describeRounds(results.service)}`);
print(`  bare       ${describeRounds(results.yardstick)}`);
const difference = medianMicroseconds(results.service) - medianMicroseconds(results.yardstick);
const verdict = difference < AIM_MICROSECONDS ? "below" : "not below";
print(`All layers cost ${difference.toFixed(1)} µs a request: ${verdict} the aim of ${AIM_MICROSECONDS} µs.`);
print(describeMachine());
