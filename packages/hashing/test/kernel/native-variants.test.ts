/** Every compiled variant of the kernels that this processor can run. */
import { expect, test } from "bun:test";
import { randomBytes, randomInt } from "node:crypto";
import { LANE_WORDS } from "../../src/kernel/addon.ts";
import { referenceDigest } from "../support/derivation.ts";
import { describeNative, digestOf, failedKernels } from "../support/native-addon.ts";

await describeNative("the native kernels", ({ addon, variants, status }) => {
  test("include at least one that runs on this machine, and none fails its known-answer test", () => {
    expect(variants.length).toBeGreaterThan(0);
    expect(failedKernels(status)).toEqual([]);
  });

  test("read a password and a salt that overlap the lane before they write the lane", () => {
    const state = new Uint32Array(LANE_WORDS).map(() => randomInt(2 ** 32));
    const bytes = new Uint8Array(state.buffer);
    const [password, salt] = [bytes.slice(0, 100), bytes.slice(90, 128)];
    addon.prepareLane(state, 0, bytes.subarray(0, 100), bytes.subarray(90, 128));
    expect(digestOf(state, 0)).toBe(referenceDigest({ password, salt, iterations: 1 }));
  });

  for (const kernel of variants) {
    test(`${kernel.family} with ${kernel.width} lanes advances any lanes of a larger buffer in any order, and changes no other`, () => {
      const places = kernel.width + 3;
      for (let count = 1; count <= kernel.width; count++) {
        const state = new Uint32Array(places * LANE_WORDS).fill(0xdeadbeef);
        const lanes = shuffled(places).subarray(0, count);
        const jobs = new Map(Array.from(lanes, (lane) => [lane, randomJob()]));
        for (const [lane, { password, salt }] of jobs) addon.prepareLane(state, lane, password, salt);
        addon.advance(kernel.id, state, lanes, 3);
        addon.advance(kernel.id, state, lanes.toReversed(), 5);
        for (let lane = 0; lane < places; lane++) {
          const job = jobs.get(lane);
          if (job) expect(digestOf(state, lane)).toBe(referenceDigest({ ...job, iterations: 9 }));
          else
            expect(new Set(state.subarray(lane * LANE_WORDS, (lane + 1) * LANE_WORDS))).toEqual(
              new Set([0xdeadbeef]),
            );
        }
      }
    });
  }
});

function randomJob(): { password: Uint8Array; salt: Uint8Array } {
  return { password: randomBytes(randomInt(140)), salt: randomBytes(randomInt(140)) };
}

function shuffled(count: number): Uint32Array {
  const order = Array.from({ length: count }, (_, index) => ({ index, key: randomInt(2 ** 32) }));
  return Uint32Array.from(
    order.sort((a, b) => a.key - b.key),
    ({ index }) => index,
  );
}
