/** Measures the cost of logging and metrics: a page of todos with both enabled, compared with both disabled. */
import { median, parseOptions, print, ratios } from "@latchkey/testing/benchmark";
import { startService } from "@latchkey/testing/measured-service";
import { compare, describeLoad, describeRounds, type Round } from "./support/compare.ts";
import { seed } from "./support/servers.ts";

const options = parseOptions({ rounds: 9, seconds: 2, connections: 32 });
const PATH = "/todos?limit=20";

await using disabled = await startService({ LOG_LEVEL: "silent" });
const env = { LOG_LEVEL: "info", METRICS_PORT: "0", DATABASE_URL: disabled.databaseUrl };
await using enabled = await startService(env);
const headers = await seed(disabled.url);
print(`${PATH}: ${describeLoad(options)}`);
const results = await compare({ enabled, disabled }, { path: PATH, headers, ...options });
print(`  disabled ${describeRounds(results.disabled)}`);
print(`  enabled  ${describeRounds(results.enabled)}`);
// The median of the ratios per round, because other load on the machine affects both sides of a round.
const percent = (figure: keyof Round): string => {
  const values = (rounds: readonly Round[]) => rounds.map((round) => round[figure]);
  return (100 * median(ratios(values(results.enabled), values(results.disabled)))).toFixed(1);
};
const figures = `${percent("rate")} % of the requests/s, ${percent("microseconds")} % of the processor time`;
print(`enabled / disabled: ${figures}`);
