/**
 * The kernel that runs the C code. It has as many lanes as its costs justify, and gets more when they do later. Each slice of a
 * few milliseconds advances the lanes with the oldest jobs, because new short jobs must not delay a long job forever.
 */
import { STORED_ITERATIONS } from "../stored-hash.ts";
import { type KernelVariant, LANE_T, LANE_WORDS, type NativeAddon } from "./addon.ts";
import type { Kernel, LaneJob, Slice, Throughput } from "./kernel.ts";
import { VariantPlanner } from "./variant-planner.ts";

/** Long compared to a turn of the event loop, short compared to a login. */
const SLICE_SECONDS = 0.006;
/** In a shorter run, the overhead of the call would dominate the measurement. */
const MIN_SAMPLE_SECONDS = 0.000_2;

export class NativeKernel implements Kernel {
  #lanes: number;
  readonly #addon: NativeAddon;
  readonly #planner: VariantPlanner;
  /** LANE_WORDS words per lane. */
  readonly #state: Uint32Array;
  /** The remaining iterations of each lane with a job, in the order in which the jobs were loaded. */
  readonly #remaining = new Map<number, number>();

  /** @param variants at least one. @param nice 0 to 19. With 0, or if no thread can start, slices run on the worker's thread. */
  constructor(addon: NativeAddon, variants: readonly KernelVariant[], nice: number) {
    this.#addon = addon;
    this.#state = new Uint32Array(Math.max(...variants.map(({ width }) => width)) * LANE_WORDS);
    this.#planner = new VariantPlanner(
      variants.map((variant) => ({ ...variant, seconds: measure(addon, variant) })),
    );
    this.#lanes = this.#planner.lanes;
    if (nice > 0 && !addon.startThread(nice) && process.platform === "linux")
      process.emitWarning("The system cannot start a thread: derivations run without the nice value");
  }

  get lanes(): number {
    return this.#lanes;
  }

  load(lane: number, { password, salt, iterations }: LaneJob): void {
    this.#addon.prepareLane(this.#state, lane, password, salt);
    this.#remaining.set(lane, iterations - 1);
  }

  run(): Slice {
    const busy = [...this.#remaining].filter(([, count]) => count > 0);
    if (busy.length === 0) return { iterations: 0, seconds: 0 };
    const variant = this.#planner.choose(busy.length);
    const group = busy.slice(0, variant.width);
    const slice = Math.ceil(SLICE_SECONDS / variant.seconds);
    const iterations = Math.min(slice, ...group.map(([, remaining]) => remaining));
    const lanes = Uint32Array.from(group, ([lane]) => lane);
    const seconds = this.#addon.advance(variant.id, this.#state, lanes, iterations);
    if (seconds >= MIN_SAMPLE_SECONDS) this.#planner.record(variant, seconds / iterations);
    // A measurement that a neighbour of this machine disturbed at the start must not limit the worker until it ends.
    this.#lanes = Math.max(this.#lanes, this.#planner.lanes);
    for (const [lane, remaining] of group) this.#remaining.set(lane, remaining - iterations);
    return { iterations: iterations * group.length, seconds };
  }

  isFinished(lane: number): boolean {
    return this.#remaining.get(lane) === 0;
  }

  read(lane: number, digest: Uint8Array): void {
    const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
    for (const [index, word] of this.#laneWords(lane).subarray(LANE_T).entries())
      view.setUint32(4 * index, word);
  }

  clear(lane: number): void {
    this.#laneWords(lane).fill(0);
    this.#remaining.delete(lane);
  }

  throughput(): Throughput {
    const lanes = this.#lanes;
    const { family, width, seconds } = this.#planner.chooseMeasured(lanes);
    return { kernel: family, lanes, capacityPerSecond: width / (STORED_ITERATIONS * seconds) };
  }

  #laneWords(lane: number): Uint32Array {
    return this.#state.subarray(lane * LANE_WORDS, (lane + 1) * LANE_WORDS);
  }
}

/** Returns processor seconds per iteration: the best of a few short runs, because caches and clock frequency need to warm up. */
function measure(addon: NativeAddon, { id, width }: KernelVariant): number {
  const empty = new Uint8Array(0);
  const state = new Uint32Array(width * LANE_WORDS);
  const lanes = Uint32Array.from({ length: width }, (_, lane) => lane);
  for (const lane of lanes) addon.prepareLane(state, lane, empty, empty);
  const runs = [500, 2000, 2000, 2000];
  return Math.min(...runs.map((count) => addon.advance(id, state, lanes, count) / count));
}
