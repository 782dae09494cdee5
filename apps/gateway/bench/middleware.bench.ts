/** Measures the processor time of all middleware per request: `/healthz` of the service and of a server without middleware. */
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { compare, describeLoad, describeRounds, medianMicroseconds } from "./support/compare.ts";
import { parseOptions, print } from "./support/options.ts";
import { startElysia } from "./support/servers.ts";

const options = parseOptions({ rounds: 7, seconds: 2, connections: 16 });
const TARGET_MICROSECONDS = 5;

await using folder = await openFolder();
await using service = await startService(folder);
await using baseline = await startElysia("elysia-sqlite.ts", folder.databaseUrl);
print(describeMachine());
print(describeLoad(options));
const results = await compare({ servers: { service, baseline }, path: "/healthz", ...options });
print(`  service  ${describeRounds(results.service)}`);
print(`  baseline ${describeRounds(results.baseline)}`);
const difference = medianMicroseconds(results.service) - medianMicroseconds(results.baseline);
const comparison = difference < TARGET_MICROSECONDS ? "below" : "not below";
print(
  `The middleware takes ${difference.toFixed(1)} µs per request: ${comparison} the target of ${TARGET_MICROSECONDS} µs.`,
);
print(describeMachine());
