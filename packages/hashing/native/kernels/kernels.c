/* The table of kernel variants in this binary; a variant's id is its index. What the machine supports is queried at run
 * time: CPUID and XGETBV on x86-64 (Intel SDM, volume 1, section 15.2), the hardware capabilities on arm64. */
#include "../lane.h"
#include "../wipe.h"

/* What kernels require; the first unmet requirement is reported. */
enum { SHA_NI = 1, AVX2 = 2, AVX512 = 4, SHA2 = 8 };
struct requirement {
    uint32_t id;
    struct processor bits; /* all of them are set */
    const char *missing;
};
#define BIT(number) (UINT32_C(1) << (number))

#if defined(__x86_64__)
#include <cpuid.h>

enum { LEAF_1_ECX_SSE41 = 19, LEAF_1_ECX_OSXSAVE = 27 };
enum { LEAF_7_EBX_AVX2 = 5, LEAF_7_EBX_AVX512F = 16, LEAF_7_EBX_SHA = 29, LEAF_7_EBX_AVX512VL = 31 };
enum {
    XCR0_YMM = 0x06, /* xmm and the upper halves of ymm */
    XCR0_ZMM = 0xe6  /* additionally the mask registers and both parts of zmm */
};

struct processor this_processor(void)
{
    struct processor processor = {0};
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d)) processor.leaf_1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) processor.leaf_7_ebx = b;
    if (processor.leaf_1_ecx & BIT(LEAF_1_ECX_OSXSAVE)) __asm__ __volatile__("xgetbv" : "=a"(processor.xcr0) : "c"(0) : "edx");
    return processor;
}

static const struct requirement requirements[] = {
    {SHA_NI, {.leaf_7_ebx = BIT(LEAF_7_EBX_SHA)}, "this processor has no SHA instructions"},
    {SHA_NI, {.leaf_1_ecx = BIT(LEAF_1_ECX_SSE41)}, "this processor has no SHA instructions"},
    {AVX2, {.leaf_7_ebx = BIT(LEAF_7_EBX_AVX2)}, "this processor has no AVX2"},
    {AVX2, {.xcr0 = XCR0_YMM}, "the operating system does not save AVX registers"},
    {AVX512, {.leaf_7_ebx = BIT(LEAF_7_EBX_AVX512F) | BIT(LEAF_7_EBX_AVX512VL)}, "this processor has no AVX-512"},
    {AVX512, {.xcr0 = XCR0_ZMM}, "the operating system does not save AVX-512 registers"},
};

#elif defined(__aarch64__)
#ifdef __linux__
#include <sys/auxv.h>
#endif

enum { HWCAP_SHA2_BIT = 1 << 6 }; /* Linux, arch/arm64/include/uapi/asm/hwcap.h */

struct processor this_processor(void)
{
#ifdef __linux__
    return (struct processor){.hwcap = (uint32_t)getauxval(AT_HWCAP)};
#else
    return (struct processor){.hwcap = HWCAP_SHA2_BIT}; /* On macOS, every arm64 processor has them. */
#endif
}

static const struct requirement requirements[] = {
    {SHA2, {.hwcap = HWCAP_SHA2_BIT}, "this processor has no SHA-2 instructions"},
};
#endif

#ifdef LATCHKEY_FAULTY_KERNELS
/* For tests: crashes with a signal (SIGILL or SIGTRAP). */
static void crash_advance(uint32_t *const *lanes, uint32_t iterations)
{
    (void)lanes;
    if (iterations > 0) __builtin_trap();
}

/* For tests: returns a wrong result. */
static void wrong_advance(uint32_t *const *lanes, uint32_t iterations)
{
    lanes[0][T] ^= iterations;
}
#endif

/* Each is defined in the file of its kernel. */
advance_fn sha_ni_avx512_advance, avx512_advance, avx512vl_advance, avx2_advance;
advance_fn sha_ni_advance_1, sha_ni_advance_2, sha_ni_advance_4;
advance_fn armv8_advance_1, armv8_advance_2, armv8_advance_4;

const struct kernel kernels[] = {
#ifdef LATCHKEY_FAULTY_KERNELS
    {"crash", 1, crash_advance, 0},
    {"wrong", 1, wrong_advance, 0},
#endif
#if defined(__x86_64__)
    {"sha-ni-avx512", 16, sha_ni_avx512_advance, SHA_NI | AVX512},
    {"avx512", 8, avx512vl_advance, AVX512},
    {"avx512", 16, avx512_advance, AVX512},
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

const char *kernel_missing(const struct kernel *kernel, struct processor processor)
{
    for (size_t i = 0; i < sizeof requirements / sizeof *requirements; i++) {
        const struct processor *bits = &requirements[i].bits;
        const uint32_t missing = (bits->leaf_1_ecx & ~processor.leaf_1_ecx) | (bits->leaf_7_ebx & ~processor.leaf_7_ebx) |
                                 (bits->xcr0 & ~processor.xcr0) | (bits->hwcap & ~processor.hwcap);
        if (kernel->requirements & requirements[i].id && missing != 0) return requirements[i].missing;
    }
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
