/* SPDX-License-Identifier: MIT
 *
 * schema: what the rows of sqlite_schema mean, as of one commit.
 *
 * SQLite itself parses the CREATE texts: they are put into an in-memory database through
 * writable_schema, so that unknown functions, collations and modules do no harm, and asked
 * with table_xinfo, index_xinfo and foreign_key_list. No SQL parser of our own.
 *
 * A schema is immutable and reference-counted; one thread. It does not know where its rows came
 * from: decoded pages (the log reader) or SQL (the command line).
 */
#ifndef CDC_SCHEMA_H
#define CDC_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "bytes/value.h"
#include "ground/problem.h"
#include "ground/text.h"

/* One row of sqlite_schema, strings in UTF-8 and owned. sql is NULL for automatic indexes. */
struct schema_row {
        int64_t rowid;
        char *type;
        char *name;
        char *table_name;
        uint32_t root;
        char *sql;
};

/* The rows in rowid order; the list owns them. */
struct schema_rows {
        struct schema_row *rows;
        size_t count;
};

struct schema_column {
        char *name;
        char *declared_type; /* "" if none */
        char affinity;       /* 'A' blob, 'B' text, 'C' numeric, 'D' integer, 'E' real */
        bool is_not_null;
        bool is_virtual;   /* generated and not stored: no value in the log */
        bool is_generated; /* virtual or stored */
        int storage;       /* position in the record, -1 for a virtual column */
        bool has_default;
        /* What rows show that are older than the column (NULL where there can be none); its bytes
         * are owned by the schema. */
        struct value default_value;
};

enum schema_kind { SCHEMA_TABLE, SCHEMA_VIEW, SCHEMA_VIRTUAL, SCHEMA_SHADOW, SCHEMA_INTERNAL };

struct schema_table {
        int64_t rowid; /* in sqlite_schema: the table's identity while it lives */
        uint32_t root;
        char *name;
        char *sql;
        enum schema_kind kind; /* INTERNAL: sqlite_sequence, sqlite_stat1 … */
        bool is_without_rowid;
        bool is_strict;
        bool is_parsed;   /* false: SQLite could not parse the text; no columns then */
        int rowid_column; /* the INTEGER PRIMARY KEY that stands for the rowid, or -1 */
        struct schema_column *columns;
        unsigned column_count;
        unsigned *key; /* columns of the declared PRIMARY KEY, in key order */
        unsigned key_count;
        char **parents; /* tables that its foreign keys refer to */
        unsigned parent_count;
};

struct schema_index {
        char *name;
        char *table_name;
        char *sql; /* NULL for an automatic index */
        int64_t rowid;
        bool is_unique;
        bool is_partial;
        bool has_expression;
        unsigned *columns; /* key columns of the table, in index order */
        unsigned column_count;
};

struct schema {
        unsigned references;
        struct schema_table *tables; /* in sqlite_schema order, views and virtual ones included */
        size_t table_count;
        struct schema_index *indexes;
        size_t index_count;
};

void schema_rows_release(struct schema_rows *rows);
/* Reads sqlite_schema (main) through a connection. 0 or negative errno. */
int schema_rows_read(sqlite3 *db, struct schema_rows *ret_rows);
/* Parses the rows. Texts that SQLite cannot parse give a table with is_parsed false.
 * 0, -ENOMEM or -EIO. The caller owns one reference. */
int schema_build(
        const struct schema_rows *rows, enum text_encoding encoding, struct schema **ret_schema);
struct schema *schema_ref(struct schema *schema);
void schema_unref(struct schema *schema); /* NULL is allowed */

/* By name as SQLite compares it (ASCII case aside), or NULL. The schema owns the result. */
const struct schema_table *schema_find_table(const struct schema *schema, const char *name);
const struct schema_table *schema_find_rowid(const struct schema *schema, int64_t rowid);
const struct schema_index *schema_find_index(const struct schema *schema, const char *name);
/* Position of a column by name (ASCII case aside), or -1. */
int schema_find_column(const struct schema_table *table, const char *name);

#endif
