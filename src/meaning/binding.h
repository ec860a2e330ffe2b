/* SPDX-License-Identifier: MIT
 *
 * binding: how the captured columns of one instance are found in a row of its source table.
 *
 * Columns are bound by name once, when capture recognises the instance, and by position from then
 * on. A binding belongs to one version of the table's schema; it knows no pages.
 */
#ifndef CDC_BINDING_H
#define CDC_BINDING_H

#include <stdbool.h>
#include "bytes/value.h"
#include "source/schema.h"

struct binding_column {
        int position;  /* in the source table, -1 = the column was dropped: NULL */
        int storage;   /* in the record, -1 = no value in the log (virtual, dropped) */
        bool is_rowid; /* the INTEGER PRIMARY KEY: its value is the rowid */
        bool is_real;  /* REAL affinity: an integer in the record is a real */
        bool has_default;
        struct value default_value; /* of rows stored before the column was added; borrowed */
};

struct binding {
        int64_t object_id;
        struct schema *schema;            /* owns a reference: default values live there */
        const struct schema_table *table; /* in that schema */
        struct binding_column *columns;   /* owned, in ordinal order */
        unsigned column_count;
        unsigned *key; /* owned: ordinals - 1 of the key's columns */
        unsigned key_count;
        bool is_rowid_identity; /* no key, or the key is the rowid */
};

/* Binds by name. `names` are the captured columns in ordinal order, `key` the ordinals (from 1) of
 * the identity, key_count 0 for none. 0, -ENOENT if a column is not in the table, -ENOMEM. */
int binding_make(int64_t object_id, struct schema *schema, const struct schema_table *table,
        char *const *names, unsigned count, const unsigned *key, unsigned key_count,
        struct binding *ret_binding);
/* The same by positions in the table, -1 for a column that is gone. */
int binding_make_at(int64_t object_id, struct schema *schema, const struct schema_table *table,
        const int *positions, unsigned count, const unsigned *key, unsigned key_count,
        struct binding *ret_binding);
/* Binds to another version of the table. `map` says where each column of the old version is in the
 * new one, -1 = gone; NULL = where it was. *ret_before (if not NULL) takes over the old version
 * with the columns that are gone as NULL: rows before and after are comparable then. */
int binding_renew(struct binding *binding, struct schema *schema, const struct schema_table *table,
        const int *map, struct binding *ret_before);
void binding_release(struct binding *binding);
/* The captured values of a row, borrowing from `record` and the binding. `record` holds the first
 * `count` values of the stored record. */
void binding_project(const struct binding *binding, int64_t rowid, const struct value *record,
        size_t count, struct value *ret_values);
/* Is the row identified by its key? Not if a captured value of the key is NULL, or there is none.
 */
bool binding_is_keyed(const struct binding *binding, const struct value *values);
/* Appends the identity of a row, made of its captured values: two rows are the same row if theirs
 * are equal, and memcmp gives the order of the key. A key that holds a NULL, or none, is the
 * rowid. */
void binding_append_identity(const struct binding *binding, int64_t rowid,
        const struct value *values, struct buf *identity);

#endif
