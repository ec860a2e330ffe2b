/* SPDX-License-Identifier: MIT
 *
 * sorter: brings (key, side, payload) into the order of key, then side. A few megabytes are sorted
 * in memory; what is more goes through a temporary SQLite table. Keys order as memcmp orders them.
 */
#ifndef CDC_SORTER_H
#define CDC_SORTER_H

#include <sqlite3.h>
#include <stdint.h>
#include "ground/buf.h"

struct sorter {
        struct buf memory; /* entries, back to back */
        size_t *offsets;   /* owned: where each begins */
        size_t count, capacity;
        size_t next;          /* to be read */
        sqlite3 *db;          /* owned, once it has spilled; kept for reuse */
        sqlite3_stmt *insert; /* owned */
        sqlite3_stmt *select; /* owned */
        int is_spilled;
        int64_t added; /* entries that went to the table */
};

struct sorter_entry {
        const uint8_t *key; /* borrowed until the next call */
        size_t key_size;
        unsigned side;
        const uint8_t *payload; /* borrowed until the next call */
        size_t payload_size;
};

/* A zeroed struct is an empty sorter. */
void sorter_release(struct sorter *sorter);
/* Empties it for the next use. */
int sorter_reset(struct sorter *sorter);
/* Equal keys and sides come out in the order in which they were added. 0, -ENOMEM, -ENOSPC, -EIO.
 */
int sorter_add(
        struct sorter *sorter, const struct buf *key, unsigned side, const struct buf *payload);
/* Ends adding; the first sorter_next follows. */
int sorter_sort(struct sorter *sorter);
/* 1, 0 at the end, or negative errno. */
int sorter_next(struct sorter *sorter, struct sorter_entry *ret_entry);

#endif
