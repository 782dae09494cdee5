/* A lane is the state of one PBKDF2-HMAC-SHA256 derivation (RFC 8018, section 5.2) between two slices (calls of the addon's
 * `advance`). `kernels` is the table of the kernel variants that advance lanes. The code is stateless: all state is in the
 * caller's lanes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    INNER = 0,       /* SHA-256 state after the block key ^ ipad (RFC 2104, section 2) */
    OUTER = 8,       /* SHA-256 state after the block key ^ opad */
    U = 16,          /* the latest U_i as eight words, most significant first */
    T = 24,          /* U_1 ^ ... ^ U_i: the derived key once i reaches the iteration count */
    LANE_WORDS = 32,
    MAX_WIDTH = 32   /* the width of the widest kernel */
};

/* Advances `width` lanes by `iterations`; each pointer points to LANE_WORDS words. */
typedef void advance_fn(uint32_t *const *lanes, uint32_t iterations);

struct kernel {
    const char *family;
    uint32_t width;
    advance_fn *advance;
    uint32_t requirements; /* see kernel_missing */
};

extern const struct kernel kernels[];
extern const size_t kernel_count;

/* Returns what this processor or its operating system lacks for the kernel; NULL if the kernel can run. */
const char *kernel_missing(const struct kernel *kernel);

/* Advances `count` distinct lanes (1..kernel->width). The kernel uses a scratch lane in place of each missing lane. */
void kernel_advance(const struct kernel *kernel, uint32_t *const *lanes, size_t count, uint32_t iterations);

/* Writes both midstates, U_1 and T = U_1 into `lane`, for PBKDF2's first output block. Wipes all intermediate values. */
void lane_prepare(uint32_t *lane, const uint8_t *password, size_t password_length, const uint8_t *salt,
                  size_t salt_length);
