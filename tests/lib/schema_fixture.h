/* SPDX-License-Identifier: MIT
 *
 * schema_fixture: tables made by SQLite in a file, and the schema that is read of them.
 */
#ifndef CDC_TEST_SCHEMA_FIXTURE_H
#define CDC_TEST_SCHEMA_FIXTURE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "sample.h"
#include "source/schema.h"

#define _cleanup_schema_ _cleanup_(schema_fixture_unref)

static inline void schema_fixture_unref(struct schema **schema)
{
        schema_unref(*schema);
}

static inline struct schema *schema_fixture_read_as(sqlite3 *db, enum text_encoding encoding)
{
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        struct schema *schema = NULL;
        cr_assert_eq(schema_rows_read(db, &rows), 0);
        cr_assert_eq(schema_build(&rows, encoding, &schema), 0);
        return schema;
}

static inline struct schema *schema_fixture_read(const struct sample *sample)
{
        return schema_fixture_read_as(sample->db, TEXT_UTF8);
}

static inline void schema_fixture_create(struct sample *sample, const char *encoding)
{
        sample_create(sample, 4096, 0, encoding);
        sample_run(sample, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
}

static inline void schema_fixture_open(struct sample *sample, const char *sql)
{
        schema_fixture_create(sample, "UTF-8");
        sample_run(sample, sql);
}

static inline const struct schema_table *schema_fixture_find(
        const struct schema *schema, const char *name)
{
        const struct schema_table *table = schema_find_table(schema, name);
        cr_assert(table, "no table %s", name);
        return table;
}

/* The first column of the first row as text; the caller frees it. */
static inline char *schema_fixture_ask(const struct sample *sample, const char *sql)
{
        sqlite3_stmt *stmt = sample_prepare(sample, sql);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW, "%s", sql);
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        char *copy = strdup(text ? text : "NULL");
        sqlite3_finalize(stmt);
        return copy;
}

#endif
