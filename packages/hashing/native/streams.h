/* PBKDF2's inner loop with a processor's SHA-256 instructions, on one, two or four lanes. One stream waits for each
 * instruction's latency; interleaved streams use that time. The includer defines, beside INLINE and the names of the
 * three kernels, `vector` (four words, the earliest lowest), `struct state`, and:
 *   ADD XOR WORDS(w0, w1, w2, w3), each on vectors
 *   add_state xor_state words_0_to_3 words_4_to_7 from_words to_words, on states
 *   FOUR_ROUNDS(v, sum)          `sum` holds W_t + K_t of each round
 *   OLDER(w0, w1)                W_(t-16) + sigma_0(W_(t-15))
 *   NEWER(older, w2, w3)         older + W_(t-7) + sigma_1(W_(t-2)) */
#include "lane.h"
#include "sha256.h"
#include "wipe.h"

enum { MAX_STREAMS = 4 };

/* Does the statements for each stream s; `streams` is a constant wherever this is expanded. */
#define EACH(...)                                            \
    do {                                                     \
        { enum { s = 0 }; __VA_ARGS__; }                     \
        if (streams > 1) { enum { s = 1 }; __VA_ARGS__; }    \
        if (streams > 2) { enum { s = 2 }; __VA_ARGS__; }    \
        if (streams > 3) { enum { s = 3 }; __VA_ARGS__; }    \
    } while (0)

#define K4(t) WORDS(SHA256_K[t], SHA256_K[(t) + 1], SHA256_K[(t) + 2], SHA256_K[(t) + 3])
#define ROUNDS(w, t) EACH(FOUR_ROUNDS(v[s], ADD(w, K4(t))))
#define EXPAND(w0, w1, w2, w3) EACH(w0[s] = NEWER(OLDER(w0[s], w1[s]), w2[s], w3[s]))

/* digest = compression of `mid` with [digest][padding] in each stream (FIPS 180-4, section 6.2.2). */
INLINE void compress(const int streams, const struct state *mid, struct state *digest)
{
    const vector padding_2 = WORDS(PADDING_FIRST, 0, 0, 0), padding_3 = WORDS(0, 0, 0, PADDING_LENGTH);
    struct state v[MAX_STREAMS];
    vector w0[MAX_STREAMS], w1[MAX_STREAMS], w2[MAX_STREAMS], w3[MAX_STREAMS];
    EACH(w0[s] = words_0_to_3(digest[s]); w1[s] = words_4_to_7(digest[s]); v[s] = mid[s]);
    ROUNDS(w0[s], 0);
    ROUNDS(w1[s], 4);
    ROUNDS(padding_2, 8);
    ROUNDS(padding_3, 12);
    /* W_16 to W_31 where W_8 to W_15 are the padding; OLDER of W_8 to W_15 is W_8 to W_11. */
    EACH(w0[s] = NEWER(OLDER(w0[s], w1[s]), padding_2, padding_3));
    ROUNDS(w0[s], 16);
    EACH(w1[s] = NEWER(OLDER(w1[s], padding_2), padding_3, w0[s]));
    ROUNDS(w1[s], 20);
    EACH(w2[s] = NEWER(padding_2, w0[s], w1[s]));
    ROUNDS(w2[s], 24);
    EACH(w3[s] = NEWER(OLDER(padding_3, w0[s]), w1[s], w2[s]));
    ROUNDS(w3[s], 28);
    EXPAND(w0, w1, w2, w3);
    ROUNDS(w0[s], 32);
    EXPAND(w1, w2, w3, w0);
    ROUNDS(w1[s], 36);
    EXPAND(w2, w3, w0, w1);
    ROUNDS(w2[s], 40);
    EXPAND(w3, w0, w1, w2);
    ROUNDS(w3[s], 44);
    EXPAND(w0, w1, w2, w3);
    ROUNDS(w0[s], 48);
    EXPAND(w1, w2, w3, w0);
    ROUNDS(w1[s], 52);
    EXPAND(w2, w3, w0, w1);
    ROUNDS(w2[s], 56);
    EXPAND(w3, w0, w1, w2);
    ROUNDS(w3[s], 60);
    EACH(digest[s] = add_state(v[s], mid[s]));
}

/* U_i = HMAC(password, U_(i-1)) and T ^= U_i (RFC 8018, section 5.2). */
INLINE void advance(const int streams, uint32_t *const *lanes, uint32_t iterations)
{
    struct {
        struct state inner[MAX_STREAMS], outer[MAX_STREAMS], t[MAX_STREAMS];
    } scratch;
    struct state digest[MAX_STREAMS];
    EACH({
        scratch.inner[s] = from_words(lanes[s] + INNER);
        scratch.outer[s] = from_words(lanes[s] + OUTER);
        scratch.t[s] = from_words(lanes[s] + T);
        digest[s] = from_words(lanes[s] + U);
    });
    for (uint32_t i = 0; i < iterations; i++) {
        compress(streams, scratch.inner, digest);
        compress(streams, scratch.outer, digest);
        EACH(scratch.t[s] = xor_state(scratch.t[s], digest[s]));
    }
    EACH({
        to_words(lanes[s] + U, digest[s]);
        to_words(lanes[s] + T, scratch.t[s]);
    });
    wipe(&scratch, sizeof scratch);
}

void ADVANCE_1(uint32_t *const *lanes, uint32_t iterations)
{
    advance(1, lanes, iterations);
}

void ADVANCE_2(uint32_t *const *lanes, uint32_t iterations)
{
    advance(2, lanes, iterations);
}

void ADVANCE_4(uint32_t *const *lanes, uint32_t iterations)
{
    advance(4, lanes, iterations);
}
