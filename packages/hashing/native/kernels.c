/* The table of kernels in this binary; a kernel's id is its index. Which of them this machine can run is asked of the
 * processor (and of the operating system, where registers must be saved), never of the compiler. */
#include "lane.h"
#include "cpu.h"
#include "wipe.h"

#ifdef LATCHKEY_FAULTY_KERNELS
static const char *missing_nothing(void)
{
    return NULL;
}

/* For tests: dies by a signal (SIGILL or SIGTRAP). */
static void crash_advance(uint32_t *const *lanes, uint32_t iterations)
{
    (void)lanes;
    if (iterations > 0) __builtin_trap();
}

/* For tests: runs and is wrong. */
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
    {"avx512", 16, avx512_advance, cpu_missing_for_avx512},
    {"avx2", 8, avx2_advance, cpu_missing_for_avx2},
    {"sha-ni", 1, shani_advance_1, cpu_missing_for_sha_ni},
    {"sha-ni", 2, shani_advance_2, cpu_missing_for_sha_ni},
    {"sha-ni", 4, shani_advance_4, cpu_missing_for_sha_ni},
#elif defined(__aarch64__)
    {"armv8", 1, armv8_advance_1, cpu_missing_for_armv8},
    {"armv8", 2, armv8_advance_2, cpu_missing_for_armv8},
    {"armv8", 4, armv8_advance_4, cpu_missing_for_armv8},
#else
#error "There is no kernel for this processor; the portable one needs no build."
#endif
};
const size_t kernel_count = sizeof kernels / sizeof *kernels;

void kernel_advance(const struct kernel *kernel, uint32_t *const *lanes, size_t count, uint32_t iterations)
{
    uint32_t vacant[LANE_WORDS] = {0};
    uint32_t *places[MAX_WIDTH];
    for (size_t i = 0; i < MAX_WIDTH; i++) places[i] = i < count ? lanes[i] : vacant;
    kernel->advance(places, iterations);
    wipe_stack();
}
