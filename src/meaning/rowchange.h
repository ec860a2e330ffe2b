/* SPDX-License-Identifier: MIT
 *
 * rowchange: turns rows that a tree difference tells of into changes of an instance.
 *
 * Rows are paired by the identity of the instance: where that is the rowid, the tree difference
 * has paired them already; where it is a declared key, deletes and inserts of one key become an
 * update, and a changed key becomes a delete and an insert, never an update (design §3). Where
 * rowids mean nothing (the table was rebuilt, VACUUM) rows without a key, or with a NULL in it,
 * pair by their content.
 */
#ifndef CDC_ROWCHANGE_H
#define CDC_ROWCHANGE_H

#include "meaning/binding.h"
#include "meaning/changeset.h"
#include "meaning/sorter.h"

struct rowchange {
        const struct binding *bindings[2]; /* borrowed: the instance in work, before and after */
        bool is_by_content;
        bool is_sorted;        /* rows wait in the sorter */
        struct changeset *set; /* borrowed */
        struct sorter sorter;
        struct value *values[2]; /* owned: captured values, old and new */
        unsigned capacity;
        struct buf keys[2];
        struct buf payload;
        struct buf
                held; /* old rows of one key that wait for their new ones, each behind its size */
        size_t held_next;
        struct buf held_key;
};

/* A row as the tree difference saw it, decoded. */
struct rowchange_row {
        const struct value *values; /* of the record */
        size_t count;
};

/* A zeroed struct is ready for the first instance. */
void rowchange_release(struct rowchange *rows);
/* Changes go to the set, as those of this instance. `before` reads old rows, `after` new ones; the
 * same one if the table's columns are what they were. 0 or negative errno. */
int rowchange_begin(struct rowchange *rows, const struct binding *before,
        const struct binding *after, bool is_by_content, struct changeset *set);
/* One row: old NULL = it came, new NULL = it went. */
int rowchange_add(struct rowchange *rows, int64_t rowid, const struct rowchange_row *old,
        const struct rowchange_row *new);
/* All rows of the instance were told. */
int rowchange_end(struct rowchange *rows);

#endif
