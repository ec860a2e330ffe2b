/* SPDX-License-Identifier: MIT
 *
 * change: one row change of an instance, expected or delivered, in one form for both, so that
 * they can be compared as bytes.
 *
 * The image is: u8 operation (1 delete, 2 insert, 4 update), the mask as a blob, the captured
 * columns before as a blob (empty for an insert) and after as a blob (empty for a delete).
 */
#ifndef DIFFERENTIAL_CHANGE_H
#define DIFFERENTIAL_CHANGE_H

#include "lens.h"

struct change {
        const uint8_t *image; /* borrowed from the list */
        size_t size;
};

/* Changes over one arena; offsets, since the arena moves while it grows. */
struct changes {
        struct bytes arena;
        size_t *offsets; /* count + 1 of them */
        size_t count;
};

struct change_parts {
        unsigned operation;
        const uint8_t *mask, *before, *after;
        size_t mask_size, before_size, after_size;
};

void changes_release(struct changes *changes);
void changes_clear(struct changes *changes);
void changes_append(struct changes *changes, const struct change_parts *parts);
struct change changes_at(const struct changes *changes, size_t index);
struct change_parts change_split(const struct change *change);
int change_compare(const struct change *a, const struct change *b);
void change_print(FILE *file, const struct change *change);

/* Bit `ordinal` (from 1) of a mask whose lowest bit is in its last byte. */
static inline void mask_set(uint8_t *mask, size_t size, unsigned ordinal)
{
        mask[size - 1 - (ordinal - 1) / 8] |= (uint8_t)(1u << (ordinal - 1) % 8);
}

static inline size_t mask_size(unsigned columns)
{
        return (columns + 7) / 8;
}

/* What an instance must show of the transaction that the table's deltas are from: net changes by
 * the instance's identity, restricted to its columns. */
void change_expect(const struct lens *before, const struct lens *after,
        const struct model_table *table, struct changes *ret_changes);
/* The captured columns of every row that stands in the table, as a multiset. */
void change_project_table(
        const struct lens *lens, const struct model_table *table, struct map *ret_rows);

#endif
