/* SPDX-License-Identifier: MIT
 *
 * catalog: the tables of the test database as a connection sees them now: columns, keys, who
 * refers to whom. Asked from SQLite (table_xinfo and its kind); no SQL is parsed.
 */
#ifndef DIFFERENTIAL_CATALOG_H
#define DIFFERENTIAL_CATALOG_H

#include <sqlite3.h>
#include <stdbool.h>
#include "values.h"

#define MARKER_TABLE "transaction_marker"

/* How the changes of a table are recorded. */
enum truth_kind {
        TRUTH_SESSION, /* by the session extension: it has a declared key that it understands */
        TRUTH_DUMP,    /* by its whole content */
};

struct column {
        char *name;
        char *declared_type;
        enum value_bias bias;
        bool is_not_null;
        bool has_default;
        bool is_generated;
        bool is_virtual;    /* generated, and not stored */
        unsigned key;       /* 1 … in the PRIMARY KEY, 0 = no part of it */
        char *parent_table; /* what a single-column foreign key refers to, or NULL */
        char *parent_column;
};

struct table {
        char *name;
        unsigned number; /* naming.h; the marker table is 0 */
        struct column *columns;
        unsigned column_count;
        unsigned key_count;
        int rowid_column; /* the INTEGER PRIMARY KEY, or -1 */
        bool is_strict;
        bool is_without_rowid;
        bool is_referenced; /* by a foreign key or a trigger: it cannot be dropped */
        bool has_triggers;
        enum truth_kind truth;
};

struct catalog {
        struct table *tables; /* the marker table first */
        unsigned table_count;
        int version; /* PRAGMA schema_version that was read */
};

void catalog_release(struct catalog *catalog);
/* Reads it again if the schema changed. 0 or negative errno. */
int catalog_refresh(sqlite3 *db, struct catalog *catalog);
const struct table *catalog_find(const struct catalog *catalog, const char *name);
const struct column *catalog_column(const struct table *table, const char *name);
/* Runs a query for one integer, 0 if it has no row. */
int64_t query_integer(sqlite3 *db, const char *sql);
/* Columns of the primary key in key order; room for key_count. */
void table_key(const struct table *table, unsigned *ret_columns);

static inline void cleanup_statementp(sqlite3_stmt **statement)
{
        sqlite3_finalize(*statement);
}

static inline void cleanup_sqlp(char **sql)
{
        sqlite3_free(*sql);
}

static inline void cleanup_databasep(sqlite3 **db)
{
        sqlite3_close_v2(*db);
}

#define _cleanup_statement_ _cleanup_(cleanup_statementp)
#define _cleanup_sql_ _cleanup_(cleanup_sqlp)
#define _cleanup_database_ _cleanup_(cleanup_databasep)

#endif
