/** The kernel over the C code: as many lanes as its widest variant, advanced together in slices of a few milliseconds. */
import { STORED_ITERATIONS } from "../encoding.ts";
import { Chooser, type Plan } from "./chooser.ts";
import { assertWorkerThread, type Kernel, type LaneJob, type Pace } from "./kernel.ts";
import { LANE_WORDS, type NativeAddon, type NativeKernel } from "./native.ts";

/** Long against a turn of the event loop, short against a login. */
const SLICE_SECONDS = 0.006;
/** The first slice after every lane was free: the jobs that come together with the first one are posted meanwhile. */
const FIRST_SLICE_SECONDS = 0.001;
/** A call shorter than this measures the call, not the iterations. */
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
  readonly #nice: number;
  readonly #chooser: Chooser;
  /** LANE_WORDS words for each lane. */
  readonly #state: Uint32Array;
  /** Iterations that each lane still needs; FREE is a free lane. */
  readonly #left: number[];
  /** The lanes of the slice, occupied ones first. */
  readonly #busy: Uint32Array;
  #sliceSeconds = SLICE_SECONDS;
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
    this.#nice = nice;
    this.#state = new Uint32Array(this.lanes * LANE_WORDS);
    this.#left = new Array<number>(this.lanes).fill(FREE);
    this.#busy = new Uint32Array(this.lanes);
    this.#chooser = new Chooser(
      variants,
      variants.map((variant) => measure(addon, variant)),
    );
  }

  load(lane: number, { password, salt, iterations }: LaneJob): void {
    if (this.#left.every((left) => left === FREE)) this.#sliceSeconds = FIRST_SLICE_SECONDS;
    this.#addon.prepare(this.#state, lane, password, salt);
    this.#left[lane] = iterations - 1;
  }

  run(): void {
    let busy = 0;
    let shortest = Number.POSITIVE_INFINITY;
    for (const [lane, left] of this.#left.entries()) {
      if (left <= 0) continue;
      this.#busy[busy++] = lane;
      shortest = Math.min(shortest, left);
    }
    if (busy === 0) return;
    const plan = this.#chooser.plan(busy);
    const iterations = Math.min(shortest, Math.ceil(this.#sliceSeconds / this.#chooser.secondsOf(plan)));
    this.#sliceSeconds = SLICE_SECONDS;
    this.#advance(plan, this.#busy.subarray(0, busy), iterations);
    for (const lane of this.#busy.subarray(0, busy)) this.#left[lane] = (this.#left[lane] ?? 0) - iterations;
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
    let from = 0;
    for (const index of plan) {
      const variant = this.#variants[index];
      if (!variant) continue;
      const group = busy.subarray(from, from + variant.width);
      const started = performance.now();
      const seconds = this.#addon.advance(variant.id, this.#state, group, iterations, this.#nice);
      if (seconds >= MIN_SAMPLE_SECONDS) {
        this.#chooser.record(index, seconds / iterations);
        const share = Math.min(1, (1000 * seconds) / (performance.now() - started));
        this.#share += NEWEST_WEIGHT * (share - this.#share);
      }
      from += variant.width;
    }
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
  let best = Number.POSITIVE_INFINITY;
  for (const iterations of [500, 2000, 2000, 2000]) {
    best = Math.min(best, addon.advance(id, state, lanes, iterations, 0) / iterations);
  }
  return best;
}
