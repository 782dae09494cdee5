/* The SHA-256 instructions of arm64 (Arm Architecture Reference Manual, SHA256H, SHA256H2, SHA256SU0, SHA256SU1). */
#include <arm_neon.h>
#include <stdint.h>

#define ADVANCE(streams) armv8_advance_##streams
#define ADD(x, y) vaddq_u32(x, y)
#define XOR(x, y) veorq_u32(x, y)
#define WORDS(w0, w1, w2, w3) ((vector){w0, w1, w2, w3})
typedef uint32x4_t vector;

/* The halves of a state: {a, b, c, d} and {e, f, g, h}, lowest word first. */
#define STATE(w) {vld1q_u32(w), vld1q_u32((w) + 4)}
#define WORDS_0_TO_3(s) (s).first
#define WORDS_4_TO_7(s) (s).second
#define STORE(w, x) vst1q_u32(w, x)

#define FOUR_ROUNDS(v, sum)                                    \
    do {                                                       \
        vector wk = (sum), before = (v).first;                 \
        (v).first = vsha256hq_u32(before, (v).second, wk);     \
        (v).second = vsha256h2q_u32((v).second, before, wk);   \
    } while (0)
#define OLDER(w0, w1) vsha256su0q_u32(w0, w1)
#define NEWER(older, w2, w3) vsha256su1q_u32(older, w2, w3)

#include "sha-streams.h"
