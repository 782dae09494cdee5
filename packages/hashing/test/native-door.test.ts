import { describe, expect, test } from "bun:test";
import { LANE_WORDS } from "../src/kernel/native.ts";
import { describeNative } from "./describe-native.ts";
import { digestOf } from "./native-fixture.ts";

await describeNative("the native door", ({ addon, kernels }) => {
  const [kernel] = kernels;
  if (!kernel) throw new Error("no kernel");

  const lanes = (count: number) => new Uint32Array(count * LANE_WORDS);
  const none = new Uint8Array(0);

  function detached(): Uint32Array {
    const array = lanes(1);
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
  }

  /** Past the types, as a fault elsewhere would come. */
  function call(name: "prepare" | "advance" | "wipe", ...values: unknown[]): unknown {
    return Reflect.apply(addon[name], addon, values);
  }

  const hostile = { valueOf: () => 0, length: 32, buffer: new ArrayBuffer(128) };

  const REFUSED: Record<"prepare" | "advance" | "wipe", [string, ErrorConstructor, unknown[]][]> = {
    prepare: [
      ["no arguments", TypeError, []],
      ["one argument too few", TypeError, [lanes(1), 0, none]],
      ["one argument too many", TypeError, [lanes(1), 0, none, none, none]],
      ["null for state", TypeError, [null, 0, none, none]],
      ["signed words", TypeError, [new Int32Array(LANE_WORDS), 0, none, none]],
      ["bytes for words", TypeError, [new Uint8Array(128), 0, none, none]],
      ["a buffer without a view", TypeError, [new ArrayBuffer(128), 0, none, none]],
      ["an object that looks like an array", TypeError, [hostile, 0, none, none]],
      ["no lane", RangeError, [lanes(0), 0, none, none]],
      ["half a lane", RangeError, [new Uint32Array(LANE_WORDS + 16), 0, none, none]],
      ["a detached buffer", RangeError, [detached(), 0, none, none]],
      ["a lane below", RangeError, [lanes(2), -1, none, none]],
      ["a lane beyond", RangeError, [lanes(2), 2, none, none]],
      ["a broken lane", RangeError, [lanes(2), 0.5, none, none]],
      ["no number", RangeError, [lanes(2), Number.NaN, none, none]],
      ["an infinite lane", RangeError, [lanes(2), Number.POSITIVE_INFINITY, none, none]],
      ["a lane in words", TypeError, [lanes(2), "0", none, none]],
      ["a big lane", TypeError, [lanes(2), 0n, none, none]],
      ["a lane with valueOf", TypeError, [lanes(2), hostile, none, none]],
      ["a password as a string", TypeError, [lanes(1), 0, "password", none]],
      ["a password of clamped bytes", TypeError, [lanes(1), 0, new Uint8ClampedArray(4), none]],
      ["a password as a DataView", TypeError, [lanes(1), 0, new DataView(new ArrayBuffer(4)), none]],
      ["no salt", TypeError, [lanes(1), 0, none, undefined]],
    ],
    advance: [
      ["no arguments", TypeError, []],
      ["a kernel by name", TypeError, [kernel.family, lanes(1), Uint32Array.of(0), 1, 0]],
      ["a kernel below", RangeError, [-1, lanes(1), Uint32Array.of(0), 1, 0]],
      ["a kernel beyond", RangeError, [99, lanes(1), Uint32Array.of(0), 1, 0]],
      ["a broken kernel", RangeError, [0.1, lanes(1), Uint32Array.of(0), 1, 0]],
      ["state as floats", TypeError, [kernel.id, new Float32Array(LANE_WORDS), Uint32Array.of(0), 1, 0]],
      ["a detached state", RangeError, [kernel.id, detached(), Uint32Array.of(0), 1, 0]],
      ["lanes as a plain array", TypeError, [kernel.id, lanes(1), [0], 1, 0]],
      ["no lanes", RangeError, [kernel.id, lanes(1), new Uint32Array(0), 1, 0]],
      ["a lane beyond", RangeError, [kernel.id, lanes(2), Uint32Array.of(2), 1, 0]],
      ["the largest lane", RangeError, [kernel.id, lanes(2), Uint32Array.of(0xffffffff), 1, 0]],
      ["no iterations", RangeError, [kernel.id, lanes(1), Uint32Array.of(0), 0, 0]],
      ["negative iterations", RangeError, [kernel.id, lanes(1), Uint32Array.of(0), -1, 0]],
      ["too many iterations", RangeError, [kernel.id, lanes(1), Uint32Array.of(0), 2 ** 32, 0]],
      ["broken iterations", RangeError, [kernel.id, lanes(1), Uint32Array.of(0), 1.5, 0]],
      ["iterations in words", TypeError, [kernel.id, lanes(1), Uint32Array.of(0), "1", 0]],
      ["one argument too few", TypeError, [kernel.id, lanes(1), Uint32Array.of(0), 1]],
      ["nice in words", TypeError, [kernel.id, lanes(1), Uint32Array.of(0), 1, "7"]],
      ["a nice value below", RangeError, [kernel.id, lanes(1), Uint32Array.of(0), 1, -1]],
      ["a nice value beyond", RangeError, [kernel.id, lanes(1), Uint32Array.of(0), 1, 20]],
      ["a broken nice value", RangeError, [kernel.id, lanes(1), Uint32Array.of(0), 1, 1.5]],
    ],
    wipe: [
      ["nothing", TypeError, []],
      ["null", TypeError, [null]],
      ["a buffer without a view", TypeError, [new ArrayBuffer(8)]],
      ["floats", TypeError, [new Float64Array(1)]],
      ["a string", TypeError, ["secret"]],
    ],
  };

  for (const [name, cases] of Object.entries(REFUSED) as [keyof typeof REFUSED, (typeof REFUSED)["wipe"]][]) {
    describe(`${name} refuses`, () => {
      for (const [what, error, values] of cases) {
        test(what, () => expect(() => call(name, ...values)).toThrow(error));
      }
    });
  }

  for (const { id, family, width } of kernels) {
    test(`${family} with ${width} lanes refuses one lane more than it has, and one lane twice`, () => {
      const indices = Uint32Array.from({ length: width + 1 }, (_, lane) => lane);
      expect(() => addon.advance(id, lanes(width + 1), indices, 1, 0)).toThrow(RangeError);
      expect(() => addon.advance(id, lanes(2), Uint32Array.of(1, 1), 1, 0)).toThrow(RangeError);
    });
  }

  test("a refused call leaves the state as it was", () => {
    const state = lanes(1).fill(7);
    expect(() => addon.advance(kernel.id, state, Uint32Array.of(0, 1), 1, 0)).toThrow(RangeError);
    expect(new Set(state)).toEqual(new Set([7]));
  });

  test("a lane list that lies in the state itself is read once, before anything is written", () => {
    const state = lanes(2);
    addon.prepare(state, 1, none, none);
    const before = state.slice();
    state[0] = 1;
    addon.advance(kernel.id, state, state.subarray(0, 1), 1, 0);
    expect(digestOf(state, 1)).not.toBe(digestOf(before, 1));
  });

  test.each([0, 7])("advance with nice %p tells its processor time, in seconds", (nice) => {
    const state = lanes(1);
    const started = performance.now();
    const seconds = addon.advance(kernel.id, state, Uint32Array.of(0), 20_000, nice);
    expect(seconds).toBeGreaterThan(0);
    // The two clocks may differ by a little, never by a factor.
    expect(seconds).toBeLessThan((1.1 * (performance.now() - started)) / 1000);
  });

  test("an empty password and salt have a digest", () => {
    const state = lanes(1);
    addon.prepare(state, 0, none, none);
    expect(digestOf(state, 0)).toMatch(/^f7ce0b65/);
  });

  test("wipe overwrites a view and nothing around it", () => {
    const bytes = new Uint8Array(24).fill(255);
    addon.wipe(bytes.subarray(3, 9));
    addon.wipe(new Uint32Array(bytes.buffer, 12, 2));
    addon.wipe(none);
    expect(bytes.join()).toBe("255,255,255,0,0,0,0,0,0,255,255,255,0,0,0,0,0,0,0,0,255,255,255,255");
  });
});
