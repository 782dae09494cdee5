/**
 * What logging and metrics cost: requests per second of a page of todos with both on, as the service ships, against both
 * off. Two processes over one database, their rounds interleaved and in alternating order.
 */
import { parseArgs } from "node:util";
import { openFolder } from "@latchkey/testing/folder";
import { describeMachine } from "@latchkey/testing/machine";
import { startService } from "@latchkey/testing/measured-service";
import { driver } from "./load.ts";
import { median } from "./rank-test.ts";
import { compare, describeRounds, print, type Round } from "./rounds.ts";
import { seed } from "./servers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "32" },
    path: { type: "string", default: "/todos?limit=20" },
  },
});
const { path } = values;
const rounds = Number(values.rounds);
const load = { seconds: Number(values.seconds), connections: Number(values.connections) };

await using folder = await openFolder();
await using off = await startService(folder, { LOG_LEVEL: "silent" });
await using on = await startService(folder, { LOG_LEVEL: "info", METRICS_PORT: "0" });
const headers = await seed(off.url);
print(describeMachine());
print(`${path}: ${rounds} rounds of ${load.seconds} s, ${load.connections} connections, by ${driver}`);
const results = await compare({ service: on, yardstick: off, path, headers, load, rounds });
print(`  off ${describeRounds(results.yardstick)}`);
print(`  on  ${describeRounds(results.service)}`);
// Round by round, so that a slow spell of the machine counts on both sides.
const percent = (of: (round: Round) => number): string => {
  const ratios = results.service.map((round, index) => of(round) / of(results.yardstick[index] ?? round));
  return (100 * median(ratios)).toFixed(1);
};
const ofRate = percent(({ rate }) => rate);
const ofTime = percent(({ microseconds }) => microseconds);
print(`on against off: ${ofRate} % of the rate, ${ofTime} % of the processor time`);
print(describeMachine());
