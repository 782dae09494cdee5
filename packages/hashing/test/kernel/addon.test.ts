/** The arguments that the native addon accepts, and the errors it throws. */
import { expect, test } from "bun:test";
import { LANE_T, LANE_WORDS, loadAddon, type NativeAddon } from "../../src/kernel/addon.ts";
import { checkNativeKernels } from "../../src/kernel/check-kernels.ts";
import { hex, referenceDigest } from "../support/derivation.ts";

const { path, variants, unavailable } = checkNativeKernels();
const [variant] = variants;
if (!variant) process.stderr.write("No native kernel runs on this machine: the addon is not tested.\n");

test.skipIf(!variant && !process.env.CI)(
  "at least one native kernel runs on this machine, and none fails its known-answer test",
  () => {
    expect(variants.length).toBeGreaterThan(0);
    expect(unavailable.filter(({ status }) => status === "failed")).toEqual([]);
  },
);

if (variant) {
  const addon = loadAddon(path);
  const lanes = (count: number) => new Uint32Array(count * LANE_WORDS);
  const empty = new Uint8Array(0);

  function detached(): Uint32Array {
    const array = lanes(1);
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
  }

  /** Valid arguments of `advance`, except the given ones. */
  function sliceWith(invalid: Record<string, unknown>): unknown[] {
    const valid = {
      kernel: variant?.id,
      state: lanes(1),
      lanes: Uint32Array.of(0),
      iterations: 1,
    };
    return Object.values({ ...valid, ...invalid });
  }

  test.each<[Exclude<keyof NativeAddon, "kernels">, string, ErrorConstructor, unknown[]]>([
    ["prepareLane", "one argument too few", TypeError, [lanes(1), 0, empty]],
    ["prepareLane", "bytes for words", TypeError, [new Uint8Array(128), 0, empty, empty]],
    ["prepareLane", "an empty state", RangeError, [lanes(0), 0, empty, empty]],
    ["prepareLane", "a partial lane", RangeError, [new Uint32Array(LANE_WORDS + 16), 0, empty, empty]],
    ["prepareLane", "a detached buffer", RangeError, [detached(), 0, empty, empty]],
    ["prepareLane", "a negative lane", RangeError, [lanes(2), -1, empty, empty]],
    ["prepareLane", "a lane beyond the state", RangeError, [lanes(2), 2, empty, empty]],
    ["prepareLane", "a fractional lane", RangeError, [lanes(2), 0.5, empty, empty]],
    ["prepareLane", "a lane as a string", TypeError, [lanes(2), "0", empty, empty]],
    ["prepareLane", "a password as a string", TypeError, [lanes(1), 0, "password", empty]],
    ["prepareLane", "undefined as the salt", TypeError, [lanes(1), 0, empty, undefined]],
    ["startThread", "no arguments", TypeError, []],
    ["startThread", "a nice value of zero", RangeError, [0]],
    ["startThread", "a nice value above 19", RangeError, [20]],
    ["advance", "one argument too few", TypeError, sliceWith({}).slice(0, -1)],
    ["advance", "a kernel id that does not exist", RangeError, sliceWith({ kernel: 99 })],
    ["advance", "state as floats", TypeError, sliceWith({ state: new Float32Array(LANE_WORDS) })],
    ["advance", "lanes as a plain array", TypeError, sliceWith({ lanes: [0] })],
    ["advance", "no lanes", RangeError, sliceWith({ lanes: new Uint32Array(0) })],
    ["advance", "zero iterations", RangeError, sliceWith({ iterations: 0 })],
    ["advance", "too many iterations", RangeError, sliceWith({ iterations: 2 ** 32 })],
  ])("%s throws for %s", (name, _what, error, values) => {
    // Without type checking, as a bug in another place would call it.
    expect(() => Reflect.apply(addon[name], addon, values)).toThrow(error);
  });

  for (const { id, family, width } of variants) {
    test(`${family} with ${width} lanes throws for more lanes, for duplicate lanes and for one beyond the state, which it does not change`, () => {
      const state = lanes(width + 1).fill(7);
      const allLanes = Uint32Array.from({ length: width + 1 }, (_, lane) => lane);
      for (const indices of [allLanes, [1, 1], [width + 1]])
        expect(() => addon.advance(id, state, Uint32Array.from(indices), 1)).toThrow(RangeError);
      expect(new Set(state)).toEqual(new Set([7]));
    });
  }

  /** T of lane 0. */
  const digestOf = (state: Uint32Array) => hex(Buffer.from(state.slice(LANE_T, LANE_WORDS).buffer).swap32());

  test("reads a password and a salt that overlap the lane before it writes the lane", () => {
    const state = lanes(1).map((_, index) => index);
    const bytes = new Uint8Array(state.buffer);
    const [password, salt] = [bytes.subarray(0, 100), bytes.subarray(90, 128)];
    const job = { password: password.slice(), salt: salt.slice(), iterations: 1 };
    addon.prepareLane(state, 0, password, salt);
    expect(digestOf(state)).toBe(referenceDigest(job));
  });

  const THREADS = [
    ["the calling thread", () => {}],
    ["a low-priority thread", () => addon.startThread(7)],
    ["another low-priority thread", () => addon.startThread(8)],
  ] as const;

  test.each(THREADS)("returns the digest and the processor time of advance on %s", (_, start) => {
    const state = lanes(1);
    start();
    addon.prepareLane(state, 0, empty, empty);
    const started = performance.now();
    const seconds = addon.advance(variant.id, state, Uint32Array.of(0), 19_999);
    expect(digestOf(state)).toBe(referenceDigest({ password: "", salt: "", iterations: 20_000 }));
    expect(seconds).toBeGreaterThan(0);
    // The two clocks can differ slightly.
    expect(seconds).toBeLessThan((1.1 * (performance.now() - started)) / 1000);
  });
}
