/* PBKDF2's inner loop on WIDTH lanes side by side: word i of every lane is one vector, so a round of SHA-256 is the
 * scalar round written once. The includer defines WIDTH, `vector` and the operations named here in capitals:
 * ADD XOR XOR3 CHOOSE_V MAJORITY_V ROTATE_V SHIFT_V (right) BROADCAST, and ADVANCE, the name of the kernel. */
#include "lane.h"
#include "sha256.h"
#include "wipe.h"

#define BIG_0(x) XOR3(ROTATE_V(x, 2), ROTATE_V(x, 13), ROTATE_V(x, 22))
#define BIG_1(x) XOR3(ROTATE_V(x, 6), ROTATE_V(x, 11), ROTATE_V(x, 25))
#define SMALL_0(x) XOR3(ROTATE_V(x, 7), ROTATE_V(x, 18), SHIFT_V(x, 3))
#define SMALL_1(x) XOR3(ROTATE_V(x, 17), ROTATE_V(x, 19), SHIFT_V(x, 10))
#define ADD3(x, y, z) ADD(ADD(x, y), z)
#define K_V(t) BROADCAST(SHA256_K[t])

/* One round (FIPS 180-4, section 6.2.2, step 3); `hkw` is h + K_t + W_t. The big sigma of the newest e comes last
 * because it is ready last. */
#define ROUND(a, b, c, d, e, f, g, h, hkw)                                                                          \
    do {                                                                                                             \
        vector t1 = ADD3(hkw, CHOOSE_V(e, f, g), BIG_1(e));                                                          \
        d = ADD(d, t1);                                                                                              \
        h = ADD3(t1, MAJORITY_V(a, b, c), BIG_0(a));                                                                 \
    } while (0)

#define ROUND_W(a, b, c, d, e, f, g, h, t) ROUND(a, b, c, d, e, f, g, h, ADD(h, ADD(w[(t) & 15], K_V(t))))
#define ROUND_PADDING(a, b, c, d, e, f, g, h, t, word) \
    ROUND(a, b, c, d, e, f, g, h, ADD(h, BROADCAST(SHA256_K[t] + (word))))

/* W_t from its four predecessors, in place (section 6.2.2, step 1). */
#define EXPAND(t)                                                                                                    \
    w[(t) & 15] = ADD(ADD(w[(t) & 15], SMALL_0(w[((t) + 1) & 15])), ADD(w[((t) + 9) & 15], SMALL_1(w[((t) + 14) & 15])))
#define EXPAND_ROUND(a, b, c, d, e, f, g, h, t) \
    EXPAND(t);                                  \
    ROUND_W(a, b, c, d, e, f, g, h, t)
#define EXPAND_8_ROUNDS(t)                          \
    EXPAND_ROUND(a, b, c, d, e, f, g, h, t);        \
    EXPAND_ROUND(h, a, b, c, d, e, f, g, (t) + 1);  \
    EXPAND_ROUND(g, h, a, b, c, d, e, f, (t) + 2);  \
    EXPAND_ROUND(f, g, h, a, b, c, d, e, (t) + 3);  \
    EXPAND_ROUND(e, f, g, h, a, b, c, d, (t) + 4);  \
    EXPAND_ROUND(d, e, f, g, h, a, b, c, (t) + 5);  \
    EXPAND_ROUND(c, d, e, f, g, h, a, b, (t) + 6);  \
    EXPAND_ROUND(b, c, d, e, f, g, h, a, (t) + 7)

/* What each compression of one midstate has in common. Round 0 is linear in W_0, so all else in it is known; rounds
 * 1 to 3 take their h from the midstate's g, f and e. */
struct midstate {
    vector state[8];
    vector a1, e1;     /* a and e after round 0, but for + W_0 */
    vector gk, fk, ek; /* g + K_1, f + K_2, e + K_3 */
};

static inline void midstate_prepare(struct midstate *mid)
{
    const vector *s = mid->state;
    vector t1 = ADD(ADD3(s[7], K_V(0), CHOOSE_V(s[4], s[5], s[6])), BIG_1(s[4]));
    mid->e1 = ADD(s[3], t1);
    mid->a1 = ADD3(t1, MAJORITY_V(s[0], s[1], s[2]), BIG_0(s[0]));
    mid->gk = ADD(s[6], K_V(1));
    mid->fk = ADD(s[5], K_V(2));
    mid->ek = ADD(s[4], K_V(3));
}

