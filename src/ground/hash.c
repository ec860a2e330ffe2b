/* SPDX-License-Identifier: MIT
 *
 * hash: SHA-256 by libmd, whole or shortened to 64 bits.
 *
 * The only room that calls libmd. It knows nothing of what is hashed, nor whether 64 bits are
 * enough for a caller's purpose.
 */
#include "ground/hash.h"

#include "ground/bytes.h"

void hash_init(struct hash *hash)
{
        SHA256Init(&hash->context);
}

void hash_update(struct hash *hash, const void *bytes, size_t size)
{
        /* An empty piece may come with a NULL pointer. */
        if (size > 0)
                SHA256Update(&hash->context, bytes, size);
}

void hash_finish(struct hash *hash, uint8_t ret_digest[HASH_SIZE])
{
        SHA256Final(ret_digest, &hash->context);
}

uint64_t hash_bytes64(const void *bytes, size_t size)
{
        struct hash hash;
        uint8_t digest[HASH_SIZE];
        hash_init(&hash);
        hash_update(&hash, bytes, size);
        hash_finish(&hash, digest);
        return be64(digest);
}

void hash_format(const uint8_t digest[HASH_SIZE], char ret_hex[HASH_HEX_SIZE])
{
        static const char digits[] = "0123456789abcdef";
        for (unsigned i = 0; i < HASH_SIZE; i++) {
                ret_hex[2 * i] = digits[digest[i] >> 4];
                ret_hex[2 * i + 1] = digits[digest[i] & 15];
        }
        ret_hex[2 * HASH_SIZE] = 0;
}
