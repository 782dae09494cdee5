/* The vector operations of the AVX-512 kernels. A rotation takes one instruction, as does any function of three bits.
 * The including file defines WIDTH, ADVANCE, REGISTER and V(operation): the intrinsic for the 32-bit words of a REGISTER. */
#if defined(__GNUC__) && !defined(__clang__)
/* gcc's second scheduling makes one set of lanes 2 % slower. */
#pragma GCC optimize("no-schedule-insns2")
#endif
#include <immintrin.h>

#define ADD(x, y) V(add)(x, y)
#define XOR(x, y) V(xor)(x, y)
#define ROTATE_V(x, n) V(ror)(x, n)
#define SHIFT_V(x, n) V(srli)(x, n)
#define BROADCAST(word) V(set1)((int)(word))
/* The immediate is the truth table: bit 4x + 2y + z is the result for the bits x, y and z. */
#define XOR3(x, y, z) V(ternarylogic)(x, y, z, 0x96)
#define CHOOSE_V(x, y, z) V(ternarylogic)(x, y, z, 0xca)
#define MAJORITY_V(x, y, z) V(ternarylogic)(x, y, z, 0xe8)
typedef REGISTER vector;

#include "simd-lanes.h"
