/* The start of a derivation, in portable C: HMAC's two midstates and PBKDF2's first iteration. The kernels compute all
 * further iterations. Branches and indices depend only on the number of bytes, never on their values. */
#include "lane.h"
#include "kernels/sha256.h"
#include "wipe.h"

enum { BLOCK = 64, DIGEST = 32 };

struct hash {
    uint32_t state[8];
    uint8_t block[BLOCK];
    uint64_t length;
};

/* FIPS 180-4, section 6.2.2. */
static void compress(uint32_t state[8], const uint8_t block[BLOCK])
{
    uint32_t w[64], v[8];
    for (int t = 0; t < 16; t++) {
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    }
    for (int t = 16; t < 64; t++) w[t] = SMALL_SIGMA_1(w[t - 2]) + w[t - 7] + SMALL_SIGMA_0(w[t - 15]) + w[t - 16];
    memcpy(v, state, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t t1 = v[7] + BIG_SIGMA_1(v[4]) + CHOOSE(v[4], v[5], v[6]) + SHA256_K[t] + w[t];
        uint32_t t2 = BIG_SIGMA_0(v[0]) + MAJORITY(v[0], v[1], v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
    wipe(w, sizeof w);
    wipe(v, sizeof v);
}

/* Continues after `length` bytes, a multiple of BLOCK. */
static void hash_begin(struct hash *hash, const uint32_t state[8], uint64_t length)
{
    memcpy(hash->state, state, sizeof hash->state);
    hash->length = length;
}

static void hash_add(struct hash *hash, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        size_t used = hash->length % BLOCK;
        size_t part = count < BLOCK - used ? count : BLOCK - used;
        memcpy(hash->block + used, bytes, part);
        hash->length += part;
        bytes += part;
        count -= part;
        if (used + part == BLOCK) compress(hash->state, hash->block);
    }
}

/* Adds the padding (FIPS 180-4, section 5.1.1). */
static void hash_end(struct hash *hash, uint8_t digest[DIGEST])
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint64_t bits = hash->length * 8;
    size_t used = hash->length % BLOCK;
    uint8_t length[8];
    hash_add(hash, padding, (used < BLOCK - 8 ? BLOCK - 8 : 2 * BLOCK - 8) - used);
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    hash_add(hash, length, sizeof length);
    for (int i = 0; i < DIGEST; i++) digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* RFC 2104, section 2: one block of key ^ pad. */
static void midstate(uint32_t out[8], const uint8_t key[BLOCK], uint8_t pad)
{
    uint8_t block[BLOCK];
    for (int i = 0; i < BLOCK; i++) block[i] = key[i] ^ pad;
    memcpy(out, SHA256_INITIAL, 8 * sizeof *out);
    compress(out, block);
    wipe(block, sizeof block);
}

void lane_prepare(uint32_t *lane, const uint8_t *password, size_t password_length, const uint8_t *salt,
                  size_t salt_length)
{
    static const uint8_t block_index[4] = {0, 0, 0, 1}; /* INT(1): 32 bytes of output are exactly block 1 */
    struct {
        struct hash hash;
        uint8_t key[BLOCK], digest[DIGEST];
        uint32_t lane[LANE_WORDS];
    } scratch;
    memset(&scratch, 0, sizeof scratch);

    if (password_length > BLOCK) {
        hash_begin(&scratch.hash, SHA256_INITIAL, 0);
        hash_add(&scratch.hash, password, password_length);
        hash_end(&scratch.hash, scratch.key);
    } else if (password_length > 0) {
        memcpy(scratch.key, password, password_length);
    }
    midstate(scratch.lane + INNER, scratch.key, 0x36);
    midstate(scratch.lane + OUTER, scratch.key, 0x5c);

    hash_begin(&scratch.hash, scratch.lane + INNER, BLOCK);
    hash_add(&scratch.hash, salt, salt_length);
    hash_add(&scratch.hash, block_index, sizeof block_index);
    hash_end(&scratch.hash, scratch.digest);

    hash_begin(&scratch.hash, scratch.lane + OUTER, BLOCK);
    hash_add(&scratch.hash, scratch.digest, DIGEST);
    hash_end(&scratch.hash, scratch.digest);
    memcpy(scratch.lane + U, scratch.hash.state, sizeof scratch.hash.state);
    memcpy(scratch.lane + T, scratch.hash.state, sizeof scratch.hash.state);

    /* Last, because the inputs can overlap the lane. */
    memcpy(lane, scratch.lane, sizeof scratch.lane);
    wipe(&scratch, sizeof scratch);
    wipe_traces();
}
