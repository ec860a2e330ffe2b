/* SPDX-License-Identifier: MIT
 *
 * enable: making and dropping a capture instance, with every rule and message number of
 * sys.sp_cdc_enable_table and sys.sp_cdc_disable_table (sqlserver-cdc §1.2, §1.3; design §2).
 *
 * Works on the store alone, inside the caller's transaction; the source's schema comes as a
 * struct. A new instance is pending until capture recognises it. Whether the caller may do it,
 * and which table a name means (22931), the caller has found out.
 */
#ifndef CDC_ENABLE_H
#define CDC_ENABLE_H

#include <stdint.h>
#include "ground/problem.h"
#include "memory/instances.h"
#include "memory/store.h"
#include "source/schema.h"

enum {
        ENABLE_NAME_LENGTH = 100,   /* characters */
        ENABLE_COLUMN_COUNT = 1990, /* SQLite's 2000 less the metadata columns, and some room */
        ENABLE_NET_KEY_COUNT = 14,
        ENABLE_PER_TABLE = 2,
};

struct instances_request {
        const struct schema *schema;
        const struct schema_table *table; /* of that schema */
        const char *name;    /* NULL: `main_<table>`, shortened if it is over 100 characters */
        const char *columns; /* NULL: all. Comma separated; items may be "quoted" or [quoted] */
        const char *index;   /* NULL: the declared PRIMARY KEY, if any */
        const char *role;    /* NULL: no role */
        int supports_net;    /* 0, 1, or -1: 1 if there is a key, else 0 */
        int64_t now_ns;
};

/* Makes the instance: its rows in change_tables, captured_columns, index_columns,
 * cdcfs_source_tables, cdcfs_source_columns and cdcfs_instances, its change table, and with the
 * first one both jobs with their defaults. Captured columns stand in the order of the table,
 * whatever the list's order.
 *
 * Refused with -EINVAL, or -EEXIST where a name is taken, and these numbers:
 *   22962 the table has two instances       22926 the name is used (ASCII case aside)
 *   22927 name over 100 characters          22932 not a valid name: empty, ill-formed, `sqlite_…`,
 *                                                 or a name in the mount's root
 *   22975 a column has a metadata column's name, and no list leaves it out
 *   22925 over 1990 columns                 22965 a quote in the list does not end
 *   22930 the list names no such column     22942 the list is empty, has an empty or repeated item
 *   22943 key columns missing in the list   22928 the index is not one of the table
 *   22929 the index is not unique, is partial, has an expression or a virtual column
 *   22838 a key column of the index can be NULL
 *   22939 net changes without a key         22865 net changes with a key of over 14 columns
 *   22907 the role is empty
 *   (no number) a view, a virtual, shadow or internal table, or one that SQLite cannot parse;
 *         captured columns called `_rowid_`, `rowid` and `oid`, all three
 * Else a negative errno. */
int instances_enable(struct store *store, const struct instances_request *request,
        struct problem *problem, int64_t *ret_object_id);

/* Drops its change table and everything the store has of it, its files' rows, DDL history and
 * gaps included. With the last instance the jobs go and lsn_time_mapping is emptied; the
 * database's min_lsn and max_lsn stay. The struct is only read. -ENOENT: already gone. */
int instances_disable(struct store *store, const struct instance *instance);

#endif
