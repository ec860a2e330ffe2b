/* SPDX-License-Identifier: MIT
 *
 * map: byte strings to byte strings. Table states, replayed states and identities are such maps.
 * The map owns its copies. It knows nothing of rows.
 */
#ifndef DIFFERENTIAL_MAP_H
#define DIFFERENTIAL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A used slot has bytes: first the key, then the value. */
struct map_slot {
        uint8_t *bytes; /* owned; NULL = free */
        size_t key_size;
        size_t value_size;
        uint64_t hash;
};

struct map {
        struct map_slot *slots; /* owned */
        size_t capacity;        /* 0 or a power of two */
        size_t count;
};

void map_release(struct map *map);
const struct map_slot *map_find(const struct map *map, const void *key, size_t key_size);
/* Replaces what stood there. */
void map_put(
        struct map *map, const void *key, size_t key_size, const void *value, size_t value_size);
bool map_remove(struct map *map, const void *key, size_t key_size);
/* The value as a counter: adds and returns the new count; a key that reaches 0 goes. */
int64_t map_add(struct map *map, const void *key, size_t key_size, int64_t more);
/* The first used slot from *position on, which is moved behind it; NULL at the end. */
const struct map_slot *map_next(const struct map *map, size_t *position);

static inline const uint8_t *map_value(const struct map_slot *slot)
{
        return slot->bytes + slot->key_size;
}

#endif
