/* Eight lanes in 256-bit registers. Intel processors execute three 256-bit, but only two 512-bit instructions per cycle. */
#define WIDTH 8
#define ADVANCE avx512vl_advance
#define REGISTER __m256i
#define V(operation) _mm256_##operation##_epi32

#include "avx512.h"
