/** Figures read from the Prometheus text of a service. */
import { expect, test } from "bun:test";
import { parseServerFigures } from "../../src/measure/server-metrics.ts";

const TEXT = `# TYPE hash_kernel_info gauge
hash_kernel_info{kernel="sha-ni",fallback="1"} 1
hash_workers 2
hash_lanes 32
hash_lanes_busy 7
hash_queue_length 3
hash_queue_limit 265
hash_capacity_per_second 95.25
`;

test("the figures of the hashing core are parsed from the Prometheus text format", () => {
  const counts = { workers: 2, lanes: 32, lanesBusy: 7, queueLength: 3 };
  expect(parseServerFigures(TEXT)).toEqual({ kernel: "sha-ni", ...counts, capacityPerSecond: 95.25 });
});

test("a text with a missing figure is rejected", () => {
  for (const line of TEXT.split("\n").slice(1, -1)) {
    if (line.startsWith("hash_queue_limit")) continue;
    expect(parseServerFigures(TEXT.replace(line, ""))).toBeNull();
  }
});
