/* Sixteen lanes in 512-bit registers: a rotation, or any function of three bits, takes one instruction. */
#if defined(__GNUC__) && !defined(__clang__)
/* Without these options, gcc reorders the sums of a round and lengthens the dependency chain from e to e: 8 % slower. */
#pragma GCC optimize("no-tree-reassoc", "no-schedule-insns2")
#endif
#include <immintrin.h>

#define WIDTH 16
#define ADVANCE avx512_advance
#define ADD(x, y) _mm512_add_epi32(x, y)
#define XOR(x, y) _mm512_xor_si512(x, y)
#define ROTATE_V(x, n) _mm512_ror_epi32(x, n)
#define SHIFT_V(x, n) _mm512_srli_epi32(x, n)
#define BROADCAST(word) _mm512_set1_epi32((int)(word))
/* The immediate is the truth table: bit 4x + 2y + z is the result for those three bits. */
#define XOR3(x, y, z) _mm512_ternarylogic_epi32(x, y, z, 0x96)
#define CHOOSE_V(x, y, z) _mm512_ternarylogic_epi32(x, y, z, 0xca)
#define MAJORITY_V(x, y, z) _mm512_ternarylogic_epi32(x, y, z, 0xe8)
typedef __m512i vector;

#include "simd-lanes.h"
