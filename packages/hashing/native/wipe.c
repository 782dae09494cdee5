/* In a separate file, so that the call is not inlined and its frame overlaps the frames of previous calls. */
#include "wipe.h"

#define EACH_8(DO, a, b, c, d, e, f, g, h) DO(a) DO(b) DO(c) DO(d) DO(e) DO(f) DO(g) DO(h)
#if defined(__x86_64__)
#define CLEAR_XMM(n) "pxor %%xmm" #n ", %%xmm" #n "\n\t"
#define CLEAR_ZMM(n) "vpxord %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n\t"
/* The argument of each builtin also covers whether the operating system saves the registers. */
static void wipe_vector_registers(void)
{
    if (__builtin_cpu_supports("avx")) __asm__ __volatile__("vzeroall");
    else __asm__ __volatile__(EACH_8(CLEAR_XMM, 0, 1, 2, 3, 4, 5, 6, 7) EACH_8(CLEAR_XMM, 8, 9, 10, 11, 12, 13, 14, 15) ::);
    if (__builtin_cpu_supports("avx512f"))
        __asm__ __volatile__(EACH_8(CLEAR_ZMM, 16, 17, 18, 19, 20, 21, 22, 23)
                                 EACH_8(CLEAR_ZMM, 24, 25, 26, 27, 28, 29, 30, 31) ::);
}
#elif defined(__aarch64__)
#define CLEAR_V(n) "movi v" #n ".16b, #0\n\t"
#define CLOBBER(n) "v" #n,
/* The lower halves of v8 to v15 belong to the caller. */
static void wipe_vector_registers(void)
{
    __asm__ __volatile__(
        EACH_8(CLEAR_V, 0, 1, 2, 3, 4, 5, 6, 7) EACH_8(CLEAR_V, 8, 9, 10, 11, 12, 13, 14, 15)
        EACH_8(CLEAR_V, 16, 17, 18, 19, 20, 21, 22, 23) EACH_8(CLEAR_V, 24, 25, 26, 27, 28, 29, 30, 31)
        ::: "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15");
}
#endif

void wipe_traces(void)
{
    unsigned char below[16384];
    wipe(below, sizeof below);
    wipe_vector_registers();
}
