/* SPDX-License-Identifier: MIT
 *
 * netkeys: a hash table of keys, which empties itself into a temporary database when it is full.
 *
 * It refuses to know what a key is made of and what a row looks like.
 */
#include "faces/netkeys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faces/netparts.h"
#include "ground/buf.h"

enum { OPERATION_NONE = 0, OPERATION_DELETE = 1, OPERATION_INSERT = 2, OPERATION_UPDATE = 4 };
enum { FIRST_SLOTS = 1024 };

struct entry {
        uint64_t number; /* of its last change */
        uint64_t hash;
        size_t at; /* in bytes: the mask, then the key */
        uint32_t key_size;
        uint8_t first; /* operations */
        uint8_t last;
        bool is_single; /* stands for itself */
};

struct netkeys {
        size_t limit;
        size_t mask_size;
        struct buf bytes;      /* masks and keys */
        struct entry *entries; /* owned */
        size_t count, capacity;
        uint32_t *slots; /* owned; index of an entry + 1, 0 = free; slot_count is a power of two */
        size_t slot_count;
        size_t next; /* entry to be read */

        struct netparts *parts; /* owned, once it has spilled */
};

int netkeys_new(size_t limit, struct netkeys **ret_keys)
{
        struct netkeys *keys = calloc(1, sizeof(*keys));
        if (!keys)
                return -ENOMEM;
        keys->limit = limit;
        *ret_keys = keys;
        return 0;
}

void netkeys_free(struct netkeys *keys)
{
        if (!keys)
                return;
        netparts_free(keys->parts);
        buf_release(&keys->bytes);
        free(keys->entries);
        free(keys->slots);
        free(keys);
}

void netkeys_freep(struct netkeys **keys)
{
        netkeys_free(*keys);
}

bool netkeys_is_spilled(const struct netkeys *keys)
{
        return keys->parts;
}

/* ---- the table in memory ---- */

/* FNV-1a, its high bits mixed into the low ones, which choose the slot. */
static uint64_t hash_of(const uint8_t *key, size_t size)
{
        uint64_t hash = UINT64_C(14695981039346656037);
        for (size_t i = 0; i < size; i++)
                hash = (hash ^ key[i]) * UINT64_C(1099511628211);
        return hash ^ hash >> 32;
}

static uint8_t *mask_of(const struct netkeys *keys, const struct entry *entry)
{
        return keys->bytes.data + entry->at;
}

