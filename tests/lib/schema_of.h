/* SPDX-License-Identifier: MIT
 *
 * schema_of: the schema that some statements make, for tests of rooms that know no pages.
 */
#ifndef CDC_TESTS_SCHEMA_OF_H
#define CDC_TESTS_SCHEMA_OF_H

#include <criterion/criterion.h>
#include <sqlite3.h>

#include "ground/cleanup.h"
#include "source/schema.h"

static inline struct schema *schema_of_db(sqlite3 *db)
{
        struct schema_rows rows = {0};
        struct schema *schema = NULL;
        cr_assert_eq(schema_rows_read(db, &rows), 0);
        cr_assert_eq(schema_build(&rows, TEXT_UTF8, &schema), 0);
        schema_rows_release(&rows);
        return schema;
}

static inline void schema_run(sqlite3 *db, const char *sql)
{
        char *message = NULL;
        int r = sqlite3_exec(db, sql, NULL, NULL, &message);
        cr_assert_eq(r, SQLITE_OK, "%s: %s", sql, message);
}

/* The caller unrefs it. */
static inline struct schema *schema_of(const char *sql)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        schema_run(db, sql);
        return schema_of_db(db);
}

#endif
