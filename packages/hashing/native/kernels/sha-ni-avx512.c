/* Sixteen lanes as two sets of eight. While the SHA unit computes the rounds of one set, the vector unit computes the
 * message schedule of the other set. Then the units swap their sets. Neither unit waits for the other unit.
 *
 * The speed depends on the order of the instructions, so each one is a volatile assembly statement. The rounds use xmm0
 * and twelve of xmm1 to xmm15; the compiler assigns these twelve. The schedule uses ymm16 to ymm31; this file assigns them. No
 * instruction writes the upper half of ymm0 to ymm15. Otherwise, each later SHA instruction takes hundreds of cycles on Intel. */
#include <immintrin.h>
#include <string.h>

#include "../lane.h"
#include "../wipe.h"
#include "sha256.h"

enum { SET = 8 };

typedef uint32_t __attribute__((may_alias)) word;
typedef uint64_t __attribute__((may_alias)) pair;

/* In the word order of the SHA instructions: {f, e, b, a} and {h, g, d, c}, lowest word first. */
struct state {
    __m128i half[2];
};
static const int STATE_WORDS[8] = {5, 4, 1, 0, 7, 6, 3, 2};

struct set {
    __m256i wk[32][2];        /* [t / 2]: W_t + K_t and W_(t+1) + K_(t+1) of lanes 0 1 4 5, then of lanes 2 3 6 7 */
    __m256i spilled[8];       /* [i % 8]: W_i */
    __m256i t[8];             /* T */
    struct state mid[2][SET]; /* inner, outer */
    struct state digest[SET];
};

/* The number of a register of the schedule, modulo 16. Register i holds W_i until W_(i+16) replaces W_i. Of every eight
 * words W_i, three are stored in memory after the use for W_(i+7) and loaded again for W_(i+15), so three registers are always
 * free. */
typedef int vector;
#define IS_SPILLED(i) ((i) % 8 == 3 || (i) % 8 == 5 || (i) % 8 == 7)
/* A register that is free once W_t is complete: the register of the latest W_i with i <= t - 7 and i % 8 == n. */
#define FREE(t, n) ((t) - 7 - (((t) - 7 - (n)) & 7))

#define SCHEDULE_REGISTERS                                                                                       \
    "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
        "xmm28", "xmm29", "xmm30", "xmm31"
#define R(i) "i"(16 + ((i) & 15))
/* target = x `instruction` y. y is "%2" for a constant or memory, and "%%ymm%c2" for a register. */
#define EMIT(instruction, target, x, y, ...) \
    __asm__ __volatile__(instruction " " y ", %%ymm%c1, %%ymm%c0" : : R(target), R(x), __VA_ARGS__ : SCHEDULE_REGISTERS)
#define EMIT_R(instruction, target, x, y) EMIT(instruction, target, x, "%%ymm%c2", R(y))
#define LOAD(target, memory) \
    __asm__ __volatile__("vmovdqa32 %1, %%ymm%c0" : : R(target), "m"(memory) : SCHEDULE_REGISTERS)
#define STORE(memory, x) __asm__ __volatile__("vmovdqa32 %%ymm%c1, %0" : "=m"(memory) : R(x))

INLINE vector plus_word(vector target, vector x, vector y)
{
    EMIT_R("vpaddd", target, x, y);
    return target;
}

INLINE vector plus_constant(vector target, vector x, const uint32_t *constant)
{
    EMIT("vpaddd", target, x, "%2%{1to8%}", "m"(*constant));
    return target;
}

/* Uses two XORs, because vpternlogd would compete with the rounds for ports. Does not overwrite the register of W_(t-7), which
 * is not free yet. */
INLINE vector plus_sigma(const int t, vector x, vector y, const int n1, const int n2, const int n3)
{
    const vector first = FREE(t, (t - 7) % 8 == 3 ? 7 : 3), second = FREE(t, (t - 7) % 8 == 5 ? 7 : 5);
    EMIT("vprord", first, y, "%2", "i"(n1));
    EMIT("vprord", second, y, "%2", "i"(n2));
    EMIT_R("vpxord", first, first, second);
    EMIT("vpsrld", second, y, "%2", "i"(n3));
    EMIT_R("vpxord", first, first, second);
    return plus_word(t, x, first);
}

#define WORD(i) (i)
#include "message-schedule.h"

INLINE void load_half(const vector target, const struct set *set, const int half, const int lane)
{
    __asm__ __volatile__("vmovdqa32 %1, %%xmm%c0" : : R(target), "m"(set->digest[lane].half[half]) : SCHEDULE_REGISTERS);
    EMIT("vinserti32x4 $1,", target, target, "%2", "m"(set->digest[lane + 4].half[half]));
}

