/* SPDX-License-Identifier: MIT
 *
 * hash: SHA-256 (libmd) for files and names, and a 64-bit hash for page images.
 */
#ifndef CDC_HASH_H
#define CDC_HASH_H

#include <sha2.h>
#include <stddef.h>
#include <stdint.h>

enum { HASH_SIZE = 32, HASH_HEX_SIZE = 65 };

struct hash {
        SHA2_CTX context;
};

void hash_init(struct hash *hash);
void hash_update(struct hash *hash, const void *bytes, size_t size);
void hash_finish(struct hash *hash, uint8_t ret_digest[HASH_SIZE]);
/* The first 8 bytes of the SHA-256, big-endian. */
uint64_t hash_bytes64(const void *bytes, size_t size);
void hash_format(const uint8_t digest[HASH_SIZE], char ret_hex[HASH_HEX_SIZE]);

#endif