static bool has_key(const struct netkeys *keys, const struct entry *entry, uint64_t hash,
        const void *key, size_t size)
{
        return entry->hash == hash && entry->key_size == size &&
               (size == 0 || memcmp(mask_of(keys, entry) + keys->mask_size, key, size) == 0);
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t *find_slot(const struct netkeys *keys, uint64_t hash, const void *key, size_t size)
{
        size_t at = hash & (keys->slot_count - 1);
        while (keys->slots[at] &&
                !has_key(keys, &keys->entries[keys->slots[at] - 1], hash, key, size))
                at = (at + 1) & (keys->slot_count - 1);
        return &keys->slots[at];
}

/* All keys are different, so that only free slots are looked for. */
static void fill_slots(struct netkeys *keys)
{
        for (size_t i = 0; i < keys->count; i++) {
                const struct entry *entry = &keys->entries[i];
                if (entry->is_single)
                        continue;
                size_t at = entry->hash & (keys->slot_count - 1);
                while (keys->slots[at])
                        at = (at + 1) & (keys->slot_count - 1);
                keys->slots[at] = (uint32_t)(i + 1);
        }
}

/* Twice the slots, so that at most half of them are taken. */
static int grow_slots(struct netkeys *keys)
{
        size_t count = keys->slot_count ? 2 * keys->slot_count : FIRST_SLOTS;
        uint32_t *slots = calloc(count, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        free(keys->slots);
        keys->slots = slots;
        keys->slot_count = count;
        fill_slots(keys);
        return 0;
}

static int grow_entries(struct netkeys *keys)
{
        size_t capacity = keys->capacity ? 2 * keys->capacity : FIRST_SLOTS;
        struct entry *entries = reallocarray(keys->entries, capacity, sizeof(*entries));
        if (!entries)
                return -ENOMEM;
        keys->entries = entries;
        keys->capacity = capacity;
        return 0;
}

static size_t memory_of(const struct netkeys *keys)
{
        return keys->bytes.size + keys->count * (sizeof(struct entry) + 2 * sizeof(uint32_t));
}

static int add_entry(
        struct netkeys *keys, const struct entry *entry, const void *key, const uint8_t *mask)
{
        if (keys->count == keys->capacity && grow_entries(keys) < 0)
                return -ENOMEM;
        struct entry *added = &keys->entries[keys->count];
        *added = *entry;
        added->at = keys->bytes.size;
        buf_append(&keys->bytes, mask, keys->mask_size);
        buf_append(&keys->bytes, key, entry->key_size);
        if (buf_error(&keys->bytes) < 0)
                return buf_error(&keys->bytes);
        keys->count++;
        return 0;
}

static void change_entry(struct netkeys *keys, struct entry *entry, int operation, uint64_t number,
        const uint8_t *mask)
{
        uint8_t *bits = mask_of(keys, entry);
        entry->last = (uint8_t)operation;
        entry->number = number;
        for (size_t i = 0; i < keys->mask_size; i++)
                bits[i] |= mask[i];
}

/* ---- adding ---- */

static int spill_entry(struct netkeys *keys, const struct entry *entry)
{
        const uint8_t *mask = mask_of(keys, entry);
        return netparts_add(
                keys->parts, &(struct netpart){
                                     .key = entry->is_single ? NULL : mask + keys->mask_size,
                                     .key_size = entry->key_size,
                                     .first = entry->first,
                                     .last = entry->last,
                                     .number = entry->number,
                                     .mask = mask,
                                     .mask_size = keys->mask_size,
                             });
}

/* Empties memory. */
static int spill(struct netkeys *keys)
{
        int r = keys->parts ? 0 : netparts_new(&keys->parts);
        if (r == 0)
                r = netparts_begin(keys->parts);
        for (size_t i = 0; r == 0 && i < keys->count; i++)
                r = spill_entry(keys, &keys->entries[i]);
        if (r == 0)
                r = netparts_end(keys->parts);
        if (r < 0)
                return r;
        keys->count = 0;
        buf_reset(&keys->bytes);
        if (keys->slots)
                memset(keys->slots, 0, keys->slot_count * sizeof(*keys->slots));
        return 0;
}

static int add_single(struct netkeys *keys, const struct entry *entry, const uint8_t *mask)
{
        struct entry single = *entry;
        single.is_single = true;
        return add_entry(keys, &single, NULL, mask);
}

static int add_keyed(
        struct netkeys *keys, const struct entry *entry, const void *key, const uint8_t *mask)
{
        if (2 * (keys->count + 1) > keys->slot_count && grow_slots(keys) < 0)
                return -ENOMEM;
        uint32_t *slot = find_slot(keys, entry->hash, key, entry->key_size);
        if (*slot) {
                change_entry(keys, &keys->entries[*slot - 1], entry->last, entry->number, mask);
                return 0;
        }
        int r = add_entry(keys, entry, key, mask);
        if (r == 0)
                *slot = (uint32_t)keys->count;
        return r;
}

int netkeys_add(struct netkeys *keys, const void *key, size_t key_size, int operation,
        uint64_t number, const uint8_t *mask, size_t mask_size)
{
        bool is_first = keys->count == 0 && !keys->parts;
        if (is_first)
                keys->mask_size = mask_size;
        if (mask_size != keys->mask_size || key_size > UINT32_MAX)
                return -EINVAL;
        int r = memory_of(keys) >= keys->limit && keys->count > 0 ? spill(keys) : 0;
        if (r < 0)
                return r;
        const struct entry entry = {
                .number = number,
                .hash = key ? hash_of(key, key_size) : 0,
                .key_size = key ? (uint32_t)key_size : 0,
                .first = (uint8_t)operation,
                .last = (uint8_t)operation,
        };
        return key ? add_keyed(keys, &entry, key, mask) : add_single(keys, &entry, mask);
}

/* ---- what is left ---- */

static int net_operation(int first, int last)
{
        if (last == OPERATION_DELETE)
                return first == OPERATION_INSERT ? OPERATION_NONE : OPERATION_DELETE;
        return first == OPERATION_INSERT ? OPERATION_INSERT : OPERATION_UPDATE;
}

static int compare_numbers(const void *a, const void *b)
{
        const struct entry *left = a, *right = b;
        return (left->number > right->number) - (left->number < right->number);
}

/* Its keys are on disk or done with. */
static void release_table(struct netkeys *keys)
{
        free(keys->slots);
        keys->slots = NULL;
        keys->slot_count = 0;
}

int netkeys_finish(struct netkeys *keys)
{
        release_table(keys);
        if (keys->parts) {
                int r = spill(keys);
                buf_release(&keys->bytes);
                return r < 0 ? r : netparts_join(keys->parts);
        }
        if (keys->count > 1)
                qsort(keys->entries, keys->count, sizeof(*keys->entries), compare_numbers);
        return 0;
}

/* The next key, whatever it comes to. */
static int next_part(struct netkeys *keys, struct netpart *ret_part)
{
        if (keys->parts)
                return netparts_next(keys->parts, ret_part);
        if (keys->next == keys->count)
                return 0;
        const struct entry *entry = &keys->entries[keys->next++];
        *ret_part = (struct netpart){
                .first = entry->first,
                .last = entry->last,
                .number = entry->number,
                .mask = mask_of(keys, entry),
                .mask_size = keys->mask_size,
        };
        return 1;
}

int netkeys_next(struct netkeys *keys, struct netkey *ret_net)
{
        struct netpart part;
        int r;
        while ((r = next_part(keys, &part)) > 0) {
                int operation = net_operation(part.first, part.last);
                if (operation == OPERATION_NONE)
                        continue;
                *ret_net = (struct netkey){operation, part.number, part.mask, part.mask_size};
                return 1;
        }
        return r;
}
