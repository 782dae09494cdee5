import { describe, expect, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import { LANE_WORDS } from "../src/kernel/native.ts";
import { describeNative } from "./describe-native.ts";
import { advance, digestOf } from "./native-fixture.ts";

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

  /** The arguments of a right call of `advance`, but for what is named. */
  function slice(wrong: Record<string, unknown>): unknown[] {
    const right = {
      plan: Uint32Array.of(kernel?.id ?? 0),
      state: lanes(1),
      lanes: Uint32Array.of(0),
      iterations: 1,
      thread: null,
      seconds: new Float64Array(1),
    };
    return Object.values({ ...right, ...wrong });
  }

  type Name = "prepare" | "startThread" | "advance" | "wipe";

  /** Past the types, as a fault elsewhere would come. */
  function call(name: Name, ...values: unknown[]): unknown {
    return Reflect.apply(addon[name], addon, values);
  }

  const hostile = { valueOf: () => 0, length: 32, buffer: new ArrayBuffer(128) };

  const REFUSED: Record<Name, [string, ErrorConstructor, unknown[]][]> = {
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
    startThread: [
      ["no arguments", TypeError, []],
      ["nice in words", TypeError, ["7"]],
      ["no lowering", RangeError, [0]],
      ["a nice value below", RangeError, [-1]],
      ["a nice value beyond", RangeError, [20]],
      ["a broken nice value", RangeError, [1.5]],
    ],
    advance: [
      ["no arguments", TypeError, []],
      ["one argument too few", TypeError, slice({}).slice(0, -1)],
      ["one argument too many", TypeError, [...slice({}), null]],
      ["a kernel by name", TypeError, slice({ plan: kernel.family })],
      ["a plan as a plain array", TypeError, slice({ plan: [kernel.id] })],
      ["a plan of bytes", TypeError, slice({ plan: Uint8Array.of(kernel.id) })],
      ["an empty plan", RangeError, slice({ plan: new Uint32Array(0) })],
      ["a kernel beyond", RangeError, slice({ plan: Uint32Array.of(99) })],
      ["the largest kernel", RangeError, slice({ plan: Uint32Array.of(0xffffffff) })],
      ["a kernel without a lane", RangeError, slice({ plan: Uint32Array.of(kernel.id, kernel.id) })],
      ["state as floats", TypeError, slice({ state: new Float32Array(LANE_WORDS) })],
      ["a detached state", RangeError, slice({ state: detached() })],
      ["lanes as a plain array", TypeError, slice({ lanes: [0] })],
      ["no lanes", RangeError, slice({ lanes: new Uint32Array(0) })],
      ["a lane beyond", RangeError, slice({ state: lanes(2), lanes: Uint32Array.of(2) })],
      ["the largest lane", RangeError, slice({ state: lanes(2), lanes: Uint32Array.of(0xffffffff) })],
      ["no iterations", RangeError, slice({ iterations: 0 })],
      ["negative iterations", RangeError, slice({ iterations: -1 })],
      ["too many iterations", RangeError, slice({ iterations: 2 ** 32 })],
      ["broken iterations", RangeError, slice({ iterations: 1.5 })],
      ["iterations in words", TypeError, slice({ iterations: "1" })],
      ["a thread by number", TypeError, slice({ thread: 7 })],
      ["no thread at all", TypeError, slice({ thread: undefined })],
      ["an object as a thread", TypeError, slice({ thread: {} })],
      ["seconds as a plain array", TypeError, slice({ seconds: [0] })],
      ["seconds of single precision", TypeError, slice({ seconds: new Float32Array(1) })],
      ["no place for seconds", RangeError, slice({ seconds: new Float64Array(0) })],
    ],
    wipe: [
      ["nothing", TypeError, []],
      ["null", TypeError, [null]],
      ["a buffer without a view", TypeError, [new ArrayBuffer(8)]],
      ["floats", TypeError, [new Float64Array(1)]],
      ["a string", TypeError, ["secret"]],
    ],
  };

  for (const [name, cases] of Object.entries(REFUSED) as [Name, (typeof REFUSED)["wipe"]][]) {
    describe(`${name} refuses`, () => {
      for (const [what, error, values] of cases) {
        test(what, () => expect(() => call(name, ...values)).toThrow(error));
      }
    });
  }

  for (const { id, family, width } of kernels) {
    test(`${family} with ${width} lanes refuses one lane more than it has, and one lane twice`, () => {
      const indices = Uint32Array.from({ length: width + 1 }, (_, lane) => lane);
      expect(() => advance(addon, [id], lanes(width + 1), indices, 1)).toThrow(RangeError);
      expect(() => advance(addon, [id, id], lanes(2), Uint32Array.of(1, 1), 1)).toThrow(RangeError);
    });
  }

  test("a refused call leaves the state as it was", () => {
    const state = lanes(1).fill(7);
    expect(() => advance(addon, [kernel.id], state, Uint32Array.of(0, 1), 1)).toThrow(RangeError);
    expect(new Set(state)).toEqual(new Set([7]));
  });

  test("a lane list that lies in the state itself is read once, before anything is written", () => {
    const state = lanes(2);
    addon.prepare(state, 1, none, none);
    const before = state.slice();
    state[0] = 1;
    advance(addon, [kernel.id], state, state.subarray(0, 1), 1);
    expect(digestOf(state, 1)).not.toBe(digestOf(before, 1));
  });

  const HANDLES = [
    ["the calling thread", () => null],
    ["a lowered thread", () => addon.startThread(7)],
  ] as const;

  test.each(HANDLES)("advance on %s gives the digest and tells its processor time", (_, open) => {
    const state = lanes(1);
    const thread = open();
    addon.prepare(state, 0, none, none);
    const started = performance.now();
    const [seconds] = advance(addon, [kernel.id], state, Uint32Array.of(0), 19_999, thread);
    expect(digestOf(state, 0)).toBe(pbkdf2Sync("", "", 20_000, 32, "sha256").toString("hex"));
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
