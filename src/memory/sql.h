/* SPDX-License-Identifier: MIT
 *
 * sql: the few steps that every statement on the store needs: bind, step, read a column.
 *
 * LSNs are BLOB(10), times TEXT `YYYY-MM-DDTHH:MM:SS.ffffffZ`, captured TEXT is in the store's
 * encoding. It knows no table and owns no statement.
 */
#ifndef CDC_SQL_H
#define CDC_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "bytes/value.h"
#include "ground/lsn.h"
#include "ground/text.h"

/* Binding fails for lack of memory only; all return 0 or a negative errno. */
int sql_bind_lsn(sqlite3_stmt *stmt, int parameter, struct lsn lsn);
int sql_bind_time(sqlite3_stmt *stmt, int parameter, int64_t wall_ns);
/* NULL binds NULL. The text must live until the statement is reset. */
int sql_bind_text(sqlite3_stmt *stmt, int parameter, const char *text);
/* A name of bytes: TEXT, or a BLOB where it is not UTF-8. The bytes must live as above. */
int sql_bind_path(sqlite3_stmt *stmt, int parameter, const char *path);
/* Storage class and bytes stay: UTF-16 text that begins with a byte order mark is kept whole,
 * which SQLite's own binding would strip. The one exception is TEXT of an odd number of bytes in
 * UTF-16, which SQLite cannot bind as TEXT: it becomes a BLOB of the same bytes. The bytes must
 * live until the statement is reset. */
int sql_bind_value(
        sqlite3_stmt *stmt, int parameter, const struct value *value, enum text_encoding);

/* Steps a statement that gives no rows, then resets it and clears its bindings.
 * 0 or a negative errno (problem_errno). */
int sql_run(sqlite3_stmt *stmt);
/* Steps to the next row. 1 at a row; 0 at the end, when the statement was reset too; negative
 * errno, reset as well. */
int sql_next(sqlite3_stmt *stmt);
/* Gives a cached statement back early: resets it and clears its bindings. For
 * `_cleanup_(sql_donep)` too. NULL is allowed. */
void sql_done(sqlite3_stmt *stmt);
void sql_donep(sqlite3_stmt **stmt);
/* Runs a text of one or more statements without parameters. 0 or a negative errno. */
int sql_execute(sqlite3 *db, const char *sql);

/* False if the column is NULL or no BLOB of 10 bytes; *ret_lsn is zero then. */
bool sql_column_lsn(sqlite3_stmt *stmt, int column, struct lsn *ret_lsn);
/* 0 where the column is NULL or no time. */
int64_t sql_column_time(sqlite3_stmt *stmt, int column);
/* A copy in UTF-8, NULL for SQL NULL; the caller frees it. 0 or -ENOMEM. */
int sql_column_string(sqlite3_stmt *stmt, int column, char **ret_text);
/* Borrows the column's value until the next step or reset; TEXT in the database's encoding, no
 * byte changed. The column must not have been read as text before. */
void sql_column_value(sqlite3_stmt *stmt, int column, struct value *ret_value);

#endif
