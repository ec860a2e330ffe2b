/* SPDX-License-Identifier: MIT
 *
 * map: open addressing with linear probing; a removed entry closes its gap by moving the
 * entries behind it, so that there are no tombstones.
 */
#include "map.h"

#include <stdlib.h>
#include <string.h>
#include "bytes.h"

void map_release(struct map *map)
{
        for (size_t i = 0; i < map->capacity; i++)
                free(map->slots[i].bytes);
        free(map->slots);
        *map = (struct map){0};
}

static bool slot_is(const struct map_slot *slot, uint64_t hash, const void *key, size_t key_size)
{
        return slot->hash == hash && slot->key_size == key_size &&
               memcmp(slot->bytes, key, key_size) == 0;
}

/* The slot that holds the key, or the free one where it belongs. */
static struct map_slot *map_probe(
        const struct map *map, uint64_t hash, const void *key, size_t key_size)
{
        size_t at = hash & (map->capacity - 1);
        while (map->slots[at].bytes && !slot_is(&map->slots[at], hash, key, key_size))
                at = (at + 1) & (map->capacity - 1);
        return &map->slots[at];
}

static void map_enlarge(struct map *map)
{
        struct map old = *map;
        map->capacity = old.capacity ? old.capacity * 2 : 16;
        map->slots = memory_grow(NULL, map->capacity * sizeof(*map->slots));
        memset(map->slots, 0, map->capacity * sizeof(*map->slots));
        for (size_t i = 0; i < old.capacity; i++) {
                struct map_slot *slot = &old.slots[i];
                if (slot->bytes)
                        *map_probe(map, slot->hash, slot->bytes, slot->key_size) = *slot;
        }
        free(old.slots);
}

const struct map_slot *map_find(const struct map *map, const void *key, size_t key_size)
{
        if (!map->count)
                return NULL;
        struct map_slot *slot = map_probe(map, bytes_hash(key, key_size), key, key_size);
        return slot->bytes ? slot : NULL;
}

void map_put(
        struct map *map, const void *key, size_t key_size, const void *value, size_t value_size)
{
        if ((map->count + 1) * 2 > map->capacity)
                map_enlarge(map);
        uint64_t hash = bytes_hash(key, key_size);
        struct map_slot *slot = map_probe(map, hash, key, key_size);
        uint8_t *bytes = memory_grow(NULL, key_size + value_size);
        memcpy(bytes, key, key_size);
        if (value_size)
                memcpy(bytes + key_size, value, value_size);
        map->count += slot->bytes ? 0 : 1;
        free(slot->bytes);
        *slot = (struct map_slot){bytes, key_size, value_size, hash};
}

bool map_remove(struct map *map, const void *key, size_t key_size)
{
        struct map_slot *slot = (struct map_slot *)map_find(map, key, key_size);
        if (!slot)
                return false;
        free(slot->bytes);
        size_t mask = map->capacity - 1;
        size_t hole = (size_t)(slot - map->slots);
        for (size_t at = (hole + 1) & mask; map->slots[at].bytes; at = (at + 1) & mask) {
                size_t home = map->slots[at].hash & mask;
                /* Moves back unless its home lies between the hole and where it stands. */
                if (((at - home) & mask) < ((at - hole) & mask))
                        continue;
                map->slots[hole] = map->slots[at];
                hole = at;
        }
        map->slots[hole] = (struct map_slot){0};
        map->count--;
        return true;
}

int64_t map_add(struct map *map, const void *key, size_t key_size, int64_t more)
{
        int64_t count = 0;
        const struct map_slot *slot = map_find(map, key, key_size);
        if (slot)
                memcpy(&count, map_value(slot), sizeof(count));
        count += more;
        if (count == 0)
                map_remove(map, key, key_size);
        else
                map_put(map, key, key_size, &count, sizeof(count));
        return count;
}

const struct map_slot *map_next(const struct map *map, size_t *position)
{
        while (*position < map->capacity) {
                const struct map_slot *slot = &map->slots[(*position)++];
                if (slot->bytes)
                        return slot;
        }
        return NULL;
}
