/** The kernel over the C code: as many lanes as its widest variant, advanced together in slices of a few milliseconds. */
import { STORED_ITERATIONS } from "../stored-hash.ts";
import { type KernelVariant, LANE_T, LANE_WORDS, type NativeAddon, type ThreadHandle } from "./addon.ts";
import {
  assertWorkerThread,
  type Kernel,
  type LaneJob,
  type SliceLength,
  type Throughput,
} from "./kernel.ts";
import { type Plan, Planner } from "./planner.ts";

/**
 * A full slice is long compared to a turn of the event loop and short compared to a login. A short slice is still long
 * compared to the time that the event loop needs to answer a login.
 */
const SLICE_SECONDS: Readonly<Record<SliceLength, number>> = { full: 0.006, short: 0.002 };
/** In a shorter run, the overhead of the call would dominate the measurement. */
const MIN_SAMPLE_SECONDS = 0.000_2;
/** The number of remaining iterations that marks a free lane. */
const FREE = -1;

export class NativeKernel implements Kernel {
  readonly lanes: number;
  readonly #addon: NativeAddon;
  readonly #variants: readonly KernelVariant[];
  /** Null if slices run on the worker's own thread. */
  readonly #thread: ThreadHandle | null;
  readonly #planner: Planner;
  /** LANE_WORDS words per lane. */
  readonly #state: Uint32Array;
  /** The remaining iterations of each lane, or FREE. */
  readonly #remaining: number[];
  /** The processor time of each variant in the current slice. */
  readonly #seconds: Float64Array;

  /** @param variants at least one. @param nice 0 to 19; 0 runs slices on the worker's own thread. */
  constructor(addon: NativeAddon, variants: readonly KernelVariant[], nice: number) {
    assertWorkerThread();
    this.lanes = Math.max(...variants.map(({ width }) => width));
    this.#addon = addon;
    this.#variants = variants;
    this.#thread = nice > 0 ? addon.startThread(nice) : null;
    this.#state = new Uint32Array(this.lanes * LANE_WORDS);
    this.#remaining = new Array<number>(this.lanes).fill(FREE);
    this.#seconds = new Float64Array(this.lanes);
    this.#planner = new Planner(
      variants.map((variant) => ({ ...variant, seconds: measure(addon, variant) })),
    );
  }

  load(lane: number, { password, salt, iterations }: LaneJob): void {
    this.#addon.prepare(this.#state, lane, password, salt);
    this.#remaining[lane] = iterations - 1;
  }

  run(length: SliceLength): number {
    const busy = [...this.#remaining.entries()].filter(([, remaining]) => remaining > 0);
    if (busy.length === 0) return 0;
    const plan = this.#planner.plan(busy.length);
    const iterations = Math.min(
      ...busy.map(([, remaining]) => remaining),
      Math.ceil(SLICE_SECONDS[length] / this.#planner.secondsOf(plan)),
    );
    const lanes = busy.map(([lane]) => lane);
    this.#advance(plan, Uint32Array.from(lanes), iterations);
    for (const [lane, remaining] of busy) this.#remaining[lane] = remaining - iterations;
    return iterations * busy.length;
  }

  isFinished(lane: number): boolean {
    return this.#remaining[lane] === 0;
  }

  read(lane: number, digest: Uint8Array): void {
    const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
    for (const [index, word] of this.#laneWords(lane).subarray(LANE_T).entries())
      view.setUint32(4 * index, word);
  }

  clear(lane: number): void {
    this.#addon.wipe(this.#laneWords(lane));
    this.#remaining[lane] = FREE;
  }

  throughput(): Throughput {
    const plan = this.#planner.settledPlan(this.lanes);
    const secondsPerBatch = STORED_ITERATIONS * this.#planner.secondsOf(plan);
    return {
      kernel: this.#variants[plan[0] ?? 0]?.family ?? "",
      capacityPerSecond: this.lanes / secondsPerBatch,
    };
  }

  #advance(plan: Plan, lanes: Uint32Array, iterations: number): void {
    const ids = Uint32Array.from(plan, (variant) => this.#variants[variant]?.id ?? 0);
    this.#addon.advance(ids, this.#state, lanes, iterations, this.#thread, this.#seconds);
    for (const [index, variant] of plan.entries()) {
      const seconds = this.#seconds[index] ?? 0;
      if (seconds >= MIN_SAMPLE_SECONDS) this.#planner.record(variant, seconds / iterations);
    }
  }

  #laneWords(lane: number): Uint32Array {
    return this.#state.subarray(lane * LANE_WORDS, (lane + 1) * LANE_WORDS);
  }
}

/** Processor seconds per iteration: the best of a few short runs, because caches and clock frequency need to warm up. */
function measure(addon: NativeAddon, { id, width }: KernelVariant): number {
  const empty = new Uint8Array(0);
  const state = new Uint32Array(width * LANE_WORDS);
  const lanes = Uint32Array.from({ length: width }, (_, lane) => lane);
  for (const lane of lanes) addon.prepare(state, lane, empty, empty);
  const plan = Uint32Array.of(id);
  const seconds = new Float64Array(1);
  const runs = [500, 2000, 2000, 2000].map((iterations) => {
    addon.advance(plan, state, lanes, iterations, null, seconds);
    return (seconds[0] ?? Number.POSITIVE_INFINITY) / iterations;
  });
  return Math.min(...runs);
}
