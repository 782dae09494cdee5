/** Reproducible random numbers: equal seeds give equal numbers on every machine. */

/** One stream per purpose: drawing more numbers for one of them does not change the others. */
const STREAMS = { arrivals: 1, requests: 2 } as const;

/**
 * Mulberry32 (Ettinger, 2017), which starts at MurmurHash3's 32-bit finalizer of the seed.
 * @param seed a whole number; its lower 32 bits are used
 * @returns a function that draws uniformly from [0, 1), with 32 bits of resolution
 */
export function createRandom(seed: number, stream: keyof typeof STREAMS): () => number {
  let state = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b) + Math.imul(STREAMS[stream], 0x9e3779b9);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}
