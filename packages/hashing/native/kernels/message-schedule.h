/* The message schedule of SHA-256 (FIPS 180-4, section 6.2.2, step 1). Each vector holds one word of several lanes. In the
 * block that PBKDF2 hashes, W_8 to W_15 are padding, so the padding's part of each W_t is a constant. W_t replaces W_(t-16).
 * The including file defines `vector` and the terms of the sum W_t:
 *   WORD(i)                     W_i
 *   plus_word(t, x, i)          x + W_i
 *   plus_constant(t, x, from)   x + *from, an element of a constant table
 *   plus_sigma(t, x, i, n1, n2, n3)  x + (W_i rotated right by n1 ^ W_i rotated by n2 ^ W_i shifted by n3) */
#include "sha256.h"

#define IS_PADDING(t) ((t) >= 8 && (t) < 16)
#define PADDING(t) ((t) == 8 ? PADDING_FIRST : (t) == 15 ? PADDING_LENGTH : 0)
#define PADDING_TERMS(t) \
    (PADDING((t) - 16) + SMALL_SIGMA_0(PADDING((t) - 15)) + PADDING((t) - 7) + SMALL_SIGMA_1(PADDING((t) - 2)))
/* The sum of the padding's terms in W_t, for each t with a sum other than 0. */
static const uint32_t SCHEDULE_CONSTANTS[64] = {
    [17] = PADDING_TERMS(17), [22] = PADDING_TERMS(22), [23] = PADDING_TERMS(23),
    [24] = PADDING_TERMS(24), [30] = PADDING_TERMS(30), [31] = PADDING_TERMS(31),
};

/* Adds the terms of W_t that are known first: W_(t-16), sigma_0(W_(t-15)) and the sum of the padding's terms. If W_(t-16) is
 * padding, uses W_(t-7) in place of W_(t-16). */
INLINE vector schedule_older(const vector *w, const int t)
{
    vector sum = WORD(IS_PADDING(t - 16) ? t - 7 : t - 16);
    if (!IS_PADDING(t - 15)) sum = plus_sigma(t, sum, t - 15, 7, 18, 3);
    (void)w;
    return SCHEDULE_CONSTANTS[t] == 0 ? sum : plus_constant(t, sum, &SCHEDULE_CONSTANTS[t]);
}

/* Completes W_t: adds sigma_1(W_(t-2)), and W_(t-7) unless schedule_older has already added W_(t-7). */
INLINE vector schedule_newer(vector sum, const vector *w, const int t)
{
    if (!IS_PADDING(t - 7) && !IS_PADDING(t - 16)) sum = plus_word(t, sum, t - 7);
    (void)w;
    return IS_PADDING(t - 2) ? sum : plus_sigma(t, sum, t - 2, 17, 19, 10);
}
