/**
 * `bun run bench hashing [--rounds N] [--seconds S]`: the pool against the bare loop of its kernel and against
 * crypto.pbkdf2 on all cores. What is compared takes turns within each round, since a shared machine changes by the minute.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/cli";
import { kernels } from "../src/index.ts";
import { loadNative, type NativeKernel, nativeKernels } from "../src/kernel/native.ts";
import { bareLoopRate, buildBareLoop, crypto, ITERATIONS, openPool, secondsFor } from "./contenders.ts";
import { print, printRow } from "./table.ts";

const options = {
  rounds: { type: "string", default: "5" },
  seconds: { type: "string", default: "2" },
} as const;
const { values } = parseArgs({ options });
/** A single derivation is short: a row is the mean of several. */
const IN_SEQUENCE = 10;
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

/** Runs every entry once a round, in turn. */
async function interleave<Name extends string>(entries: Record<Name, () => number | Promise<number>>) {
  const names = Object.keys(entries) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) figures[name].push(await entries[name]());
  }
  return figures;
}

const status = nativeKernels();
const native: readonly NativeKernel[] = status.available ? status.kernels : [];
print(describeMachine());
print(
  `kernels: ${kernels()
    .map(({ name }) => name)
    .join(", ")}\n`,
);

await using auto = { ...openPool("auto"), [Symbol.asyncDispose]: () => auto.hasher.close() };
const workers = auto.hasher.stats().workers;
await secondsFor(auto, 1);

if (status.available) {
  print("one kernel on one core, ms for 600,000 iterations of all its lanes");
  const addon = loadNative(status.path);
  for (const { id, family, width } of native) {
    const state = new Uint32Array(32 * width);
    const lanes = Uint32Array.from({ length: width }, (_, lane) => lane);
    for (const lane of lanes) addon.prepare(state, lane, new Uint8Array(8), new Uint8Array(8));
    const { ms } = await interleave({
      ms() {
        const started = performance.now();
        addon.advance(Uint32Array.of(id), state, lanes, ITERATIONS / 10, null, new Float64Array(1));
        return 10 * (performance.now() - started);
      },
    });
    printRow({ name: `${family} × ${width}`, unit: "ms", rounds: ms });
  }
}

print(`\none derivation alone, ms, mean of ${IN_SEQUENCE} in sequence`);
const aloneMs = async (contender: Parameters<typeof secondsFor>[0]): Promise<number> => {
  let total = 0;
  for (let index = 0; index < IN_SEQUENCE; index++) total += await secondsFor(contender, 1);
  return (1000 * total) / IN_SEQUENCE;
};
await aloneMs(auto);
const alone = await interleave({ pool: () => aloneMs(auto), crypto: () => aloneMs(crypto) });
printRow({ name: "crypto.pbkdf2", unit: "ms", rounds: alone.crypto });
printRow({ name: "pool", unit: "ms", rounds: alone.pool, against: { name: "crypto", rounds: alone.crypto } });

print(`\nsaturated, derivations/s on ${workers} workers`);
const program = native.length > 0 ? await buildBareLoop() : null;
for (const { name } of [...kernels(), { name: "auto" }]) {
  const pool = openPool(name);
  await secondsFor(pool, 1);
  const { lanes, capacityPerSecond, kernel } = pool.hasher.stats();
  // Whole fills of the lanes: then no lane is empty at the end while others still run.
  const derivations = lanes * Math.max(1, Math.ceil((seconds * capacityPerSecond) / lanes));
  const width = Math.max(...native.filter(({ family }) => family === kernel).map((variant) => variant.width));
  const bare = { family: kernel, width, threads: workers, seconds };
  const figures = await interleave({
    pool: async () => derivations / (await secondsFor(pool, derivations)),
    bare: () => (program && Number.isFinite(width) ? bareLoopRate(program, bare) : Number.NaN),
    crypto: async () => (seconds * 15 * workers) / (await secondsFor(crypto, seconds * 15 * workers)),
  });
  await pool.hasher.close();
  printRow({ name: "crypto.pbkdf2", unit: "/s", rounds: figures.crypto });
  if (Number.isFinite(width)) {
    printRow({ name: `bare C loop, ${kernel} × ${width}`, unit: "/s", rounds: figures.bare });
    printRow({
      name: `pool ${name}`,
      unit: "/s",
      rounds: figures.pool,
      against: { name: "bare", rounds: figures.bare },
    });
  }
  printRow({
    name: `pool ${name}`,
    unit: "/s",
    rounds: figures.pool,
    against: { name: "crypto", rounds: figures.crypto },
  });
}

print("\njobs that come at once, ms until the last is done");
for (const jobs of [2, 8, 32, 200]) {
  const figures = await interleave({
    pool: async () => 1000 * (await secondsFor(auto, jobs)),
    crypto: async () => 1000 * (await secondsFor(crypto, jobs)),
  });
  printRow({ name: `crypto.pbkdf2, ${jobs} jobs`, unit: "ms", rounds: figures.crypto });
  printRow({
    name: `pool, ${jobs} jobs`,
    unit: "ms",
    rounds: figures.pool,
    against: { name: "crypto", rounds: figures.crypto },
  });
}

print("\ndelay of the event loop meanwhile, ms");
for (const [name, load] of [
  ["idle", null],
  ["saturated", auto],
] as const) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  if (load) await secondsFor(load, Math.ceil(seconds * load.hasher.stats().capacityPerSecond));
  else await Bun.sleep(seconds * 1000);
  delay.disable();
  const at = [50, 90, 99, 99.9, 100].map((p) => `p${p} ${(delay.percentile(p) / 1e6).toFixed(2)}`);
  print(`  ${name.padEnd(26)} ${at.join("  ")}`);
}
