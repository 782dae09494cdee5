/* Tests every kernel that this machine supports: published vectors in one lane, and that several lanes together have the
 * results of each alone. Also tests low-priority threads and wiping. Runs under sanitizers and emulators; the tests of the
 * addon compare with another implementation. Exits with 1 at the first error. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sha256.h"
#include "lane.h"
#include "low-priority-thread.h"
#include "wipe.h"

#define GUARD UINT32_C(0xdeadbeef)
enum { LANES = MAX_WIDTH + 3, MAX_TEXT = 256 };

static void expect(int condition, const char *error)
{
    if (condition) return;
    fprintf(stderr, "selftest: %s\n", error);
    exit(1);
}

/* Prepares a lane with random bytes of random lengths. rand() has no seed here: every run sees the same ones. */
static void prepare_random_lane(uint32_t *lane)
{
    uint8_t texts[2 * MAX_TEXT];
    for (size_t i = 0; i < sizeof texts; i++) texts[i] = (uint8_t)rand();
    lane_prepare(lane, texts, (size_t)rand() % (MAX_TEXT + 1), texts + MAX_TEXT, (size_t)rand() % (MAX_TEXT + 1));
}

static void test_published(const struct kernel *kernel)
{
    static const struct {
        const char *password, *salt;
        uint32_t iterations;
        const char *hex;
    } vectors[] = {
        /* RFC 7914, section 11 */
        {"passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"},
        {"Password", "NaCl", 80000, "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const uint8_t *password = (const uint8_t *)vectors[i].password, *salt = (const uint8_t *)vectors[i].salt;
        uint32_t lane[LANE_WORDS], *lanes[] = {lane};
        char hex[65];
        lane_prepare(lane, password, strlen(vectors[i].password), salt, strlen(vectors[i].salt));
        if (vectors[i].iterations > 1) kernel_advance(kernel, lanes, 1, vectors[i].iterations - 1);
        for (size_t j = 0; j < 8; j++) snprintf(hex + 8 * j, 9, "%08x", (unsigned)lane[T + j]);
        expect(strcmp(hex, vectors[i].hex) == 0, "a kernel differs from a published vector");
    }
}

/* Advances `count` random lanes of a larger buffer in two slices; the other lanes and the guards must not change. */
static void test_occupancy(const struct kernel *kernel, size_t count)
{
    enum { SPACE = LANES * LANE_WORDS };
    uint32_t *memory = malloc((SPACE + 2) * sizeof *memory), before[SPACE + 2], *lanes[MAX_WIDTH];
    uint32_t first = 1 + (uint32_t)rand() % 4, second = 1 + (uint32_t)rand() % 4;
    uint64_t used = 0;
    expect(memory != NULL, "out of memory");
    for (size_t i = 0; i < SPACE + 2; i++) memory[i] = GUARD;
    for (size_t i = 0; i < count; i++) {
        uint32_t place;
        do place = (uint32_t)rand() % LANES;
        while (used >> place & 1);
        used |= UINT64_C(1) << place;
        lanes[i] = memory + 1 + place * LANE_WORDS;
        prepare_random_lane(lanes[i]);
    }
    memcpy(before, memory, sizeof before);
    kernel_advance(kernel, lanes, count, first);
    kernel_advance(kernel, lanes, count, second);
    for (size_t i = 0; i < count; i++) {
        uint32_t *alone = before + (lanes[i] - memory);
        kernel_advance(kernel, &alone, 1, first + second);
    }
    expect(memcmp(before, memory, sizeof before) == 0, "lanes together differ from each alone, or a kernel wrote outside its lanes");
    free(memory);
}

/* The registers after a call, as far as they can contain what the call left behind; zeros elsewhere. */
static _Alignas(64) uint8_t registers[4096];

#if defined(__x86_64__)
enum { XMM_BEGIN = 160, XMM_END = 416, EXTENDED_BEGIN = 576, VECTOR_STATE = 0xc6 }; /* Intel SDM, volume 1, section 13.4 */
#define SAVE_REGISTERS()                                                                                   \
    do {                                                                                                   \
        if (!__builtin_cpu_supports("avx")) __asm__ __volatile__("fxsave64 %0" : "+m"(registers));         \
        else __asm__ __volatile__("xsave64 %0" : "+m"(registers) : "a"(VECTOR_STATE), "d"(0));             \
        memset(registers, 0, XMM_BEGIN);                                                                   \
        memset(registers + XMM_END, 0, EXTENDED_BEGIN - XMM_END);                                          \
    } while (0)
#elif defined(__aarch64__)
/* The lower halves of v8 to v15 belong to the caller. */
#define SAVE_REGISTERS()                                                                                   \
    do {                                                                                                   \
        uint8_t *at = registers;                                                                           \
        __asm__ __volatile__(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"\
                             "str q\\n, [%0], #16\n\t.endr" : "+r"(at) : : "memory");                      \
        for (size_t i = 8; i < 16; i++) memset(registers + 16 * i, 0, 8);                                  \
    } while (0)
#endif

static void expect_empty_registers(const char *error)
{
    for (size_t i = 0; i < sizeof registers; i++) expect(registers[i] == 0, error);
}

/* The sanitizers of clang leave their own values in vector registers. */
#if defined(__clang__)
enum { KEEPS_REGISTERS_EMPTY = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) };
#else
enum { KEEPS_REGISTERS_EMPTY = 1 };
#endif

static void test_registers(const struct kernel *kernel)
{
    uint32_t memory[MAX_WIDTH][LANE_WORDS], *lanes[MAX_WIDTH];
    for (size_t i = 0; i < kernel->width; i++) {
        lanes[i] = memory[i];
        prepare_random_lane(lanes[i]);
        SAVE_REGISTERS();
        expect_empty_registers("lane_prepare left values in vector registers");
    }
    kernel_advance(kernel, lanes, kernel->width, 3);
    SAVE_REGISTERS();
    expect_empty_registers("a kernel left values in vector registers");
}

static void increment(void *count)
{
    sched_yield();
    ++*(unsigned *)count;
}

/* The result of a task is visible when low_priority_thread_run returns, and an idle thread ends. */
static void test_low_priority_thread(void)
{
    for (unsigned round = 0; round < 8; round++) {
        unsigned count = 0;
        struct low_priority_thread *thread = low_priority_thread_start(1);
        if (thread == NULL) return;
        for (unsigned task = 0; task < round; task++) low_priority_thread_run(thread, increment, &count);
        expect(count == round, "a thread lost a task");
        low_priority_thread_end(thread);
    }
}

static void test_wipe(void)
{
    uint8_t bytes[40];
    memset(bytes, 0xff, sizeof bytes);
    wipe(bytes + 1, sizeof bytes - 2);
    wipe(NULL, 0);
    for (size_t i = 1; i + 1 < sizeof bytes; i++) expect(bytes[i] == 0, "wipe missed a byte");
    expect(bytes[0] == 0xff && bytes[sizeof bytes - 1] == 0xff, "wipe wrote outside its range");
}

int main(void)
{
    size_t tested = 0;
    test_wipe();
    test_low_priority_thread();
    if (!KEEPS_REGISTERS_EMPTY) puts("registers: not tested, because the sanitizers of clang use them");
    for (size_t id = 0; id < kernel_count; id++) {
        const struct kernel *kernel = &kernels[id];
        const char *missing = kernel_missing(kernel);
        if (missing == NULL) {
            test_published(kernel);
            if (KEEPS_REGISTERS_EMPTY) test_registers(kernel);
            for (int round = 0; round < 8; round++) {
                for (size_t count = 1; count <= kernel->width; count++) test_occupancy(kernel, count);
            }
            tested++;
        }
        printf("%s x%u: %s\n", kernel->family, (unsigned)kernel->width, missing == NULL ? "ok" : missing);
    }
    expect(tested > 0, "this machine supports no kernel");
    return 0;
}
