/** Reproducible random numbers: equal seeds give equal numbers on every machine. */

/** Each purpose has its own stream. Drawing more numbers from one stream does not change the numbers of another stream. */
const STREAMS = { arrivals: 1, requests: 2 } as const;

/**
 * Creates a Mulberry32 generator (Ettinger, 2017). The first step of MurmurHash3's 32-bit finalizer mixes the seed. The initial
 * state is the sum of the mixed seed and a constant for the stream.
 * @param seed an integer, of which only the lower 32 bits are used
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
