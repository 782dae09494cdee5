/** The tests that every kernel must pass, through the public API: published digests and those of node:crypto. */
import { describe, expect, test } from "bun:test";
import { randomBytes, randomInt } from "node:crypto";
import { isFullRun } from "@latchkey/testing/full-run";
import { createHasher, type DeriveJob, type Hasher } from "../../src/index.ts";
import { hex, referenceDigest } from "./derivation.ts";

const utf8 = new TextEncoder();

/** RFC 7914 §11, then an input of RFC 6070 with SHA-256: the beginning of each published key. */
const VECTORS = [
  ["passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"],
  ["Password", "NaCl", 80_000, "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"],
  ["pass\0word", "sa\0lt", 4_096, "89b69d0516f829893c696226650a8687"],
] as const;

const LENGTHS = [0, 1, 31, 32, 55, 56, 63, 64, 65, 119, 120, 127, 128, 129, 1000];

/** How many jobs at a time: beside each power of two, as wide as a variant can be; in the full run every number. */
function jobCounts(lanes: number): readonly number[] {
  const numbers = [...Array(lanes + 2).keys()];
  const isBesideWidth = (number: number) => [-1, 0, 1].some((by) => Number.isInteger(Math.log2(number + by)));
  return [...(isFullRun ? numbers : numbers.filter(isBesideWidth)), 3 * lanes + 1];
}
const MAX_ITERATIONS = isFullRun ? 20_000 : 2_000;

function randomInput(iterations: number): DeriveJob {
  return { password: randomBytes(randomInt(150)), salt: randomBytes(randomInt(150)), iterations };
}

export function kernelConformance(kernel: string): void {
  describe(`kernel ${kernel}`, () => {
    const create = () => createHasher({ kernel, workers: 1, nice: 0, queueLimit: 1000, queueSeconds: 600 });

    async function expectAll(hasher: Hasher, inputs: readonly DeriveJob[]): Promise<void> {
      const digests = await Promise.all(inputs.map((input) => hasher.derive(input)));
      expect(digests.map(hex)).toEqual(inputs.map(referenceDigest));
    }

    test("returns the published digests", async () => {
      await using hasher = create();
      for (const [password, salt, iterations, digest] of VECTORS) {
        const input = { password: utf8.encode(password), salt: utf8.encode(salt), iterations };
        const derived = await hasher.derive(input);
        expect(derived).toHaveLength(32);
        expect(hex(derived)).toStartWith(digest);
      }
    });

    test("returns the digests of node:crypto for any number of jobs, with different iterations", async () => {
      await using hasher = create();
      const { lanes } = hasher.stats();
      for (const jobs of jobCounts(lanes)) {
        const inputs = Array.from({ length: jobs }, () => randomInput(randomInt(1, MAX_ITERATIONS)));
        await expectAll(hasher, inputs);
      }
      await expectAll(hasher, [60_000, 1, 2, 3, 30_000, 1, 1, 2].map(randomInput));
    });

    test("accepts passwords and salts of every length near a block boundary, including empty ones", async () => {
      await using hasher = create();
      await expectAll(
        hasher,
        LENGTHS.flatMap((length) => [
          { password: randomBytes(length), salt: randomBytes(32), iterations: 3 },
          { password: randomBytes(20), salt: randomBytes(length), iterations: 3 },
          { password: randomBytes(length), salt: randomBytes(length), iterations: 1 },
        ]),
      );
    });
  });
}
