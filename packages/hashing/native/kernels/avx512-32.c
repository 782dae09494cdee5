/* Thirty-two lanes in two sets of 512-bit registers, for processors on which one set waits for latencies (AMD Zen 5). At -O3, gcc
 * would spill the state: sources.txt sets -O2. */
#define WIDTH 32
#define SETS 2
#define ADVANCE avx512_advance_32
#define REGISTER __m512i
#define V(operation) _mm512_##operation##_epi32

#include "avx512.h"
