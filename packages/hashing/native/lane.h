/* The lane: what one PBKDF2-HMAC-SHA256 derivation (RFC 8018, section 5.2) keeps between two slices, and the
 * table of kernels that move lanes forward. Nothing here has state of its own: every byte lives in the caller's lane. */
#ifndef LATCHKEY_LANE_H
#define LATCHKEY_LANE_H

#include <stddef.h>
#include <stdint.h>

enum {
    INNER = 0,       /* SHA-256 state after the block key ^ ipad (RFC 2104, section 2) */
    OUTER = 8,       /* SHA-256 state after the block key ^ opad */
    U = 16,          /* the latest U_i as eight words, most significant first */
    T = 24,          /* U_1 ^ ... ^ U_i: the derived key once i reaches the iteration count */
    LANE_WORDS = 32,
    MAX_WIDTH = 16   /* the widest kernel */
};

/* Moves the `width` lanes forward by `iterations`; each pointer names LANE_WORDS words. */
typedef void advance_fn(uint32_t *const *lanes, uint32_t iterations);

struct kernel {
    const char *family;
    uint32_t width;
    advance_fn *advance;
    const char *(*missing)(void); /* NULL, or what this CPU or its operating system lacks */
};

extern const struct kernel kernels[];
extern const size_t kernel_count;

/* Advances 1..kernel->width distinct lanes; places that are not occupied work on a scratch lane. */
void kernel_advance(const struct kernel *kernel, uint32_t *const *lanes, size_t count, uint32_t iterations);

/* Midstates, U_1 and T = U_1 of block 1 of (password, salt). Nothing is left behind outside `lane`. */
void lane_prepare(uint32_t *lane, const uint8_t *password, size_t password_length, const uint8_t *salt,
                  size_t salt_length);

advance_fn avx512_advance, avx2_advance;
advance_fn shani_advance_1, shani_advance_2, shani_advance_4;
advance_fn armv8_advance_1, armv8_advance_2, armv8_advance_4;

#endif
