/** Numbers that look random and can be drawn again: the same seed gives the same ones on every machine. */

/** One independent stream for each use, so that drawing more of one thing changes no other. */
export type Stream = "arrivals" | "requests";
const STREAMS: Readonly<Record<Stream, number>> = { arrivals: 1, requests: 2 };

const rotateLeft = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

/**
 * xoshiro128++ 1.0 (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47, 2021), its state
 * filled by MurmurHash3's 32-bit finaliser over a Weyl sequence, as SplitMix fills it from 64-bit words.
 * @param seed a whole number; its lower 32 bits count
 * @returns a function that draws uniformly from [0, 1), 32 bits at a time
 */
export function createRandom(seed: number, stream: Stream): () => number {
  let weyl = Math.imul(seed, 0x9e3779b9) + (STREAMS[stream] ?? 0);
  const fill = (): number => {
    weyl = (weyl + 0x9e3779b9) | 0;
    let word = Math.imul(weyl ^ (weyl >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    return word ^ (word >>> 16);
  };
  let [a, b, c, d] = [fill(), fill(), fill(), fill()];
  return () => {
    const drawn = (rotateLeft((a + d) | 0, 7) + a) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotateLeft(d, 11);
    return drawn / 2 ** 32;
  };
}
