/* PBKDF2's inner loop on WIDTH lanes in parallel. A vector contains the same word of several lanes, so a round has the
 * same form as on one lane. The including file defines WIDTH, `vector`, the operations ADD XOR XOR3 CHOOSE_V MAJORITY_V
 * ROTATE_V SHIFT_V (right) BROADCAST, and ADVANCE, the name of the kernel. If one vector cannot contain all lanes, it also
 * defines SETS as 2: one round of each set of lanes runs in turn, and each set fills the time in which the other one waits. */
#include "../lane.h"
#include "../wipe.h"

#ifndef SETS
#define SETS 1
#endif

#define WORD(i) w[(i) & 15]
#define plus_word(t, x, i) ADD(x, WORD(i))
#define plus_constant(t, x, from) ADD(x, BROADCAST(*(from)))
#define plus_sigma(t, x, i, n1, n2, n3) ADD(x, XOR3(ROTATE_V(WORD(i), n1), ROTATE_V(WORD(i), n2), SHIFT_V(WORD(i), n3)))
#include "message-schedule.h"

#define BIG_0(x) XOR3(ROTATE_V(x, 2), ROTATE_V(x, 13), ROTATE_V(x, 22))
#define BIG_1(x) XOR3(ROTATE_V(x, 6), ROTATE_V(x, 11), ROTATE_V(x, 25))
#define ADD3(x, y, z) ADD(ADD(x, y), z)
#define K_V(t) BROADCAST(k[t])

#if SETS == 1
#define EACH_SET(ROUND_T, ...) ROUND_T(0, __VA_ARGS__)
#define PIN(x, y)
#else
#define EACH_SET(ROUND_T, ...) \
    ROUND_T(0, __VA_ARGS__);   \
    ROUND_T(1, __VA_ARGS__)
/* Both values must be in registers here. Without this, gcc starts later rounds too early and spills the state. */
#define PIN(x, y) __asm__("" : "+v"(x), "+v"(y))
#endif

/* Returns x. The compiler must compute x as a whole: gcc and clang would reorder the terms of a longer sum, which makes the
 * dependency chain from the e of one round to the e of the next round longer. */
INLINE vector sum_first(vector x)
{
    __asm__("" : "+v"(x));
    return x;
}

/* One round of set s (FIPS 180-4, section 6.2.2, step 3); `hkw` is h + K_t + W_t. The terms that are available last are added
 * last: BIG_1(e), then t1. */
#define ROUND(s, a, b, c, d, e, f, g, h, hkw)                                      \
    do {                                                                           \
        vector t1 = ADD3(sum_first(hkw), CHOOSE_V(e[s], f[s], g[s]), BIG_1(e[s])); \
        d[s] = ADD(d[s], t1);                                                      \
        h[s] = ADD(t1, ADD(MAJORITY_V(a[s], b[s], c[s]), BIG_0(a[s])));            \
        PIN(d[s], h[s]);                                                           \
    } while (0)

#define ROUND_W(s, a, b, c, d, e, f, g, h, t) \
    ROUND(s, a, b, c, d, e, f, g, h, ADD(w[s][(t) & 15], sum_first(ADD(h[s], K_V(t)))))
#define ROUND_PADDING(s, a, b, c, d, e, f, g, h, t) \
    ROUND(s, a, b, c, d, e, f, g, h, ADD(h[s], BROADCAST(SHA256_K[t] + PADDING(t))))
/* `sum` is the member of the midstate that already contains h and K_t. */
#define ROUND_SUM(s, a, b, c, d, e, f, g, h, sum, t) ROUND(s, a, b, c, d, e, f, g, h, ADD(mid->sum[s], w[s][t]))

/* The first and the last step of a compression. Like the rounds, they are no loops over the sets: gcc would keep the arrays of a
 * loop in memory. */
#define ROUND_0(s, state)                                                                                \
    for (int i = 0; i < 8; i++) w[s][i] = digest[i][s];                                                  \
    a[s] = state[0][s], b[s] = state[1][s], c[s] = state[2][s], d[s] = ADD(mid->e1[s], w[s][0]);         \
    e[s] = state[4][s], f[s] = state[5][s], g[s] = state[6][s], h[s] = ADD(mid->a1[s], w[s][0])
#define ADD_STATE(s, state)                                                           \
    do {                                                                              \
        const vector result[8] = {a[s], b[s], c[s], d[s], e[s], f[s], g[s], h[s]};    \
        for (int i = 0; i < 8; i++) digest[i][s] = ADD(result[i], state[i][s]);       \
    } while (0)

/* Replaces W_(t-16) by W_t, then runs round t. */
#define ROUND_EXPANDED(s, a, b, c, d, e, f, g, h, t)                        \
    w[s][(t) & 15] = schedule_newer(schedule_older(w[s], t), w[s], t);      \
    ROUND_W(s, a, b, c, d, e, f, g, h, t)

