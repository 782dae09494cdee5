/* PBKDF2's inner loop on WIDTH lanes in parallel. A vector contains the same word of all lanes, so a round has the
 * same form as on one lane. The including file defines WIDTH, `vector`, the operations ADD XOR XOR3 CHOOSE_V MAJORITY_V
 * ROTATE_V SHIFT_V (right) BROADCAST, and ADVANCE, the name of the kernel. */
#include "../lane.h"
#include "../wipe.h"

#define WORD(i) w[(i) & 15]
#define plus_word(t, x, i) ADD(x, WORD(i))
#define plus_constant(t, x, from) ADD(x, BROADCAST(*(from)))
#define plus_sigma(t, x, i, n1, n2, n3) ADD(x, XOR3(ROTATE_V(WORD(i), n1), ROTATE_V(WORD(i), n2), SHIFT_V(WORD(i), n3)))
#include "message-schedule.h"

#define BIG_0(x) XOR3(ROTATE_V(x, 2), ROTATE_V(x, 13), ROTATE_V(x, 22))
#define BIG_1(x) XOR3(ROTATE_V(x, 6), ROTATE_V(x, 11), ROTATE_V(x, 25))
#define ADD3(x, y, z) ADD(ADD(x, y), z)
#define K_V(t) BROADCAST(k[t])

/* One round (FIPS 180-4, section 6.2.2, step 3); `hkw` is h + K_t + W_t. BIG_1(e) is added last, because e is available last. */
#define ROUND(a, b, c, d, e, f, g, h, hkw)                  \
    do {                                                    \
        vector t1 = ADD3(hkw, CHOOSE_V(e, f, g), BIG_1(e)); \
        d = ADD(d, t1);                                     \
        h = ADD3(t1, MAJORITY_V(a, b, c), BIG_0(a));        \
    } while (0)

#define ROUND_W(a, b, c, d, e, f, g, h, t) ROUND(a, b, c, d, e, f, g, h, ADD(h, ADD(w[(t) & 15], K_V(t))))
#define ROUND_PADDING(a, b, c, d, e, f, g, h, t) ROUND(a, b, c, d, e, f, g, h, ADD(h, BROADCAST(SHA256_K[t] + PADDING(t))))

/* Replaces W_(t-16) by W_t, then runs round t. */
#define ROUND_EXPANDED(a, b, c, d, e, f, g, h, t)                   \
    w[(t) & 15] = schedule_newer(schedule_older(w, t), w, t);       \
    ROUND_W(a, b, c, d, e, f, g, h, t)

/* Eight rounds from t on; each round renames the variables instead of moving their values. */
#define ROUNDS_8(ROUND_T, t)                   \
    ROUND_T(a, b, c, d, e, f, g, h, t);        \
    ROUND_T(h, a, b, c, d, e, f, g, (t) + 1);  \
    ROUND_T(g, h, a, b, c, d, e, f, (t) + 2);  \
    ROUND_T(f, g, h, a, b, c, d, e, (t) + 3);  \
    ROUND_T(e, f, g, h, a, b, c, d, (t) + 4);  \
    ROUND_T(d, e, f, g, h, a, b, c, (t) + 5);  \
    ROUND_T(c, d, e, f, g, h, a, b, (t) + 6);  \
    ROUND_T(b, c, d, e, f, g, h, a, (t) + 7)

/* The values that are the same in every compression of one midstate. Round 0 only adds W_0 to precomputed sums. The
 * h of rounds 1, 2 and 3 is the midstate's g, f and e, respectively. */
struct midstate {
    vector state[8];
    vector a1, e1;     /* a and e after round 0, without the term W_0 */
    vector gk, fk, ek; /* g + K_1, f + K_2, e + K_3 */
};

