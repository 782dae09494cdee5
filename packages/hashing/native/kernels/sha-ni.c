/* The SHA instructions of x86-64 (Intel SDM, volume 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2). */
#if defined(__GNUC__) && !defined(__clang__)
/* Four streams do not fit into sixteen registers. Scheduling before register allocation makes gcc spill less: 7 % faster. */
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif
#include <immintrin.h>
#include <stdint.h>

#define ADVANCE(streams) sha_ni_advance_##streams
#define ADD(x, y) _mm_add_epi32(x, y)
#define XOR(x, y) _mm_xor_si128(x, y)
#define WORDS(w0, w1, w2, w3) _mm_set_epi32((int)(w3), (int)(w2), (int)(w1), (int)(w0))
typedef __m128i vector;

/* The halves of a state in the word order of the instructions: {f, e, b, a} and {h, g, d, c}, lowest word first. */
#define STATE(w) {WORDS((w)[5], (w)[4], (w)[1], (w)[0]), WORDS((w)[7], (w)[6], (w)[3], (w)[2])}
#define SHUFFLE(s, selection) \
    _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps((s).first), _mm_castsi128_ps((s).second), selection))
#define WORDS_0_TO_3(s) SHUFFLE(s, 0xbb)
#define WORDS_4_TO_7(s) SHUFFLE(s, 0x11)
#define STORE(w, x) _mm_storeu_si128((vector *)(w), x)

/* Each instruction computes two rounds. Then the old {f, e, b, a} is the new {h, g, d, c}. */
#define FOUR_ROUNDS(v, sum)                                                                  \
    do {                                                                                     \
        vector wk = (sum);                                                                   \
        (v).second = _mm_sha256rnds2_epu32((v).second, (v).first, wk);                       \
        (v).first = _mm_sha256rnds2_epu32((v).first, (v).second, _mm_shuffle_epi32(wk, 14)); \
    } while (0)
#define OLDER(w0, w1) _mm_sha256msg1_epu32(w0, w1)
#define NEWER(older, w2, w3) _mm_sha256msg2_epu32(ADD(older, _mm_alignr_epi8(w3, w2, 4)), w3)

#include "sha-streams.h"
