/* SPDX-License-Identifier: MIT
 *
 * schema_private: what the files of the schema room share. Only they include it.
 */
#ifndef CDC_SCHEMA_PRIVATE_H
#define CDC_SCHEMA_PRIVATE_H

#include "ground/cleanup.h"
#include "source/schema.h"

/* ---- schema_rows.c ---- */

/* A copy of a column's text that the caller owns; NULL for NULL and without memory. */
char *schema_text(sqlite3_stmt *stmt, int column);
/* Grows the array at *array_pointer by one zeroed element. NULL without memory. */
void *schema_add(void *array_pointer, size_t *count, size_t size);
/* A damaged sqlite_schema may lack anything. */
bool schema_is_complete(const struct schema_row *row);
/* NULL if there is none. */
const struct schema_row *schema_find_row(
        const struct schema_rows *rows, const char *type, const char *name);

/* ---- schema_kind.c ---- */

enum schema_kind schema_kind_of(const struct schema_rows *rows, const struct schema_row *row);

/* ---- schema_scratch.c ---- */

/* `roots`: how many indexes it may hold at once. The caller closes it. */
int schema_scratch_open(enum text_encoding encoding, size_t roots, sqlite3 **ret_scratch);
/* Puts the table and its indexes into the scratch database. If SQLite cannot parse all of them,
 * the table must do alone, and each index shows whether it does. */
int schema_scratch_load(
        sqlite3 *db, const struct schema_rows *rows, const struct schema_row *table);
/* Gives the table, which is WITHOUT ROWID, the tree with a row that suits it. */
int schema_scratch_use_key(sqlite3 *db);
void schema_scratch_empty(sqlite3 *db);

/* ---- schema_table.c ---- */

/* Both read what the scratch database says of the table that it holds. */
int schema_read_table(sqlite3 *db, struct schema_table *table);
int schema_read_indexes(sqlite3 *db, const struct schema_rows *rows,
        const struct schema_table *table, struct schema *schema);

#endif
