/* Eight lanes in 256-bit registers with the instructions of avx512.c: Intel executes three of them per cycle, but only two on
 * 512-bit registers. */
#if defined(__GNUC__) && !defined(__clang__)
/* See avx512.c. */
#pragma GCC optimize("no-tree-reassoc", "no-schedule-insns2")
#endif
#include <immintrin.h>

#define WIDTH 8
#define ADVANCE avx512vl_advance
#define ADD(x, y) _mm256_add_epi32(x, y)
#define XOR(x, y) _mm256_xor_si256(x, y)
#define ROTATE_V(x, n) _mm256_ror_epi32(x, n)
#define SHIFT_V(x, n) _mm256_srli_epi32(x, n)
#define BROADCAST(word) _mm256_set1_epi32((int)(word))
#define XOR3(x, y, z) _mm256_ternarylogic_epi32(x, y, z, 0x96)
#define CHOOSE_V(x, y, z) _mm256_ternarylogic_epi32(x, y, z, 0xca)
#define MAJORITY_V(x, y, z) _mm256_ternarylogic_epi32(x, y, z, 0xe8)
typedef __m256i vector;

#include "simd-lanes.h"
