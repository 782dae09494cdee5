/* Eight lanes in 256-bit registers: Intel executes three of these instructions per cycle, but only two on 512-bit registers. */
#define WIDTH 8
#define ADVANCE avx512vl_advance
#define REGISTER __m256i
#define V(operation) _mm256_##operation##_epi32

#include "avx512.h"
