/* Eight lanes in 256-bit registers, for processors that have neither AVX-512 nor SHA instructions. */
#if defined(__GNUC__) && !defined(__clang__)
/* Without these options, gcc reorders the sums of a round and spills more registers, which is 12 % slower. */
#pragma GCC optimize("no-tree-reassoc", "schedule-insns", "sched-pressure")
#endif
#include <immintrin.h>

#define WIDTH 8
#define ADVANCE avx2_advance
#define ADD(x, y) _mm256_add_epi32(x, y)
#define XOR(x, y) _mm256_xor_si256(x, y)
#define SHIFT_V(x, n) _mm256_srli_epi32(x, n)
#define ROTATE_V(x, n) XOR(_mm256_srli_epi32(x, n), _mm256_slli_epi32(x, 32 - (n)))
#define BROADCAST(word) _mm256_set1_epi32((int)(word))
#define XOR3(x, y, z) XOR(XOR(x, y), z)
#define CHOOSE_V(x, y, z) XOR(z, _mm256_and_si256(x, XOR(y, z)))
#define MAJORITY_V(x, y, z) XOR(y, _mm256_and_si256(XOR(x, y), XOR(y, z)))
typedef __m256i vector;

#include "simd-lanes.h"
