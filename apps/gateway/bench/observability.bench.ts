/** Measures the cost of logging and metrics: a page of todos with both enabled, compared with both disabled. */
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { compare, describeLoad, describeRounds, type Round } from "./support/compare.ts";
import { parseOptions, print } from "./support/options.ts";
import { median } from "./support/rank-test.ts";
import { seed } from "./support/servers.ts";

const options = parseOptions({ rounds: 9, seconds: 2, connections: 32 });
const PATH = "/todos?limit=20";

await using folder = await openFolder();
await using disabled = await startService(folder, { LOG_LEVEL: "silent" });
await using enabled = await startService(folder, { LOG_LEVEL: "info", METRICS_PORT: "0" });
const headers = await seed(disabled.url);
print(describeMachine());
print(`${PATH}: ${describeLoad(options)}`);
const results = await compare({ servers: { enabled, disabled }, path: PATH, headers, ...options });
print(`  disabled ${describeRounds(results.disabled)}`);
print(`  enabled  ${describeRounds(results.enabled)}`);
// The median of the ratios per round, because other load on the machine affects both sides of a round.
const percent = (select: (round: Round) => number): string => {
  const ratios = results.enabled.map(
    (round, index) => select(round) / select(results.disabled[index] ?? round),
  );
  return (100 * median(ratios)).toFixed(1);
};
const ratePercent = percent(({ rate }) => rate);
const timePercent = percent(({ microseconds }) => microseconds);
print(`enabled / disabled: ${ratePercent} % of the requests/s, ${timePercent} % of the processor time`);
print(describeMachine());
