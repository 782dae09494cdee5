/* The table of kernel variants in this binary; a variant's id is its index. */
#include "../lane.h"
#include "../wipe.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#ifdef TEST_KERNELS_FILE
#include TEST_KERNELS_FILE
#else
#define TEST_KERNELS
#endif

/* The bits of a kernel's requirements. */
enum { SHA_NI = 1, AVX2 = 2, AVX512 = 4, SHA2 = 8 };

/* Each function is defined in the file of its kernel. */
advance_fn sha_ni_avx512_advance, avx512_advance, avx512_advance_32, avx512vl_advance, avx2_advance;
advance_fn sha_ni_advance_1, sha_ni_advance_2, sha_ni_advance_4;
advance_fn armv8_advance_1, armv8_advance_2, armv8_advance_4;

const struct kernel kernels[] = {
    TEST_KERNELS
#if defined(__x86_64__)
    {"sha-ni-avx512", 16, sha_ni_avx512_advance, SHA_NI | AVX512},
    {"avx512", 8, avx512vl_advance, AVX512},
    {"avx512", 16, avx512_advance, AVX512},
    {"avx512", 32, avx512_advance_32, AVX512},
    {"avx2", 8, avx2_advance, AVX2},
    {"sha-ni", 1, sha_ni_advance_1, SHA_NI},
    {"sha-ni", 2, sha_ni_advance_2, SHA_NI},
    {"sha-ni", 4, sha_ni_advance_4, SHA_NI},
#elif defined(__aarch64__)
    {"armv8", 1, armv8_advance_1, SHA2},
    {"armv8", 2, armv8_advance_2, SHA2},
    {"armv8", 4, armv8_advance_4, SHA2},
#else
#error "There is no native kernel for this processor; the portable kernel needs no build."
#endif
};
const size_t kernel_count = sizeof kernels / sizeof *kernels;

const char *kernel_missing(const struct kernel *kernel)
{
    const uint32_t required = kernel->requirements;
#if defined(__x86_64__)
    unsigned a, b = 0, c, d;
    const unsigned avx512 = bit_AVX512F | bit_AVX512VL;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    if (required & SHA_NI && !(b & bit_SHA && __builtin_cpu_supports("sse4.1"))) return "this processor has no SHA instructions";
    if (required & AVX2 && !(b & bit_AVX2)) return "this processor has no AVX2";
    if (required & AVX512 && (b & avx512) != avx512) return "this processor has no AVX-512";
    /* The builtins also check whether the operating system saves the registers. */
    if (required & AVX2 && !__builtin_cpu_supports("avx2")) return "the operating system does not save AVX registers";
    if (required & AVX512 && !__builtin_cpu_supports("avx512f")) return "the operating system does not save AVX-512 registers";
#elif defined(__linux__)
    if (required & SHA2 && !(getauxval(AT_HWCAP) & HWCAP_SHA2)) return "this processor has no SHA-2 instructions";
#else
    (void)required; /* On macOS, every arm64 processor has SHA-2 instructions. */
#endif
    return NULL;
}

void kernel_advance(const struct kernel *kernel, uint32_t *const *lanes, size_t count, uint32_t iterations)
{
    uint32_t unused[LANE_WORDS] = {0};
    uint32_t *pointers[MAX_WIDTH];
    for (size_t i = 0; i < MAX_WIDTH; i++) pointers[i] = i < count ? lanes[i] : unused;
    kernel->advance(pointers, iterations);
    wipe_traces();
}
