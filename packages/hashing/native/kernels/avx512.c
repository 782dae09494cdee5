/* Sixteen lanes in 512-bit registers. */
#define WIDTH 16
#define ADVANCE avx512_advance
#define REGISTER __m512i
#define V(operation) _mm512_##operation##_epi32

#include "avx512.h"
