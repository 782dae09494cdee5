/** Clients of the service, and further processes of a benchmark, whose work does not delay its own. */
import { type RequestOptions, request } from "@latchkey/testing/service-process";

/** Sends a POST request and reads the response. Returns its status and the time until it was complete. */
export async function send(url: string, options: RequestOptions) {
  const sentMs = performance.now();
  const response = await request(url, { method: "POST", ...options });
  await response.arrayBuffer();
  return { status: response.status, sentMs, ms: performance.now() - sentMs };
}

/**
 * Starts this benchmark again, with the same options and these variables. The result stops that process and returns its
 * output.
 */
export function startBenchmarkProcess(env: Readonly<Record<string, string>>): () => Promise<string> {
  const child = Bun.spawn([process.execPath, Bun.main, ...process.argv.slice(2)], {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "inherit",
  });
  return async () => {
    child.kill();
    const output = await new Response(child.stdout).text();
    if ((await child.exited) !== 0) throw new Error(`Another process of the benchmark failed: ${output}`);
    return output;
  };
}

/** Counts responses by status. On SIGTERM the counts are printed as JSON, and the process exits. */
export function countStatuses(): (status: number) => void {
  const counts: Record<number, number> = {};
  process.on("SIGTERM", () => {
    process.stdout.write(JSON.stringify(counts));
    process.exit();
  });
  return (status) => {
    counts[status] = (counts[status] ?? 0) + 1;
  };
}
