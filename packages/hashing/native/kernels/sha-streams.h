/* PBKDF2's inner loop with a processor's SHA-256 instructions, on one, two or four streams: one per lane. A single stream
 * waits for the latency of each instruction; interleaved streams use that time. The including file defines `vector` (four
 * words, the first word lowest) and:
 *   ADVANCE(streams)             the name of the kernel
 *   ADD XOR STORE(w, x) WORDS(w0, w1, w2, w3), each on vectors
 *   STATE(w) WORDS_0_TO_3(s) WORDS_4_TO_7(s), conversions between eight words and the halves of a state
 *   FOUR_ROUNDS(v, sum)          advances a state; `sum` is W_t + K_t of each round
 *   OLDER(w0, w1)                W_(t-16) + sigma_0(W_(t-15))
 *   NEWER(older, w2, w3)         older + W_(t-7) + sigma_1(W_(t-2)) */
#include "../lane.h"
#include "../wipe.h"
#include "sha256.h"

enum { MAX_STREAMS = 4 };

struct state {
    vector first, second;
};

INLINE struct state add_states(struct state x, struct state y)
{
    return (struct state){ADD(x.first, y.first), ADD(x.second, y.second)};
}

INLINE struct state xor_states(struct state x, struct state y)
{
    return (struct state){XOR(x.first, y.first), XOR(x.second, y.second)};
}

/* Runs the statements for each stream s; `streams` is a constant wherever this macro is expanded. */
#define EACH(...)                                            \
    do {                                                     \
        { enum { s = 0 }; __VA_ARGS__; }                     \
        if (streams > 1) { enum { s = 1 }; __VA_ARGS__; }    \
        if (streams > 2) { enum { s = 2 }; __VA_ARGS__; }    \
        if (streams > 3) { enum { s = 3 }; __VA_ARGS__; }    \
    } while (0)

#define K4(t) WORDS(SHA256_K[t], SHA256_K[(t) + 1], SHA256_K[(t) + 2], SHA256_K[(t) + 3])
#define ROUNDS(w, t) EACH(FOUR_ROUNDS(v[s], ADD(w, K4(t))))
#define ROUNDS_NEXT(w, next, t) \
    EACH(w[s] = next);          \
    ROUNDS(w[s], t)
#define ROUNDS_EXPANDED(w0, w1, w2, w3, t) ROUNDS_NEXT(w0, NEWER(OLDER(w0[s], w1[s]), w2[s], w3[s]), t)

/* digest = compression of `mid` with [digest][padding] in each stream (FIPS 180-4, section 6.2.2). */
INLINE void compress(const int streams, const struct state *mid, struct state *digest)
{
    const vector padding_2 = WORDS(PADDING_FIRST, 0, 0, 0), padding_3 = WORDS(0, 0, 0, PADDING_LENGTH);
    struct state v[MAX_STREAMS];
    vector w0[MAX_STREAMS], w1[MAX_STREAMS], w2[MAX_STREAMS], w3[MAX_STREAMS];
    EACH(w0[s] = WORDS_0_TO_3(digest[s]); w1[s] = WORDS_4_TO_7(digest[s]); v[s] = mid[s]);
    ROUNDS(w0[s], 0);
    ROUNDS(w1[s], 4);
    ROUNDS(padding_2, 8);
    ROUNDS(padding_3, 12);
    /* Computes W_16 to W_31. W_8 to W_15 are padding, and OLDER(padding_2, padding_3) equals padding_2. */
    ROUNDS_NEXT(w0, NEWER(OLDER(w0[s], w1[s]), padding_2, padding_3), 16);
    ROUNDS_NEXT(w1, NEWER(OLDER(w1[s], padding_2), padding_3, w0[s]), 20);
    ROUNDS_NEXT(w2, NEWER(padding_2, w0[s], w1[s]), 24);
    ROUNDS_NEXT(w3, NEWER(OLDER(padding_3, w0[s]), w1[s], w2[s]), 28);
    ROUNDS_EXPANDED(w0, w1, w2, w3, 32);
    ROUNDS_EXPANDED(w1, w2, w3, w0, 36);
    ROUNDS_EXPANDED(w2, w3, w0, w1, 40);
    ROUNDS_EXPANDED(w3, w0, w1, w2, 44);
    ROUNDS_EXPANDED(w0, w1, w2, w3, 48);
    ROUNDS_EXPANDED(w1, w2, w3, w0, 52);
    ROUNDS_EXPANDED(w2, w3, w0, w1, 56);
    ROUNDS_EXPANDED(w3, w0, w1, w2, 60);
    EACH(digest[s] = add_states(v[s], mid[s]));
}

/* U_i = HMAC(password, U_(i-1)) and T ^= U_i (RFC 8018, section 5.2). */
INLINE void advance(const int streams, uint32_t *const *lanes, uint32_t iterations)
{
    struct {
        struct state inner[MAX_STREAMS], outer[MAX_STREAMS], t[MAX_STREAMS];
    } scratch;
    struct state digest[MAX_STREAMS];
    EACH({
        scratch.inner[s] = (struct state)STATE(lanes[s] + INNER);
        scratch.outer[s] = (struct state)STATE(lanes[s] + OUTER);
        scratch.t[s] = (struct state)STATE(lanes[s] + T);
        digest[s] = (struct state)STATE(lanes[s] + U);
    });
    for (uint32_t i = 0; i < iterations; i++) {
        compress(streams, scratch.inner, digest);
        compress(streams, scratch.outer, digest);
        EACH(scratch.t[s] = xor_states(scratch.t[s], digest[s]));
    }
    EACH({
        STORE(lanes[s] + U, WORDS_0_TO_3(digest[s]));
        STORE(lanes[s] + U + 4, WORDS_4_TO_7(digest[s]));
        STORE(lanes[s] + T, WORDS_0_TO_3(scratch.t[s]));
        STORE(lanes[s] + T + 4, WORDS_4_TO_7(scratch.t[s]));
    });
    wipe(&scratch, sizeof scratch);
}

#define DEFINE_KERNEL(streams)                                         \
    void ADVANCE(streams)(uint32_t *const *lanes, uint32_t iterations) \
    {                                                                  \
        advance(streams, lanes, iterations);                           \
    }
DEFINE_KERNEL(1)
DEFINE_KERNEL(2)
DEFINE_KERNEL(4)
