/* Tests every kernel that this machine supports against published vectors and against a simple PBKDF2 that is written
 * here, and tests low-priority threads and wiping. Runs under sanitizers and emulators. Exits with 1 at
 * the first error. */
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

static void to_bytes(uint8_t out[32], const uint32_t words[8])
{
    for (int i = 0; i < 32; i++) out[i] = (uint8_t)(words[i / 4] >> (24 - 8 * (i % 4)));
}

/* FIPS 180-4, implemented literally, over a whole message in memory. Shares no function with the code under test. */
static void reference_sha256(uint8_t out[32], const uint8_t *message, size_t length)
{
    uint8_t padded[MAX_TEXT + 4 + 64 + 72] = {0};
    size_t total = (length + 9 + 63) / 64 * 64;
    uint32_t h[8];
    memcpy(h, SHA256_INITIAL, sizeof h);
    memcpy(padded, message, length);
    padded[length] = 0x80;
    for (int i = 0; i < 8; i++) padded[total - 1 - (size_t)i] = (uint8_t)((uint64_t)length * 8 >> (8 * i));
    for (size_t at = 0; at < total; at += 64) {
        uint32_t w[64], v[8];
        for (size_t t = 0; t < 64; t++) {
            const uint8_t *b = padded + at + 4 * t;
            w[t] = t < 16 ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
                          : SMALL_SIGMA_1(w[t - 2]) + w[t - 7] + SMALL_SIGMA_0(w[t - 15]) + w[t - 16];
        }
        memcpy(v, h, sizeof v);
        for (size_t t = 0; t < 64; t++) {
            uint32_t t1 = v[7] + BIG_SIGMA_1(v[4]) + CHOOSE(v[4], v[5], v[6]) + SHA256_K[t] + w[t];
            uint32_t t2 = BIG_SIGMA_0(v[0]) + MAJORITY(v[0], v[1], v[2]);
            for (int i = 7; i > 0; i--) v[i] = v[i - 1];
            v[4] += t1;
            v[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) h[i] += v[i];
    }
    to_bytes(out, h);
}

static void reference_hmac(uint8_t out[32], const uint8_t *key, size_t key_length, const uint8_t *text, size_t length)
{
    uint8_t block[64] = {0}, message[64 + MAX_TEXT + 4];
    if (key_length > 64) reference_sha256(block, key, key_length);
    else memcpy(block, key, key_length);
    for (int i = 0; i < 64; i++) message[i] = block[i] ^ 0x36;
    memcpy(message + 64, text, length);
    reference_sha256(out, message, 64 + length);
    for (int i = 0; i < 64; i++) message[i] = block[i] ^ 0x5c;
    memcpy(message + 64, out, 32);
    reference_sha256(out, message, 96);
}

struct text {
    uint8_t bytes[MAX_TEXT + 4];
    size_t length;
};

static void reference_pbkdf2(uint8_t out[32], const struct text *password, struct text salt, uint32_t iterations)
{
    uint8_t u[32];
    memcpy(salt.bytes + salt.length, "\0\0\0\1", 4);
    reference_hmac(u, password->bytes, password->length, salt.bytes, salt.length + 4);
    memcpy(out, u, 32);
    for (uint32_t i = 1; i < iterations; i++) {
        reference_hmac(u, password->bytes, password->length, u, 32);
        for (int j = 0; j < 32; j++) out[j] ^= u[j];
    }
}

/* xorshift64 (Marsaglia, 2003) from a fixed seed: every run sees the same bytes. */
static uint64_t random_state = UINT64_C(88172645463325252);

static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16) % bound;
}

/* Half of the lengths are near the boundaries of 64-byte blocks. */
static struct text random_text(void)
{
    static const size_t edges[] = {0, 1, 51, 52, 55, 56, 63, 64, 65, 119, 128, MAX_TEXT};
    struct text text = {.length = random_below(2) ? edges[random_below(12)] : random_below(MAX_TEXT + 1)};
    for (size_t i = 0; i < text.length; i++) text.bytes[i] = (uint8_t)random_below(256);
    return text;
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
        /* The inputs of RFC 6070, with SHA-256 as the hash */
        {"password", "salt", 2, "ae4d0c95af6b46d32d0adff928f06dd02a303f8ef3c251dfd6e2d85a95474c43"},
        {"password", "salt", 4096, "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a"},
        {"passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096,
         "348c89dbcbd32b2f32d814b8116e84cf2b17347ebc1800181c4e2a1fb8dd53e1"},
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
    struct text passwords[MAX_WIDTH], salts[MAX_WIDTH];
    uint32_t first = 1 + random_below(4), second = 1 + random_below(4), used = 0;
    expect(memory != NULL, "out of memory");
    for (size_t i = 0; i < SPACE + 2; i++) memory[i] = GUARD;
    for (size_t i = 0; i < count; i++) {
        uint32_t place;
        do place = random_below(LANES);
        while (used >> place & 1);
        used |= UINT32_C(1) << place;
        lanes[i] = memory + 1 + place * LANE_WORDS;
        passwords[i] = random_text();
        salts[i] = random_text();
        lane_prepare(lanes[i], passwords[i].bytes, passwords[i].length, salts[i].bytes, salts[i].length);
    }
    memcpy(before, memory, sizeof before);
    kernel_advance(kernel, lanes, count, first);
    kernel_advance(kernel, lanes, count, second);
    for (size_t i = 0; i < count; i++) {
        uint8_t expected[32], digest[32];
        reference_pbkdf2(expected, &passwords[i], salts[i], 1 + first + second);
        to_bytes(digest, lanes[i] + T);
        expect(memcmp(expected, digest, 32) == 0, "a kernel differs from the reference");
        memcpy(before + (lanes[i] - memory) + U, lanes[i] + U, (LANE_WORDS - U) * sizeof *memory);
    }
    expect(memcmp(before, memory, sizeof before) == 0, "a kernel wrote outside its lanes");
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
        struct text password = random_text(), salt = random_text();
        lanes[i] = memory[i];
        lane_prepare(lanes[i], password.bytes, password.length, salt.bytes, salt.length);
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
