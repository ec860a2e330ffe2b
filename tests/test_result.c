/* SPDX-License-Identifier: MIT
 *
 * result: names, kinds and values of a SELECT, in the database's encoding and with its bytes.
 */
#include "faces/result.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ground/cleanup.h"

static sqlite3 *open_database(const char *sql)
{
        sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
        return db;
}

Test(result, names_metadata_columns_by_their_kind)
{
        static const struct {
                const char *name;
                enum result_kind kind;
        } cases[] = {
                {"start_lsn", RESULT_LSN},
                {"last_commit_cdc_lsn", RESULT_LSN},
                {"sequence_value", RESULT_LSN},
                {"tran_end_time", RESULT_BARE},
                {"create_date", RESULT_BARE},
                {"capture_instance", RESULT_VALUE},
                {"lsn", RESULT_VALUE},
                {"_lsn", RESULT_LSN},
        };
        _cleanup_sqlite_ sqlite3 *db = open_database("SELECT 1");
        for (unsigned i = 0; i < COUNT(cases); i++) {
                _cleanup_(result_close) struct result result = {0};
                char sql[80];
                snprintf(sql, sizeof sql, "SELECT 1 AS %s", cases[i].name);
                cr_assert_eq(result_open(&result, db, sql), 0);
                cr_expect_eq(result.shape.count, 1);
                cr_expect_str_eq(result.shape.columns[0].name, cases[i].name);
                cr_expect_eq(result.shape.columns[0].kind, cases[i].kind, "%s", cases[i].name);
        }
}

Test(result, keeps_a_shape_that_was_given)
{
        _cleanup_sqlite_ sqlite3 *db = open_database("SELECT 1");
        _cleanup_(result_close) struct result result = {0};
        cr_assert_eq(result_add_column(&result.shape, "mine", RESULT_BARE), 0);
        cr_assert_eq(result_open(&result, db, "SELECT 1 AS other"), 0);
        cr_expect_eq(result.shape.count, 1);
        cr_expect_str_eq(result.shape.columns[0].name, "mine");
}

Test(result, gives_rows_once_and_ends_for_good)
{
        _cleanup_sqlite_ sqlite3 *db = open_database("SELECT 1");
        _cleanup_(result_close) struct result result = {0};
        const struct value *values;
        cr_assert_eq(result_open(&result, db, "VALUES (1, 'a'), (NULL, x'00')"), 0);
        cr_assert_eq(result_next(&result, &values), 1);
        cr_expect_eq(values[0].type, VALUE_INTEGER);
        cr_expect_eq(values[0].integer, 1);
        cr_expect_eq(values[1].type, VALUE_TEXT);
        cr_expect_eq(values[1].size, 1);
        cr_assert_eq(result_next(&result, &values), 1);
        cr_expect_eq(values[0].type, VALUE_NULL);
        cr_expect_eq(values[1].type, VALUE_BLOB);
        for (int i = 0; i < 3; i++)
                cr_expect_eq(result_next(&result, &values), 0);
}

Test(result, keeps_the_bytes_of_utf16)
{
        static const struct {
                const char *name;
                enum text_encoding encoding;
                const char *bytes;
        } cases[] = {
                {"UTF-8", TEXT_UTF8, "\xc3\xa9"},
                {"UTF-16le", TEXT_UTF16LE, "\xe9\0"},
                {"UTF-16be", TEXT_UTF16BE, "\0\xe9"},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                char sql[120];
                snprintf(sql, sizeof sql,
                        "PRAGMA encoding='%s'; CREATE TABLE t(x); INSERT INTO t VALUES('é')",
                        cases[i].name);
                _cleanup_sqlite_ sqlite3 *db = open_database(sql);
                _cleanup_(result_close) struct result result = {0};
                const struct value *values;
                cr_assert_eq(result_open(&result, db, "SELECT x FROM t"), 0);
                cr_expect_eq(result.shape.encoding, cases[i].encoding, "%s", cases[i].name);
                cr_assert_eq(result_next(&result, &values), 1);
                cr_expect_eq(values[0].size, 2, "%s", cases[i].name);
                cr_expect_arr_eq(values[0].bytes, cases[i].bytes, 2, "%s", cases[i].name);
        }
}

Test(result, fails_with_sqlites_reason)
{
        _cleanup_sqlite_ sqlite3 *db = open_database("SELECT 1");
        _cleanup_(result_close) struct result result = {0};
        cr_expect_lt(result_open(&result, db, "SELECT * FROM nothing"), 0);
}
