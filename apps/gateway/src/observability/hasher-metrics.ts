/** Metrics of the hasher, read from its `stats()` at each scrape. */
import type { Hasher, HasherStats, HistogramSnapshot } from "@latchkey/hashing";
import { Counter, Gauge, type Histogram, type Registry } from "prom-client";

type Definitions<Value> = Readonly<
  Record<string, readonly [help: string, read: (stats: HasherStats) => Value]>
>;

const GAUGES: Definitions<number> = {
  hash_workers: ["Number of hash workers.", (stats) => stats.workers],
  hash_lanes: ["Number of lanes: derivations that can run at the same time.", (stats) => stats.lanes],
  hash_lanes_busy: ["Number of derivations running in lanes.", (stats) => stats.lanesBusy],
  hash_queue_length: ["Number of derivations waiting in the queue.", (stats) => stats.queueLength],
  hash_queue_limit: ["Maximum number of derivations waiting in the queue.", (stats) => stats.queueLimit],
  hash_overload: [
    "1 during sustained overload, in which the newest derivation is served first; otherwise 0.",
    (stats) => Number(stats.overloaded),
  ],
  hash_capacity_per_second: [
    "Derivations per second at 600,000 iterations, as recently achieved while all lanes were busy.",
    (stats) => stats.capacityPerSecond,
  ],
};

const COUNTERS: Definitions<number> = {
  hash_derivations_total: ["Total number of completed derivations.", (stats) => stats.completed],
  hash_aborted_total: [
    "Total number of derivations aborted because the client disconnected.",
    (stats) => stats.aborted,
  ],
  hash_queue_shed_total: [
    "Total number of derivations rejected because the queue was full or they had waited too long.",
    (stats) => stats.refused,
  ],
  hash_worker_crashes_total: [
    "Total number of worker crashes; each crashed worker is replaced.",
    (stats) => stats.crashedWorkers,
  ],
};

const HISTOGRAMS: Definitions<HistogramSnapshot> = {
  hash_queue_waiting_seconds: [
    "Time that derivations waited for a lane, in seconds.",
    (stats) => stats.waiting,
  ],
  hash_deriving_seconds: ["Time that derivations ran in a lane, in seconds.", (stats) => stats.running],
};

export function registerHasherMetrics(registry: Registry, { stats }: Pick<Hasher, "stats">): void {
  const registers = [registry];
  new Gauge({
    name: "hash_kernel_info",
    help: "The kernel in use; fallback is 1 if a faster kernel could not be used.",
    labelNames: ["kernel", "fallback"],
    registers,
    collect() {
      const { kernel, fallbackReason } = stats();
      this.reset();
      this.set({ kernel, fallback: fallbackReason === null ? "0" : "1" }, 1);
    },
  });
  for (const [name, [help, read]] of Object.entries(GAUGES)) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(stats()));
      },
    });
  }
  for (const [name, [help, read]] of Object.entries(COUNTERS)) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(stats()));
      },
    });
  }
  for (const [name, [help, read]] of Object.entries(HISTOGRAMS)) {
    registry.registerMetric(snapshotHistogram(name, help, () => read(stats())));
  }
}

/** A histogram whose buckets the hasher counts. prom-client has no class for it. */
function snapshotHistogram(name: string, help: string, read: () => HistogramSnapshot): Histogram {
  const sample = (suffix: string, value: number, labels: { le?: string } = {}) => ({
    metricName: `${name}_${suffix}`,
    labels,
    value,
  });
  const get = async () => {
    const { bounds, counts, sum, count } = read();
    const values = [
      ...bounds.map((bound, index) => sample("bucket", counts[index] ?? 0, { le: String(bound) })),
      sample("bucket", count, { le: "+Inf" }),
      sample("sum", sum),
      sample("count", count),
    ];
    return { name, help, type: "histogram", values };
  };
  // The cast is safe because the registry reads only these members of a metric.
  return { name, get } as unknown as Histogram;
}
