/** Reads the metrics of the service's hashing core once a second. */
import { describeError, unavailable } from "@latchkey/cli";

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 900;

export type ServerFigures = NonNullable<ReturnType<typeof parseServerFigures>>;
export type ServerMetrics = Awaited<ReturnType<typeof openServerMetrics>>;

/**
 * Reads the metrics immediately, and then once a second until `stop` is called. If a later read fails, the previous figures are
 * kept, because the responses to the load already show that the service is overloaded or restarting.
 * @throws {CliError} with exit code 69 if the URL does not return the metrics
 */
export async function openServerMetrics(url: string) {
  let current = await readServerFigures(url);
  let [lanesBusy, queueLength] = [0, 0];
  const timer = setInterval(async () => {
    current = await readServerFigures(url).catch(() => current);
    lanesBusy = Math.max(lanesBusy, current.lanesBusy);
    queueLength = Math.max(queueLength, current.queueLength);
  }, INTERVAL_MS);
  return {
    /** The latest figures. */
    current: () => current,
    /** The latest figures, but the maxima of `lanesBusy` and `queueLength` since the previous call, or the start. */
    peak(): ServerFigures {
      const figures = { ...current, lanesBusy, queueLength };
      [lanesBusy, queueLength] = [0, 0];
      return figures;
    },
    stop: () => clearInterval(timer),
  };
}

async function readServerFigures(url: string): Promise<ServerFigures> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const figures = parseServerFigures(await response.text());
    if (response.ok && figures !== null) return figures;
  } catch (error) {
    throw unavailable(`--metrics ${url} is unreachable: ${describeError(error)}`);
  }
  throw unavailable(
    `--metrics ${url} does not return metrics of a hashing core: specify /metrics at the service's METRICS_PORT.`,
  );
}

/** Parses the Prometheus text format, version 0.0.4. Returns null if a figure is missing. */
function parseServerFigures(text: string) {
  const gauge = (name: string) =>
    Number(new RegExp(`^hash_${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  const kernel = /^hash_kernel_info\{[^}]*\bkernel="([^"]+)"[^}]*\} 1$/m.exec(text)?.[1];
  const figures = {
    workers: gauge("workers"),
    lanes: gauge("lanes"),
    lanesBusy: gauge("lanes_busy"),
    queueLength: gauge("queue_length"),
    /** Logins per second, estimated by the hashing core. */
    capacityPerSecond: gauge("capacity_per_second"),
  };
  return kernel !== undefined && Object.values(figures).every(Number.isFinite)
    ? { kernel, ...figures }
    : null;
}