/* Eight rounds of each set from t on; each round renames the variables instead of moving their values. */
#define ROUNDS_8(ROUND_T, t)                            \
    EACH_SET(ROUND_T, a, b, c, d, e, f, g, h, t);       \
    EACH_SET(ROUND_T, h, a, b, c, d, e, f, g, (t) + 1); \
    EACH_SET(ROUND_T, g, h, a, b, c, d, e, f, (t) + 2); \
    EACH_SET(ROUND_T, f, g, h, a, b, c, d, e, (t) + 3); \
    EACH_SET(ROUND_T, e, f, g, h, a, b, c, d, (t) + 4); \
    EACH_SET(ROUND_T, d, e, f, g, h, a, b, c, (t) + 5); \
    EACH_SET(ROUND_T, c, d, e, f, g, h, a, b, (t) + 6); \
    EACH_SET(ROUND_T, b, c, d, e, f, g, h, a, (t) + 7)

/* The values that are the same in every compression of one midstate. Round 0 only adds W_0 to precomputed sums. The
 * h of rounds 1, 2 and 3 is the midstate's g, f and e, respectively. */
struct midstate {
    vector state[8][SETS];
    vector a1[SETS], e1[SETS];           /* a and e after round 0, without the term W_0 */
    vector gk[SETS], fk[SETS], ek[SETS]; /* g + K_1, f + K_2, e + K_3 */
};

static inline void midstate_prepare(struct midstate *mid)
{
    for (int s = 0; s < SETS; s++) {
        vector v[8];
        for (int i = 0; i < 8; i++) v[i] = mid->state[i][s];
        vector t1 = ADD(ADD3(v[7], BROADCAST(SHA256_K[0]), CHOOSE_V(v[4], v[5], v[6])), BIG_1(v[4]));
        mid->e1[s] = ADD(v[3], t1);
        mid->a1[s] = ADD3(t1, MAJORITY_V(v[0], v[1], v[2]), BIG_0(v[0]));
        mid->gk[s] = ADD(v[6], BROADCAST(SHA256_K[1]));
        mid->fk[s] = ADD(v[5], BROADCAST(SHA256_K[2]));
        mid->ek[s] = ADD(v[4], BROADCAST(SHA256_K[3]));
    }
}

/* digest = compression of `mid` with [digest][padding]. */
INLINE void compress(const struct midstate *mid, vector digest[8][SETS])
{
    const uint32_t *k = SHA256_K;
    /* Hides the constants from gcc, which would load each constant into a general register and then copy it to a vector. */
    __asm__("" : "+r"(k));
    vector w[SETS][16], a[SETS], b[SETS], c[SETS], d[SETS], e[SETS], f[SETS], g[SETS], h[SETS];
    EACH_SET(ROUND_0, mid->state);

    EACH_SET(ROUND_SUM, h, a, b, c, d, e, f, g, gk, 1);
    EACH_SET(ROUND_SUM, g, h, a, b, c, d, e, f, fk, 2);
    EACH_SET(ROUND_SUM, f, g, h, a, b, c, d, e, ek, 3);
    EACH_SET(ROUND_W, e, f, g, h, a, b, c, d, 4);
    EACH_SET(ROUND_W, d, e, f, g, h, a, b, c, 5);
    EACH_SET(ROUND_W, c, d, e, f, g, h, a, b, 6);
    EACH_SET(ROUND_W, b, c, d, e, f, g, h, a, 7);
    ROUNDS_8(ROUND_PADDING, 8);

    ROUNDS_8(ROUND_EXPANDED, 16);
    ROUNDS_8(ROUND_EXPANDED, 24);
    ROUNDS_8(ROUND_EXPANDED, 32);
    ROUNDS_8(ROUND_EXPANDED, 40);
    ROUNDS_8(ROUND_EXPANDED, 48);
    ROUNDS_8(ROUND_EXPANDED, 56);

    EACH_SET(ADD_STATE, mid->state);
}

/* U_i = HMAC(password, U_(i-1)) and T ^= U_i (RFC 8018, section 5.2). Lanes are transposed into vectors and back only once. */
void ADVANCE(uint32_t *const *lanes, uint32_t iterations)
{
    struct {
        struct midstate mid[2];
        union {
            vector vectors[LANE_WORDS][SETS];
            uint32_t words[LANE_WORDS][WIDTH];
        } transposed;
    } scratch;

    for (int lane = 0; lane < WIDTH; lane++) {
        for (int i = 0; i < LANE_WORDS; i++) scratch.transposed.words[i][lane] = lanes[lane][i];
    }
    vector(*const in)[SETS] = scratch.transposed.vectors, (*const t)[SETS] = in + T, digest[8][SETS];
    memcpy(scratch.mid[0].state, in + INNER, sizeof digest);
    memcpy(scratch.mid[1].state, in + OUTER, sizeof digest);
    memcpy(digest, in + U, sizeof digest);
    midstate_prepare(&scratch.mid[0]);
    midstate_prepare(&scratch.mid[1]);

    /* The inner and the outer hash alternate in one copy of the code: two copies would not fit into the micro-op cache. */
    for (uint64_t half = 0; half < 2 * (uint64_t)iterations; half++) {
        compress(&scratch.mid[half & 1], digest);
        if (half & 1) {
            for (int i = 0; i < 8; i++) {
                for (int s = 0; s < SETS; s++) t[i][s] = XOR(t[i][s], digest[i][s]);
            }
        }
    }

    memcpy(in + U, digest, sizeof digest);
    for (int lane = 0; lane < WIDTH; lane++) {
        for (int i = U; i < LANE_WORDS; i++) lanes[lane][i] = scratch.transposed.words[i][lane];
    }
    wipe(&scratch, sizeof scratch);
}
