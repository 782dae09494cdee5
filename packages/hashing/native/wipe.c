/* wipe_traces is in a separate file to prevent inlining: its stack frame must overlap the frames of previous calls. */
#include "wipe.h"

/* Repeats an instruction for each register number, which replaces \n in the instruction. */
#define EACH(registers, instruction) ".irp n, " registers "\n\t" instruction "\n\t.endr\n\t"
#define LOWER "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define UPPER "16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"

static void wipe_vector_registers(void)
{
#if defined(__x86_64__)
    /* The builtins also check whether the operating system saves the registers. */
    if (__builtin_cpu_supports("avx")) __asm__ __volatile__("vzeroall");
    else __asm__ __volatile__(EACH(LOWER, "pxor %%xmm\\n, %%xmm\\n") ::);
    if (__builtin_cpu_supports("avx512f")) __asm__ __volatile__(EACH(UPPER, "vpxord %%zmm\\n, %%zmm\\n, %%zmm\\n") ::);
#elif defined(__aarch64__)
    /* The lower halves of v8 to v15 belong to the caller: the clobber list preserves these registers. */
    __asm__ __volatile__(EACH(LOWER ", " UPPER, "movi v\\n\\().16b, #0")
                         ::: "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15");
#endif
}

void wipe_traces(void)
{
    unsigned char below[16384];
    wipe(below, sizeof below);
    wipe_vector_registers();
}
