/* Asks the processor what it can do: CPUID and XGETBV on x86-64 (Intel SDM, volume 1, section 15.2), the kernel's
 * hardware capabilities on arm64. Nothing is remembered; the door asks once for each environment it is loaded into. */
#include "cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum {
    LEAF_1_ECX_SSE41 = 1 << 19,
    LEAF_1_ECX_OSXSAVE = 1 << 27,
    LEAF_7_EBX_AVX2 = 1 << 5,
    LEAF_7_EBX_AVX512F = 1 << 16,
    LEAF_7_EBX_SHA = 1 << 29,
    XCR0_YMM = 0x06, /* xmm and the upper halves of ymm */
    XCR0_ZMM = 0xe6  /* those, the mask registers, and both parts of zmm */
};

static bool leaf_1_ecx(unsigned bits)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bits) == bits;
}

static bool leaf_7_ebx(unsigned bits)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bits) == bits;
}

static bool saved_by_system(unsigned bits)
{
    unsigned low, high;
    if (!leaf_1_ecx(LEAF_1_ECX_OSXSAVE)) return false;
    __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & bits) == bits;
}

const char *cpu_missing_for_avx512(void)
{
    if (!leaf_7_ebx(LEAF_7_EBX_AVX512F)) return "this processor has no AVX-512";
    if (!saved_by_system(XCR0_ZMM)) return "the operating system does not save AVX-512 registers";
    return NULL;
}

const char *cpu_missing_for_avx2(void)
{
    if (!leaf_7_ebx(LEAF_7_EBX_AVX2)) return "this processor has no AVX2";
    if (!saved_by_system(XCR0_YMM)) return "the operating system does not save AVX registers";
    return NULL;
}

const char *cpu_missing_for_sha_ni(void)
{
    if (!leaf_7_ebx(LEAF_7_EBX_SHA) || !leaf_1_ecx(LEAF_1_ECX_SSE41)) return "this processor has no SHA instructions";
    return NULL;
}

#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

const char *cpu_missing_for_armv8(void)
{
    enum { HWCAP_SHA2_BIT = 1 << 6 }; /* Linux, arch/arm64/include/uapi/asm/hwcap.h */
    return getauxval(AT_HWCAP) & HWCAP_SHA2_BIT ? NULL : "this processor has no SHA-2 instructions";
}

#elif defined(__aarch64__)

/* macOS: every processor of theirs has them. */
const char *cpu_missing_for_armv8(void)
{
    return NULL;
}
#endif
