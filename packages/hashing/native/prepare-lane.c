/* The start of a derivation, in portable C: HMAC's two midstates and PBKDF2's first iteration. The kernels compute all
 * further iterations. Branches and indices depend on the lengths of the inputs, never on the bytes. */
#include "lane.h"
#include "kernels/sha256.h"
#include "wipe.h"

enum { BLOCK = 64, DIGEST = 32, BLOCK_WORDS = 16 };

struct hash {
    uint32_t state[8];
    uint32_t block[BLOCK_WORDS];
    uint64_t length; /* bytes */
};

/* FIPS 180-4, section 6.2.2. */
static void compress(uint32_t state[8], const uint32_t block[BLOCK_WORDS])
{
    uint32_t w[64], v[8];
    memcpy(w, block, BLOCK);
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

static void hash_add(struct hash *hash, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *word = &hash->block[hash->length / 4 % BLOCK_WORDS];
        *word = *word << 8 | bytes[i]; /* four bytes replace the whole word */
        if (++hash->length % BLOCK == 0) compress(hash->state, hash->block);
    }
}

/* Adds the padding (FIPS 180-4, section 5.1.1). Then `state` is the digest. */
static void hash_end(struct hash *hash)
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint64_t bits = hash->length * 8;
    size_t used = hash->length % BLOCK;
    uint8_t length[8];
    hash_add(hash, padding, (used < BLOCK - 8 ? BLOCK - 8 : 2 * BLOCK - 8) - used);
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    hash_add(hash, length, sizeof length);
}

/* Computes the SHA-256 state after one block of key ^ pad (RFC 2104, section 2). `pad` repeats one byte. */
static void midstate(uint32_t out[8], const uint32_t key[BLOCK_WORDS], uint32_t pad)
{
    uint32_t block[BLOCK_WORDS];
    for (int i = 0; i < BLOCK_WORDS; i++) block[i] = key[i] ^ pad;
    memcpy(out, SHA256_INITIAL, DIGEST);
    compress(out, block);
    wipe(block, sizeof block);
}

void lane_prepare(uint32_t *lane, const uint8_t *password, size_t password_length, const uint8_t *salt,
                  size_t salt_length)
{
    static const uint8_t block_index[4] = {0, 0, 0, 1}; /* INT(1): 32 bytes of output are exactly block 1 */
    struct {
        struct hash hash;
        uint32_t key[BLOCK_WORDS], digest[BLOCK_WORDS], lane[LANE_WORDS];
    } scratch;
    memset(&scratch, 0, sizeof scratch);

    if (password_length > BLOCK) {
        memcpy(scratch.hash.state, SHA256_INITIAL, DIGEST);
        hash_add(&scratch.hash, password, password_length);
        hash_end(&scratch.hash);
        memcpy(scratch.key, scratch.hash.state, DIGEST);
    } else {
        for (size_t i = 0; i < password_length; i++) scratch.key[i / 4] |= (uint32_t)password[i] << (24 - 8 * (i % 4));
    }
    midstate(scratch.lane + INNER, scratch.key, 0x36363636);
    midstate(scratch.lane + OUTER, scratch.key, 0x5c5c5c5c);

    memcpy(scratch.hash.state, scratch.lane + INNER, DIGEST);
    scratch.hash.length = BLOCK;
    hash_add(&scratch.hash, salt, salt_length);
    hash_add(&scratch.hash, block_index, sizeof block_index);
    hash_end(&scratch.hash);

    memcpy(scratch.digest, scratch.hash.state, DIGEST);
    scratch.digest[DIGEST / 4] = PADDING_FIRST;
    scratch.digest[BLOCK_WORDS - 1] = PADDING_LENGTH;
    memcpy(scratch.lane + U, scratch.lane + OUTER, DIGEST);
    compress(scratch.lane + U, scratch.digest);
    memcpy(scratch.lane + T, scratch.lane + U, DIGEST);

    /* The lane is written last, because the inputs can overlap the lane. */
    memcpy(lane, scratch.lane, sizeof scratch.lane);
    wipe(&scratch, sizeof scratch);
    wipe_traces();
}
