/** Reproducible random numbers: equal seeds give equal numbers on every machine. */

/** One independent stream per purpose: drawing more numbers for one of them does not change the others. */
const STREAMS = { arrivals: 1, requests: 2 } as const;

const rotateLeft = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

/**
 * xoshiro128++ 1.0 (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47, 2021). The state
 * is initialized with MurmurHash3's 32-bit finalizer over a Weyl sequence, as SplitMix does with 64-bit words.
 * @param seed a whole number; its lower 32 bits are used
 * @returns a function that draws uniformly from [0, 1), with 32 bits of resolution
 */
export function createRandom(seed: number, stream: keyof typeof STREAMS): () => number {
  let weyl = Math.imul(seed, 0x9e3779b9) + STREAMS[stream];
  const nextWord = (): number => {
    weyl = (weyl + 0x9e3779b9) | 0;
    let word = Math.imul(weyl ^ (weyl >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    return word ^ (word >>> 16);
  };
  let [a, b, c, d] = [nextWord(), nextWord(), nextWord(), nextWord()];
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
