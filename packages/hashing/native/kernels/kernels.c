/* The table of kernel variants in this binary; a variant's id is its index. What the machine supports is queried at run
 * time: CPUID and XGETBV on x86-64 (Intel SDM, volume 1, section 15.2), the hardware capabilities on arm64. */
#include "../lane.h"
#include "../wipe.h"

#include <stdbool.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum {
    XCR0_YMM = 0x06, /* xmm and the upper halves of ymm */
    XCR0_ZMM = 0xe6  /* additionally the mask registers and both parts of zmm */
};
#define LEAF_1_ECX_SSE41 (UINT32_C(1) << 19)
#define LEAF_1_ECX_OSXSAVE (UINT32_C(1) << 27)
#define LEAF_7_EBX_AVX2 (UINT32_C(1) << 5)
#define LEAF_7_EBX_AVX512F (UINT32_C(1) << 16)
#define LEAF_7_EBX_SHA (UINT32_C(1) << 29)
#define LEAF_7_EBX_AVX512VL (UINT32_C(1) << 31)

struct processor this_processor(void)
{
    struct processor processor = {0};
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d)) processor.leaf_1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) processor.leaf_7_ebx = b;
    if (processor.leaf_1_ecx & LEAF_1_ECX_OSXSAVE) __asm__ __volatile__("xgetbv" : "=a"(processor.xcr0) : "c"(0) : "edx");
    return processor;
}

static bool has(uint32_t bits, uint32_t required)
{
    return (bits & required) == required;
}

static const char *missing_for_avx512(const struct processor *processor)
{
    if (!has(processor->leaf_7_ebx, LEAF_7_EBX_AVX512F)) return "this processor has no AVX-512";
    if (!has(processor->xcr0, XCR0_ZMM)) return "the operating system does not save AVX-512 registers";
    return NULL;
}

static const char *missing_for_avx2(const struct processor *processor)
{
    if (!has(processor->leaf_7_ebx, LEAF_7_EBX_AVX2)) return "this processor has no AVX2";
    if (!has(processor->xcr0, XCR0_YMM)) return "the operating system does not save AVX registers";
    return NULL;
}

static const char *missing_for_sha_ni(const struct processor *processor)
{
    if (!has(processor->leaf_7_ebx, LEAF_7_EBX_SHA) || !has(processor->leaf_1_ecx, LEAF_1_ECX_SSE41))
        return "this processor has no SHA instructions";
    return NULL;
}

static const char *missing_for_sha_ni_avx512(const struct processor *processor)
{
    if (missing_for_sha_ni(processor) != NULL) return missing_for_sha_ni(processor);
    if (missing_for_avx512(processor) != NULL) return missing_for_avx512(processor);
    return has(processor->leaf_7_ebx, LEAF_7_EBX_AVX512VL) ? NULL : "this processor has no AVX-512VL";
}

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

static const char *missing_for_armv8(const struct processor *processor)
{
    return processor->hwcap & HWCAP_SHA2_BIT ? NULL : "this processor has no SHA-2 instructions";
}
#endif

#ifdef LATCHKEY_FAULTY_KERNELS
static const char *missing_nothing(const struct processor *processor)
{
    (void)processor;
    return NULL;
}

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

const struct kernel kernels[] = {
#ifdef LATCHKEY_FAULTY_KERNELS
    {"crash", 1, crash_advance, missing_nothing},
    {"wrong", 1, wrong_advance, missing_nothing},
#endif
#if defined(__x86_64__)
    {"sha-ni-avx512", 16, sha_ni_avx512_advance, missing_for_sha_ni_avx512},
    {"avx512", 16, avx512_advance, missing_for_avx512},
    {"avx2", 8, avx2_advance, missing_for_avx2},
    {"sha-ni", 1, sha_ni_advance_1, missing_for_sha_ni},
    {"sha-ni", 2, sha_ni_advance_2, missing_for_sha_ni},
    {"sha-ni", 4, sha_ni_advance_4, missing_for_sha_ni},
#elif defined(__aarch64__)
    {"armv8", 1, armv8_advance_1, missing_for_armv8},
    {"armv8", 2, armv8_advance_2, missing_for_armv8},
    {"armv8", 4, armv8_advance_4, missing_for_armv8},
#else
#error "There is no native kernel for this processor; the portable kernel needs no build."
#endif
};
const size_t kernel_count = sizeof kernels / sizeof *kernels;

const char *kernel_missing(const struct kernel *kernel)
{
    const struct processor processor = this_processor();
    return kernel->missing(&processor);
}

void kernel_advance(const struct kernel *kernel, uint32_t *const *lanes, size_t count, uint32_t iterations)
{
    uint32_t unused[LANE_WORDS] = {0};
    uint32_t *pointers[MAX_WIDTH];
    for (size_t i = 0; i < MAX_WIDTH; i++) pointers[i] = i < count ? lanes[i] : unused;
    kernel->advance(pointers, iterations);
    wipe_traces();
}