/* Gets four of W_0 to W_7 from one half of each digest. Loads 16 bytes at a time: the digests were stored in such parts, and a
 * load of 32 bytes would wait for both stores. */
INLINE void transpose(const struct set *set, const int half)
{
    load_half(8, set, half, 0);
    load_half(9, set, half, 1);
    load_half(10, set, half, 2);
    load_half(11, set, half, 3);
    EMIT_R("vpunpckldq", 12, 8, 9);
    EMIT_R("vpunpckldq", 13, 10, 11);
    EMIT_R("vpunpckhdq", 14, 8, 9);
    EMIT_R("vpunpckhdq", 15, 10, 11);
    EMIT_R("vpunpcklqdq", 5 + 2 * half, 12, 13);
    EMIT_R("vpunpckhqdq", 4 + 2 * half, 12, 13);
    EMIT_R("vpunpcklqdq", 1 + 2 * half, 14, 15);
    EMIT_R("vpunpckhqdq", 0 + 2 * half, 14, 15);
}

/* Stores W_t + K_t and W_(t+1) + K_(t+1). */
INLINE void store_sums(struct set *set, const int t)
{
    const vector even = t < 8 ? 8 : FREE(t + 1, 3), odd = t < 8 ? 9 : FREE(t + 1, 5), low = t < 8 ? 10 : FREE(t + 1, 7);
    plus_constant(even, t, &SHA256_K[t]);
    plus_constant(odd, t + 1, &SHA256_K[t + 1]);
    EMIT_R("vpunpckldq", low, even, odd);
    EMIT_R("vpunpckhdq", even, even, odd);
    STORE(set->wk[t / 2][0], low);
    STORE(set->wk[t / 2][1], even);
}

INLINE void add_to_sum(__m256i *sum, const int t)
{
    EMIT("vpxord", 8, t, "%2", "m"(sum[t]));
    STORE(sum[t], 8);
}

/* Runs piece n of 128 of a set's schedule. Pieces 0 to 7 transpose the digests into W_0 to W_7 and XOR the digests into
 * `sum`. The other pieces compute W_16 to W_63. */
INLINE void schedule(struct set *set, __m256i *sum, const int n)
{
    const int even = n < 8 ? 2 * (n - 4) : 16 + (n - 8) / 5 * 2, part = (n - 8) % 5, t = even + (part > 1);
    if (n < 4) {
        if (n % 2 == 0) transpose(set, n / 2);
    } else if (n < 8) {
        store_sums(set, even);
        add_to_sum(sum, even);
        add_to_sum(sum, even + 1);
        if (IS_SPILLED(even + 1)) STORE(set->spilled[even + 1], even + 1);
    } else if (part == 4) {
        store_sums(set, even);
    } else if (part % 2 == 0) {
        if (IS_SPILLED(t - 15) && !IS_PADDING(t - 15)) LOAD(t - 15, set->spilled[(t - 15) % 8]);
        schedule_older(NULL, t);
    } else {
        schedule_newer(t < 25 || t > 29 ? t : t - 7, NULL, t);
        if (IS_SPILLED(t - 7) && !IS_PADDING(t - 7) && t + 8 < 64) STORE(set->spilled[(t - 7) % 8], t - 7);
    }
}

/* Two rounds of a lane. The old {f, e, b, a} becomes the new {h, g, d, c}: the halves swap their roles. */
INLINE void two_rounds(struct state *state, const struct set *set, const int step, const int lane)
{
    const pair *wk = (const pair *)set->wk[step] + ((lane & 1) | (lane & 2) << 1 | (lane & 4) >> 1);
    __asm__ __volatile__("vmovq %2, %%xmm0\n\tsha256rnds2 %%xmm0, %1, %0"
                         : "+x"(state->half[~step & 1])
                         : "x"(state->half[step & 1]), "m"(*wk)
                         : "xmm0", SCHEDULE_REGISTERS);
}

/* Group g of 64: four instructions of the rounds, then two pieces of the schedule. Six lanes are in progress at any
 * time, because the instructions of one lane depend on each other. Lanes 0 and 1 are in each of the first 32 groups, lanes 6
 * and 7 in each of the last 32 groups, lanes 2 and 3 in all even groups, lanes 4 and 5 in all odd groups. */
INLINE void group(const struct set *running, struct state *state, struct set *scheduled, __m256i *sum, const int g)
{
    const int fast = g < 32 ? 0 : 6, slow = g % 2 == 0 ? 2 : 4;
    two_rounds(&state[0], running, g % 32, fast);
    two_rounds(&state[1], running, g % 32, fast + 1);
    two_rounds(&state[slow], running, g / 2, slow);
    two_rounds(&state[slow + 1], running, g / 2, slow + 1);
    schedule(scheduled, sum, 2 * g);
    schedule(scheduled, sum, 2 * g + 1);
}

