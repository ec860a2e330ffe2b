/* SPDX-License-Identifier: MIT
 *
 * ddl: what happened to one captured table between two schemas (design §3, DDL).
 *
 * Tables are identified by their row in sqlite_schema: the same row is the same table, whatever it
 * is called now, and its columns are bound by position. Another row under the same name is a table
 * that was rebuilt, or dropped and created again, which cannot be told apart: its columns are
 * bound by name. The statement itself is not in the log; it is derived from the two texts, in
 * canonical form. Knows no pages.
 */
#ifndef CDC_DDL_H
#define CDC_DDL_H

#include "source/schema.h"

enum ddl_verdict {
        DDL_SAME,    /* nothing that concerns this table */
        DDL_CHANGED, /* statements; capture goes on with `table` */
        DDL_DROPPED, /* statements; the table is gone */
        DDL_STOPPED, /* capture cannot go on: `reason` */
};

struct ddl_change {
        enum ddl_verdict verdict;
        const struct schema_table *table; /* in the new schema; NULL if it is gone */
        int *map; /* owned; old column → position in the new table, -1 = gone; NULL = as before */
        bool is_rebuilt;   /* another table took its place: rowids are others */
        bool is_moved;     /* the same one, with its root on another page */
        char **statements; /* owned */
        unsigned count;
        char *reason; /* owned */
};

/* Compares. is_written: pages of the table were written in between. 0 or -ENOMEM. */
int ddl_compare(const struct schema *old, const struct schema_table *table,
        const struct schema *new, bool is_written, struct ddl_change *ret_change);
void ddl_change_release(struct ddl_change *change);

#endif
