/* Two kernels for tests: one crashes with a signal (SIGILL or SIGTRAP), the other one returns a wrong result. */
static void crash_advance(uint32_t *const *lanes, uint32_t iterations)
{
    (void)lanes;
    if (iterations > 0) __builtin_trap();
}

static void wrong_advance(uint32_t *const *lanes, uint32_t iterations)
{
    lanes[0][T] ^= iterations;
}

#define TEST_KERNELS {"crash", 1, crash_advance, 0}, {"wrong", 1, wrong_advance, 0},
