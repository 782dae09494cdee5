/**
 * Compares the requests per second of three routes with a minimal server that does the same work without middleware, and
 * measures the memory of the service.
 */
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { SECRET_KEY } from "@latchkey/testing/secret-key";
import { compare, describeLoad, describeRounds, ratePercent } from "./support/compare.ts";
import { parseOptions, print } from "./support/options.ts";
import { seed, startBaseline } from "./support/servers.ts";

const options = parseOptions({ rounds: 5, seconds: 2, connections: 32 });

/** Resident memory in MB on Linux. */
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
await using baseline = await startBaseline("baseline.ts", folder.databaseUrl, SECRET_KEY);
print(describeLoad(options));
for (const path of ["/healthz", "/auth/me", "/todos?limit=20"]) {
  const results = await compare({ service, baseline, path, headers, ...options });
  print(`\n${path}: ${ratePercent(results).toFixed(0)} % of the baseline`);
  print(`  service  ${describeRounds(results.service)}`);
  print(`  baseline ${describeRounds(results.baseline)}`);
}
print(`\nservice after the load: ${await residentMegabytes(service.pid)} MB resident`);
print(describeMachine());