INLINE void start(struct state *state, const struct state *mid)
{
    for (int i = 0; i < 2; i++) __asm__ __volatile__("vmovdqa %1, %0" : "=x"(state->half[i]) : "m"(mid->half[i]));
}

/* digest = state + mid */
INLINE void finish(struct state *digest, struct state *state, const struct state *mid)
{
    for (int i = 0; i < 2; i++) {
        __asm__ __volatile__("vpaddd %1, %0, %0" : "+x"(state->half[i]) : "m"(mid->half[i]));
        __asm__ __volatile__("vmovdqa %1, %0" : "=m"(digest->half[i]) : "x"(state->half[i]));
    }
}

#define GROUP(g) group(running, state, scheduled, sum, g)
/* The empty statement makes gcc use displacements from the pointers. Otherwise, gcc computes and spills every address. */
#define GROUPS_4(g) \
    __asm__ __volatile__("" : "+r"(running), "+r"(scheduled)); \
    GROUP(g), GROUP(g + 1), GROUP(g + 2), GROUP(g + 3)
#define GROUPS_16(g) GROUPS_4(g); GROUPS_4(g + 4); GROUPS_4(g + 8); GROUPS_4(g + 12)

/* Computes the rounds of `running` from `mid` to `digest`, and the schedule of `scheduled`. XORs the digests of
 * `scheduled` into `sum`. */
static __attribute__((noinline)) void phase(const struct set *running, const struct state *mid, struct state *digest,
                                            struct set *scheduled, __m256i *sum)
{
    struct state state[6];
    for (int i = 0; i < 6; i++) start(&state[i], &mid[i]);
    GROUPS_16(0);
    GROUPS_16(16);
    for (int i = 0; i < 2; i++) {
        finish(&digest[i], &state[i], &mid[i]);
        start(&state[i], &mid[i + 6]);
    }
    GROUPS_16(32);
    GROUPS_16(48);
    for (int i = 0; i < 2; i++) finish(&digest[i + 6], &state[i], &mid[i + 6]);
    for (int i = 2; i < 6; i++) finish(&digest[i], &state[i], &mid[i]);
}

static void load_state(struct state *state, const uint32_t *from)
{
    for (int i = 0; i < 8; i++) ((word *)state)[i] = from[STATE_WORDS[i]];
}

static void load(struct set *set, uint32_t *const *lanes)
{
    for (int lane = 0; lane < SET; lane++) {
        load_state(&set->mid[0][lane], lanes[lane] + INNER);
        load_state(&set->mid[1][lane], lanes[lane] + OUTER);
        load_state(&set->digest[lane], lanes[lane] + U);
        /* Removes U from T, because the first schedule XORs U into T again. */
        for (int i = 0; i < 8; i++) ((word *)&set->t[i])[lane] = lanes[lane][T + i] ^ lanes[lane][U + i];
    }
    for (int t = 8; t < 16; t++) {
        for (int i = 0; i < SET; i++) ((word *)set->wk[t / 2])[2 * i + t % 2] = SHA256_K[t] + PADDING(t);
    }
}

static void store(const struct set *set, uint32_t *const *lanes)
{
    for (int lane = 0; lane < SET; lane++) {
        for (int i = 0; i < 8; i++) {
            lanes[lane][U + STATE_WORDS[i]] = ((const word *)&set->digest[lane])[i];
            lanes[lane][T + i] = ((const word *)&set->t[i])[lane];
        }
    }
}

/* U_i = HMAC(password, U_(i-1)) and T ^= U_i (RFC 8018, section 5.2). An iteration takes four phases: the inner and the
 * outer hash of each set. The very first phase only runs the first schedule of set 0. The very last phase only XORs the last
 * digests of set 1 into T. The digests that these two additional phases compute are not used. */
void sha_ni_avx512_advance(uint32_t *const *lanes, uint32_t iterations)
{
    struct {
        struct set sets[2];
        struct state unused_digest[SET];
        __m256i unused_sum[8];
    } scratch;
    memset(&scratch, 0, sizeof scratch);
    load(&scratch.sets[0], lanes);
    load(&scratch.sets[1], lanes + SET);
    const uint64_t last = 4 * (uint64_t)iterations + 1;
    __asm__ __volatile__("vzeroupper");
    for (uint64_t n = 0; n <= last; n++) {
        struct set *running = &scratch.sets[~n & 1], *scheduled = &scratch.sets[n & 1];
        phase(running, running->mid[(n + 3) >> 1 & 1], n == 0 || n == last ? scratch.unused_digest : running->digest,
              scheduled, n & 2 ? scratch.unused_sum : scheduled->t);
    }
    store(&scratch.sets[0], lanes);
    store(&scratch.sets[1], lanes + SET);
    wipe(&scratch, sizeof scratch);
}