static inline void midstate_prepare(struct midstate *mid)
{
    const vector *s = mid->state;
    vector t1 = ADD(ADD3(s[7], BROADCAST(SHA256_K[0]), CHOOSE_V(s[4], s[5], s[6])), BIG_1(s[4]));
    mid->e1 = ADD(s[3], t1);
    mid->a1 = ADD3(t1, MAJORITY_V(s[0], s[1], s[2]), BIG_0(s[0]));
    mid->gk = ADD(s[6], BROADCAST(SHA256_K[1]));
    mid->fk = ADD(s[5], BROADCAST(SHA256_K[2]));
    mid->ek = ADD(s[4], BROADCAST(SHA256_K[3]));
}

/* digest = compression of `mid` with [digest][padding]. */
INLINE void compress(const struct midstate *mid, vector digest[8])
{
    const vector *s = mid->state;
    const uint32_t *k = SHA256_K;
    /* Hides the constants from gcc, which would load each constant into a general register and then copy it to a vector. */
    __asm__("" : "+r"(k));
    vector w[16];
    for (int i = 0; i < 8; i++) w[i] = digest[i];

    vector a = s[0], b = s[1], c = s[2], d = ADD(mid->e1, w[0]);
    vector e = s[4], f = s[5], g = s[6], h = ADD(mid->a1, w[0]);
    ROUND(h, a, b, c, d, e, f, g, ADD(mid->gk, w[1]));
    ROUND(g, h, a, b, c, d, e, f, ADD(mid->fk, w[2]));
    ROUND(f, g, h, a, b, c, d, e, ADD(mid->ek, w[3]));
    ROUND_W(e, f, g, h, a, b, c, d, 4);
    ROUND_W(d, e, f, g, h, a, b, c, 5);
    ROUND_W(c, d, e, f, g, h, a, b, 6);
    ROUND_W(b, c, d, e, f, g, h, a, 7);
    ROUNDS_8(ROUND_PADDING, 8);

    ROUNDS_8(ROUND_EXPANDED, 16);
    ROUNDS_8(ROUND_EXPANDED, 24);
    ROUNDS_8(ROUND_EXPANDED, 32);
    ROUNDS_8(ROUND_EXPANDED, 40);
    ROUNDS_8(ROUND_EXPANDED, 48);
    ROUNDS_8(ROUND_EXPANDED, 56);

    const vector result[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) digest[i] = ADD(result[i], s[i]);
}

/* U_i = HMAC(password, U_(i-1)) and T ^= U_i (RFC 8018, section 5.2). Lanes are transposed into vectors and back only once. */
void ADVANCE(uint32_t *const *lanes, uint32_t iterations)
{
    struct {
        struct midstate mid[2];
        union {
            vector vectors[LANE_WORDS];
            uint32_t words[LANE_WORDS][WIDTH];
        } transposed;
    } scratch;

    for (int lane = 0; lane < WIDTH; lane++) {
        for (int i = 0; i < LANE_WORDS; i++) scratch.transposed.words[i][lane] = lanes[lane][i];
    }
    vector digest[8], *const t = scratch.transposed.vectors + T;
    for (int i = 0; i < 8; i++) {
        scratch.mid[0].state[i] = scratch.transposed.vectors[INNER + i];
        scratch.mid[1].state[i] = scratch.transposed.vectors[OUTER + i];
        digest[i] = scratch.transposed.vectors[U + i];
    }
    midstate_prepare(&scratch.mid[0]);
    midstate_prepare(&scratch.mid[1]);

    /* The inner and the outer hash alternate in one copy of the code: two copies would not fit into the micro-op cache. */
    for (uint64_t half = 0; half < 2 * (uint64_t)iterations; half++) {
        compress(&scratch.mid[half & 1], digest);
        if (half & 1) {
            for (int i = 0; i < 8; i++) t[i] = XOR(t[i], digest[i]);
        }
    }

    for (int i = 0; i < 8; i++) scratch.transposed.vectors[U + i] = digest[i];
    for (int lane = 0; lane < WIDTH; lane++) {
        for (int i = U; i < LANE_WORDS; i++) lanes[lane][i] = scratch.transposed.words[i][lane];
    }
    wipe(&scratch, sizeof scratch);
}