/* digest = compression of `mid` with [digest][padding]. */
static inline __attribute__((always_inline)) void compress(const struct midstate *mid, vector digest[8])
{
    const vector *s = mid->state;
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
    ROUND_PADDING(a, b, c, d, e, f, g, h, 8, PADDING_FIRST);
    ROUND_PADDING(h, a, b, c, d, e, f, g, 9, 0);
    ROUND_PADDING(g, h, a, b, c, d, e, f, 10, 0);
    ROUND_PADDING(f, g, h, a, b, c, d, e, 11, 0);
    ROUND_PADDING(e, f, g, h, a, b, c, d, 12, 0);
    ROUND_PADDING(d, e, f, g, h, a, b, c, 13, 0);
    ROUND_PADDING(c, d, e, f, g, h, a, b, 14, 0);
    ROUND_PADDING(b, c, d, e, f, g, h, a, 15, PADDING_LENGTH);

    /* W_16 to W_31 where W_8 to W_15 are the padding: what is constant is one addend, what is zero is not there. */
    w[0] = ADD(w[0], SMALL_0(w[1]));
    ROUND_W(a, b, c, d, e, f, g, h, 16);
    w[1] = ADD3(w[1], BROADCAST(SMALL_SIGMA_1(PADDING_LENGTH)), SMALL_0(w[2]));
    ROUND_W(h, a, b, c, d, e, f, g, 17);
    w[2] = ADD3(w[2], SMALL_0(w[3]), SMALL_1(w[0]));
    ROUND_W(g, h, a, b, c, d, e, f, 18);
    w[3] = ADD3(w[3], SMALL_0(w[4]), SMALL_1(w[1]));
    ROUND_W(f, g, h, a, b, c, d, e, 19);
    w[4] = ADD3(w[4], SMALL_0(w[5]), SMALL_1(w[2]));
    ROUND_W(e, f, g, h, a, b, c, d, 20);
    w[5] = ADD3(w[5], SMALL_0(w[6]), SMALL_1(w[3]));
    ROUND_W(d, e, f, g, h, a, b, c, 21);
    w[6] = ADD(ADD3(w[6], BROADCAST(PADDING_LENGTH), SMALL_0(w[7])), SMALL_1(w[4]));
    ROUND_W(c, d, e, f, g, h, a, b, 22);
    w[7] = ADD(ADD3(w[7], BROADCAST(SMALL_SIGMA_0(PADDING_FIRST)), w[0]), SMALL_1(w[5]));
    ROUND_W(b, c, d, e, f, g, h, a, 23);
    w[8] = ADD3(w[1], BROADCAST(PADDING_FIRST), SMALL_1(w[6]));
    ROUND_W(a, b, c, d, e, f, g, h, 24);
    w[9] = ADD(w[2], SMALL_1(w[7]));
    ROUND_W(h, a, b, c, d, e, f, g, 25);
    w[10] = ADD(w[3], SMALL_1(w[8]));
    ROUND_W(g, h, a, b, c, d, e, f, 26);
    w[11] = ADD(w[4], SMALL_1(w[9]));
    ROUND_W(f, g, h, a, b, c, d, e, 27);
    w[12] = ADD(w[5], SMALL_1(w[10]));
    ROUND_W(e, f, g, h, a, b, c, d, 28);
    w[13] = ADD(w[6], SMALL_1(w[11]));
    ROUND_W(d, e, f, g, h, a, b, c, 29);
    w[14] = ADD3(w[7], BROADCAST(SMALL_SIGMA_0(PADDING_LENGTH)), SMALL_1(w[12]));
    ROUND_W(c, d, e, f, g, h, a, b, 30);
    w[15] = ADD(ADD3(w[8], BROADCAST(PADDING_LENGTH), SMALL_0(w[0])), SMALL_1(w[13]));
    ROUND_W(b, c, d, e, f, g, h, a, 31);
    EXPAND_8_ROUNDS(32);
    EXPAND_8_ROUNDS(40);
    EXPAND_8_ROUNDS(48);
    EXPAND_8_ROUNDS(56);

    digest[0] = ADD(a, s[0]);
    digest[1] = ADD(b, s[1]);
    digest[2] = ADD(c, s[2]);
    digest[3] = ADD(d, s[3]);
    digest[4] = ADD(e, s[4]);
    digest[5] = ADD(f, s[5]);
    digest[6] = ADD(g, s[6]);
    digest[7] = ADD(h, s[7]);
}

/* U_i = HMAC(password, U_(i-1)) and T ^= U_i (RFC 8018, section 5.2). Lanes are turned into vectors and back here only. */
void ADVANCE(uint32_t *const *lanes, uint32_t iterations)
{
    struct {
        struct midstate mid[2];
        vector t[8];
        union {
            vector vectors[LANE_WORDS];
            uint32_t words[LANE_WORDS][WIDTH];
        } turned;
    } scratch;

    for (int lane = 0; lane < WIDTH; lane++) {
        for (int i = 0; i < LANE_WORDS; i++) scratch.turned.words[i][lane] = lanes[lane][i];
    }
    vector digest[8];
    for (int i = 0; i < 8; i++) {
        scratch.mid[0].state[i] = scratch.turned.vectors[INNER + i];
        scratch.mid[1].state[i] = scratch.turned.vectors[OUTER + i];
        digest[i] = scratch.turned.vectors[U + i];
        scratch.t[i] = scratch.turned.vectors[T + i];
    }
    midstate_prepare(&scratch.mid[0]);
    midstate_prepare(&scratch.mid[1]);

    /* Inner and outer hash take turns in one copy of the code: unrolled twice it would not fit the op cache. */
    for (uint64_t half = 0; half < 2 * (uint64_t)iterations; half++) {
        compress(&scratch.mid[half & 1], digest);
        if (half & 1) {
            for (int i = 0; i < 8; i++) scratch.t[i] = XOR(scratch.t[i], digest[i]);
        }
    }

    for (int i = 0; i < 8; i++) {
        scratch.turned.vectors[U + i] = digest[i];
        scratch.turned.vectors[T + i] = scratch.t[i];
    }
    for (int lane = 0; lane < WIDTH; lane++) {
        for (int i = U; i < LANE_WORDS; i++) lanes[lane][i] = scratch.turned.words[i][lane];
    }
    wipe(&scratch, sizeof scratch);
}
