/** The fuzzer of the tests at any length: `bun run bench fuzz --requests 100000 --seed 1`. Exits with 1 if a response violates the oracle. */
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/testing/machine";
import { runFuzz } from "../test/adversarial/fuzz/run.ts";
import { startService } from "../test/support/service.ts";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    /** A 32-bit integer. */
    seed: { type: "string", default: String(crypto.getRandomValues(new Uint16Array(1))[0]) },
  },
});
const requests = Number(values.requests);
const seed = Number(values.seed);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

print(describeMachine());
print(`${requests} hostile requests, seed ${seed}`);
await using service = await startService({ env: { LOG_LEVEL: "warn" } });
const beganAt = performance.now();
try {
  const { statuses, slowest } = await runFuzz(service, { requests, seed });
  const seconds = (performance.now() - beganAt) / 1000;
  print(`No violation in ${seconds.toFixed(0)} s; the service still works. Responses by status:`);
  for (const [status, count] of Object.entries(statuses)) print(`  ${status}  ${count}`);
  const { method, target, headers, body } = slowest.request ?? {};
  const description = `${method} ${JSON.stringify(target)}, ${headers?.length} headers, ${body?.byteLength ?? 0} bytes`;
  print(
    `Slowest: ${slowest.ms.toFixed(1)} ms for ${description} ${JSON.stringify(
      Buffer.from(body ?? [])
        .toString()
        .slice(0, 200),
    )}`,
  );
} catch (error) {
  print(error instanceof Error ? `${error.message}\n${String(error.cause)}` : String(error));
  process.exitCode = 1;
}
