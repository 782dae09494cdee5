/** The kernel over the C code: as many lanes as its widest variant, advanced together in slices of a few milliseconds. */
import { STORED_ITERATIONS } from "../encoding.ts";
import { Chooser, type Plan } from "./chooser.ts";
import { assertWorkerThread, type Kernel, type LaneJob, type Pace, type Slice } from "./kernel.ts";
import { LANE_WORDS, type NativeAddon, type NativeKernel, type ThreadHandle } from "./native.ts";

/** Full: long against a turn of the event loop, short against a login. Brief: long against what answering a login takes. */
const SLICE_SECONDS: Readonly<Record<Slice, number>> = { full: 0.006, brief: 0.002 };
/** A run shorter than this measures its overhead, not the iterations. */
const MIN_SAMPLE_SECONDS = 0.000_2;
/** Weight of the newest slice in the running mean of the core's share. */
const NEWEST_WEIGHT = 0.05;
/** Words of T in a lane, as the derived key has them: most significant byte first. */
const DIGEST_WORDS = { from: 24, to: 32 } as const;
const FREE = -1;

export class BatchKernel implements Kernel {
  readonly lanes: number;
  readonly #addon: NativeAddon;
  readonly #variants: readonly NativeKernel[];
  /** null: slices run on the worker's own thread. */
  readonly #thread: ThreadHandle | null;
  readonly #chooser: Chooser;
  /** LANE_WORDS words for each lane. */
  readonly #state: Uint32Array;
  /** Iterations that each lane still needs; FREE is a free lane. */
  readonly #left: number[];
  /** The lanes of the slice, occupied ones first. */
  readonly #busy: Uint32Array;
  /** Processor time of each kernel in the slice. */
  readonly #seconds: Float64Array;
  /** Part of the core that slices got of late, above 0, to 1: what neighbours leave. */
  #share = 1;

  /** @param options `variants` has at least one; `nice` is 0 to 19. */
  constructor({
    addon,
    variants,
    nice,
  }: { addon: NativeAddon; variants: readonly NativeKernel[]; nice: number }) {
    assertWorkerThread();
    this.lanes = Math.max(...variants.map(({ width }) => width));
    this.#addon = addon;
    this.#variants = variants;
    this.#thread = nice > 0 ? addon.startThread(nice) : null;
    this.#state = new Uint32Array(this.lanes * LANE_WORDS);
    this.#left = new Array<number>(this.lanes).fill(FREE);
    this.#busy = new Uint32Array(this.lanes);
    this.#seconds = new Float64Array(this.lanes);
    this.#chooser = new Chooser(
      variants,
      variants.map((variant) => measure(addon, variant)),
    );
  }

  load(lane: number, { password, salt, iterations }: LaneJob): void {
    this.#addon.prepare(this.#state, lane, password, salt);
    this.#left[lane] = iterations - 1;
  }

  run(slice: Slice): void {
    let count = 0;
    let shortest = Number.POSITIVE_INFINITY;
    for (const [lane, left] of this.#left.entries()) {
      if (left <= 0) continue;
      this.#busy[count++] = lane;
      shortest = Math.min(shortest, left);
    }
    if (count === 0) return;
    const busy = this.#busy.subarray(0, count);
    const plan = this.#chooser.plan(count);
    const iterations = Math.min(shortest, Math.ceil(SLICE_SECONDS[slice] / this.#chooser.secondsOf(plan)));
    this.#advance(plan, busy, iterations);
    for (const lane of busy) this.#left[lane] = (this.#left[lane] ?? 0) - iterations;
  }

  isFinished(lane: number): boolean {
    return this.#left[lane] === 0;
  }

  read(lane: number, digest: Uint8Array): void {
    const words = this.#laneWords(lane).subarray(DIGEST_WORDS.from, DIGEST_WORDS.to);
    const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
    for (const [index, word] of words.entries()) view.setUint32(4 * index, word);
  }

  clear(lane: number): void {
    this.#addon.wipe(this.#laneWords(lane));
    this.#left[lane] = FREE;
  }

  pace(): Pace {
    const plan = this.#chooser.settledPlan(this.lanes);
    return {
      kernel: this.#variants[plan[0] ?? 0]?.family ?? "",
      capacityPerSecond: (this.#share * this.lanes) / (STORED_ITERATIONS * this.#chooser.secondsOf(plan)),
    };
  }

  #advance(plan: Plan, busy: Uint32Array, iterations: number): void {
    const ids = Uint32Array.from(plan, (index) => this.#variants[index]?.id ?? 0);
    const started = performance.now();
    this.#addon.advance(ids, this.#state, busy, iterations, this.#thread, this.#seconds);
    const elapsed = (performance.now() - started) / 1000;
    let total = 0;
    for (const [at, index] of plan.entries()) {
      const seconds = this.#seconds[at] ?? 0;
      if (seconds >= MIN_SAMPLE_SECONDS) this.#chooser.record(index, seconds / iterations);
      total += seconds;
    }
    if (total >= MIN_SAMPLE_SECONDS)
      this.#share += NEWEST_WEIGHT * (Math.min(1, total / elapsed) - this.#share);
  }

  #laneWords(lane: number): Uint32Array {
    return this.#state.subarray(lane * LANE_WORDS, (lane + 1) * LANE_WORDS);
  }
}

/** Processor seconds per iteration: the best of a few short runs, because at the start caches and clock are cold. */
function measure(addon: NativeAddon, { id, width }: NativeKernel): number {
  const nothing = new Uint8Array(0);
  const state = new Uint32Array(width * LANE_WORDS);
  const lanes = Uint32Array.from({ length: width }, (_, lane) => lane);
  for (const lane of lanes) addon.prepare(state, lane, nothing, nothing);
  const plan = Uint32Array.of(id);
  const seconds = new Float64Array(1);
  let best = Number.POSITIVE_INFINITY;
  for (const iterations of [500, 2000, 2000, 2000]) {
    addon.advance(plan, state, lanes, iterations, null, seconds);
    best = Math.min(best, (seconds[0] ?? best) / iterations);
  }
  return best;
}
