/* The SHA instructions of x86-64 (Intel SDM, volume 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2). */
#if defined(__GNUC__) && !defined(__clang__)
/* Four streams do not fit sixteen registers; scheduled before they are assigned, gcc spills less: 7 %. */
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif
#include <immintrin.h>
#include <stdint.h>

#define ADVANCE_1 shani_advance_1
#define ADVANCE_2 shani_advance_2
#define ADVANCE_4 shani_advance_4
#define INLINE static inline __attribute__((always_inline))

#define ADD(x, y) _mm_add_epi32(x, y)
#define XOR(x, y) _mm_xor_si128(x, y)
#define WORDS(w0, w1, w2, w3) _mm_set_epi32((int)(w3), (int)(w2), (int)(w1), (int)(w0))
typedef __m128i vector;

/* The instructions' own order: {f, e, b, a} and {h, g, d, c}, lowest word first. */
struct state {
    vector abef, cdgh;
};

INLINE struct state add_state(struct state x, struct state y)
{
    return (struct state){ADD(x.abef, y.abef), ADD(x.cdgh, y.cdgh)};
}

INLINE struct state xor_state(struct state x, struct state y)
{
    return (struct state){XOR(x.abef, y.abef), XOR(x.cdgh, y.cdgh)};
}

INLINE vector words_0_to_3(struct state s)
{
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(s.abef), _mm_castsi128_ps(s.cdgh), 0xbb));
}

INLINE vector words_4_to_7(struct state s)
{
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(s.abef), _mm_castsi128_ps(s.cdgh), 0x11));
}

INLINE struct state from_words(const uint32_t *w)
{
    return (struct state){WORDS(w[5], w[4], w[1], w[0]), WORDS(w[7], w[6], w[3], w[2])};
}

INLINE void to_words(uint32_t *w, struct state s)
{
    _mm_storeu_si128((vector *)w, words_0_to_3(s));
    _mm_storeu_si128((vector *)(w + 4), words_4_to_7(s));
}

/* Two rounds each; what was abef is cdgh two rounds later. */
#define FOUR_ROUNDS(v, sum)                                                              \
    do {                                                                                 \
        vector wk = (sum);                                                               \
        (v).cdgh = _mm_sha256rnds2_epu32((v).cdgh, (v).abef, wk);                        \
        (v).abef = _mm_sha256rnds2_epu32((v).abef, (v).cdgh, _mm_shuffle_epi32(wk, 14)); \
    } while (0)
#define OLDER(w0, w1) _mm_sha256msg1_epu32(w0, w1)
#define NEWER(older, w2, w3) _mm_sha256msg2_epu32(ADD(older, _mm_alignr_epi8(w3, w2, 4)), w3)

#include "streams.h"
