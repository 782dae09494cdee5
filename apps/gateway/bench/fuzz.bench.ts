/** Runs the fuzz test with any number of requests. Exits with 1 on failure. */
import { parseOptions, print } from "@latchkey/testing/benchmark";
import { runFuzz } from "../test/adversarial/fuzz/run.ts";
import { startService } from "../test/support/service.ts";

const { requests, seed } = parseOptions({
  requests: 100_000,
  seed: crypto.getRandomValues(new Uint16Array(1))[0] ?? 0,
});

print(`${requests} hostile requests, seed ${seed}`);
await using service = await startService({ env: { LOG_LEVEL: "warn" } });
const startedAt = performance.now();
try {
  const { statuses, slowest } = await runFuzz(service, { requests, seed });
  const seconds = (performance.now() - startedAt) / 1000;
  print(`Passed in ${seconds.toFixed(0)} s; the service is still running. Responses by status:`);
  for (const [status, count] of Object.entries(statuses)) print(`  ${status}  ${count}`);
  const { method, target, headers, body } = slowest.request ?? {};
  const bytes = Buffer.from(body ?? []);
  const text = JSON.stringify(bytes.toString().slice(0, 200));
  const description = `${method} ${JSON.stringify(target)}, ${headers?.length} headers, ${bytes.byteLength} bytes`;
  print(`Slowest: ${slowest.ms.toFixed(1)} ms for ${description} ${text}`);
} catch (error) {
  print(error instanceof Error ? `${error.message}\n${String(error.cause)}` : String(error));
  process.exitCode = 1;
}
