/** The kernel over the C code: as many lanes as its widest variant, advanced together in slices of a few milliseconds. */
import { STORED_ITERATIONS } from "../encoding.ts";
import { Chooser, type Plan } from "./chooser.ts";
import { assertWorkerThread, type Kernel, type LaneJob, type Pace } from "./kernel.ts";
import { LANE_WORDS, type NativeAddon, type NativeKernel } from "./native.ts";

/** Long against a turn of the event loop, short against a login. */
const SLICE_SECONDS = 0.006;
/** A call shorter than this measures the call, not the iterations. */
const MIN_SAMPLE_SECONDS = 0.000_2;
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
    const iterations = Math.min(shortest, Math.ceil(SLICE_SECONDS / this.#chooser.secondsOf(plan)));
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
      capacityPerSecond: this.lanes / (STORED_ITERATIONS * this.#chooser.secondsOf(plan)),
    };
  }

  #advance(plan: Plan, busy: Uint32Array, iterations: number): void {
    let from = 0;
    for (const index of plan) {
      const variant = this.#variants[index];
      if (!variant) continue;
      const group = busy.subarray(from, from + variant.width);
      const started = performance.now();
      this.#addon.advance(variant.id, this.#state, group, iterations, this.#nice);
      const seconds = (performance.now() - started) / 1000;
      if (seconds >= MIN_SAMPLE_SECONDS) this.#chooser.record(index, seconds / iterations);
      from += variant.width;
    }
  }

  #laneWords(lane: number): Uint32Array {
    return this.#state.subarray(lane * LANE_WORDS, (lane + 1) * LANE_WORDS);
  }
}

/** Seconds per iteration: the best of a few short runs, because at the start of a process much else goes on. */
function measure(addon: NativeAddon, { id, width }: NativeKernel): number {
  const nothing = new Uint8Array(0);
  const state = new Uint32Array(width * LANE_WORDS);
  const lanes = Uint32Array.from({ length: width }, (_, lane) => lane);
  for (const lane of lanes) addon.prepare(state, lane, nothing, nothing);
  let best = Number.POSITIVE_INFINITY;
  for (const iterations of [500, 2000, 2000, 2000]) {
    const started = performance.now();
    addon.advance(id, state, lanes, iterations, 0);
    best = Math.min(best, (performance.now() - started) / 1000 / iterations);
  }
  return best;
}
