/* SPDX-License-Identifier: MIT
 *
 * result: a forward-only table of values, which renderers turn into bytes.
 *
 * A result is what a change function, a metadata table or a report gives: named columns, then
 * rows of values. The kind of a column says what cannot be seen in its values: that ten bytes
 * are an LSN and not a BLOB, and that a text is metadata and not a user's TEXT.
 *
 *      _cleanup_(result_close) struct result result = {0};
 *      int r = result_open(&result, db, "SELECT … FROM change_tables");
 *      while (r >= 0 && (r = result_next(&result, &values)) > 0)
 *              … values[0] to values[result.shape.count - 1] …
 */
#ifndef CDC_RESULT_H
#define CDC_RESULT_H

#include <sqlite3.h>
#include <stdbool.h>

#include "bytes/value.h"
#include "ground/text.h"

enum result_kind {
        RESULT_VALUE, /* a user's value: shown by its storage class */
        RESULT_LSN,   /* BLOB(10): shown as text 8:8:4 (LSNs, change numbers) */
        RESULT_BARE,  /* TEXT of metadata (times, LSNs that are text already): bare in CSV */
        RESULT_JSON,  /* TEXT that is JSON: as it stands in JSONL, a text in CSV */
};

struct result_column {
        char *name; /* UTF-8, as the database has it */
        enum result_kind kind;
        bool is_key; /* of a captured column: part of the row's identity (events) */
};

struct result_shape {
        unsigned count;
        struct result_column *columns;
        enum text_encoding encoding; /* of the TEXT values */
        char *database, *table;      /* what the rows are of (events); owned, NULL elsewhere */
};

/* A SELECT as a result. */
struct result {
        struct result_shape shape;
        sqlite3_stmt *stmt;
        struct value *values; /* of the row in hand */
        bool is_ended;
};

/* Appends a column; the name is copied. 0 or -ENOMEM. */
int result_add_column(struct result_shape *shape, const char *name, enum result_kind kind);
void result_release_shape(struct result_shape *shape);
/* The encoding of a database's TEXT. 0 or negative errno. */
int result_read_encoding(sqlite3 *db, enum text_encoding *ret_encoding);

/* Prepares a SELECT. Where result->shape has columns already they stay; else they are named as
 * the SELECT names them, with the kinds that metadata has: `…_lsn` and `sequence_value` are LSNs,
 * `…_time` and `…_date` bare. Parameters are the caller's to bind. 0 or negative errno; close it
 * in either case. */
int result_open(struct result *result, sqlite3 *db, const char *sql);
/* 1 with a row, 0 at the end (and ever after). Values and bytes are borrowed until the next
 * call. */
int result_next(struct result *result, const struct value **ret_values);
void result_close(struct result *result);

#endif
