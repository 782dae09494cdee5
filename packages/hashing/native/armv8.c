/* The SHA-256 instructions of arm64 (Arm Architecture Reference Manual, SHA256H, SHA256H2, SHA256SU0, SHA256SU1). */
#include <arm_neon.h>
#include <stdint.h>

#define ADVANCE_1 armv8_advance_1
#define ADVANCE_2 armv8_advance_2
#define ADVANCE_4 armv8_advance_4
#define INLINE static inline __attribute__((always_inline))

#define ADD(x, y) vaddq_u32(x, y)
#define XOR(x, y) veorq_u32(x, y)
#define WORDS(w0, w1, w2, w3) ((vector){w0, w1, w2, w3})
typedef uint32x4_t vector;

struct state {
    vector abcd, efgh;
};

INLINE struct state add_state(struct state x, struct state y)
{
    return (struct state){ADD(x.abcd, y.abcd), ADD(x.efgh, y.efgh)};
}

INLINE struct state xor_state(struct state x, struct state y)
{
    return (struct state){XOR(x.abcd, y.abcd), XOR(x.efgh, y.efgh)};
}

INLINE vector words_0_to_3(struct state s)
{
    return s.abcd;
}

INLINE vector words_4_to_7(struct state s)
{
    return s.efgh;
}

INLINE struct state from_words(const uint32_t *w)
{
    return (struct state){vld1q_u32(w), vld1q_u32(w + 4)};
}

INLINE void to_words(uint32_t *w, struct state s)
{
    vst1q_u32(w, s.abcd);
    vst1q_u32(w + 4, s.efgh);
}

#define FOUR_ROUNDS(v, sum)                                   \
    do {                                                      \
        vector wk = (sum), before = (v).abcd;                 \
        (v).abcd = vsha256hq_u32(before, (v).efgh, wk);       \
        (v).efgh = vsha256h2q_u32((v).efgh, before, wk);      \
    } while (0)
#define OLDER(w0, w1) vsha256su0q_u32(w0, w1)
#define NEWER(older, w2, w3) vsha256su1q_u32(older, w2, w3)

#include "streams.h"
