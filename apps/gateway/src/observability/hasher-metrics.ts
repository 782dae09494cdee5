/** Metrics of the hasher. Each scrape reads `Hasher.stats()`. */
import type { Hasher, HasherStats, HistogramSnapshot } from "@latchkey/hashing";
import type { Metric, Registry } from "prom-client";

interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Added to the name of the metric. */
  readonly suffix?: string;
}

type Definition = readonly [
  type: "gauge" | "counter" | "histogram",
  help: string,
  read: (stats: HasherStats) => number | readonly Sample[],
];

const METRICS: Readonly<Record<string, Definition>> = {
  hash_kernel_info: [
    "gauge",
    "The kernel in use; fallback is 1 if a faster kernel could not be used.",
    ({ kernel, fallbackReason }) => [
      { value: 1, labels: { kernel, fallback: fallbackReason === null ? "0" : "1" } },
    ],
  ],
  hash_workers: ["gauge", "Number of hash workers.", ({ workers }) => workers],
  hash_lanes: ["gauge", "Number of lanes: derivations that can run at the same time.", ({ lanes }) => lanes],
  hash_lanes_busy: ["gauge", "Number of derivations running in lanes.", ({ lanesBusy }) => lanesBusy],
  hash_queue_length: [
    "gauge",
    "Derivations waiting in the queue, in units of 600,000 iterations.",
    ({ queueLength }) => queueLength,
  ],
  hash_queue_limit: ["gauge", "Length from which on the queue is full.", ({ queueLimit }) => queueLimit],
  hash_overload: [
    "gauge",
    "1 during sustained overload, in which the newest derivation is served first; otherwise 0.",
    ({ overloaded }) => Number(overloaded),
  ],
  hash_capacity_per_second: [
    "gauge",
    "Derivations per second at 600,000 iterations, as recently achieved while all lanes were busy.",
    ({ capacityPerSecond }) => capacityPerSecond,
  ],
  hash_derivations_total: ["counter", "Total number of completed derivations.", ({ completed }) => completed],
  hash_aborted_total: [
    "counter",
    "Total number of derivations aborted because the client disconnected.",
    ({ aborted }) => aborted,
  ],
  hash_queue_shed_total: [
    "counter",
    "Total number of derivations rejected because the queue was full or they had waited too long.",
    ({ rejected }) => rejected,
  ],
  hash_worker_crashes_total: [
    "counter",
    "Total number of worker crashes; each crashed worker is replaced.",
    ({ crashedWorkers }) => crashedWorkers,
  ],
  hash_queue_waiting_seconds: [
    "histogram",
    "Time that derivations waited for a lane, in seconds.",
    ({ waiting }) => samplesOf(waiting),
  ],
  hash_deriving_seconds: [
    "histogram",
    "Time that derivations ran in a lane, in seconds.",
    ({ running }) => samplesOf(running),
  ],
};

const samplesOf = ({ bounds, counts, sum, count }: HistogramSnapshot): readonly Sample[] => [
  ...bounds.map((bound, index) => bucket(String(bound), counts[index] ?? 0)),
  bucket("+Inf", count),
  { suffix: "_sum", value: sum },
  { suffix: "_count", value: count },
];
const bucket = (le: string, value: number): Sample => ({ suffix: "_bucket", labels: { le }, value });

export function registerHasherMetrics(registry: Registry, { stats }: Pick<Hasher, "stats">): void {
  for (const [name, [type, help, read]] of Object.entries(METRICS)) {
    const get = async () => {
      const reading = read(stats());
      const samples = typeof reading === "number" ? [{ value: reading }] : reading;
      const values = samples.map(({ suffix = "", ...sample }: Sample) => ({
        ...sample,
        metricName: `${name}${suffix}`,
      }));
      return { name, help, type, values };
    };
    // prom-client has no class for a read-only metric. The cast is safe because the registry reads only `name` and `get`.
    registry.registerMetric({ name, get } as unknown as Metric);
  }
}
