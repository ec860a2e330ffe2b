/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "ground/cleanup.h"
#include "memory/sql.h"

#define BYTES(type_, text)                                                                         \
        {                                                                                          \
                .type = type_, .size = sizeof(text) - 1, .bytes = (const uint8_t *)text            \
        }

static sqlite3 *open_db(enum text_encoding encoding)
{
        static const char *const pragmas[] = {
                [TEXT_UTF8] = "PRAGMA encoding = 'UTF-8'",
                [TEXT_UTF16LE] = "PRAGMA encoding = 'UTF-16le'",
                [TEXT_UTF16BE] = "PRAGMA encoding = 'UTF-16be'",
        };
        sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        cr_assert_eq(sql_execute(db, pragmas[encoding]), 0);
        cr_assert_eq(sql_execute(db, "CREATE TABLE t(v)"), 0);
        return db;
}

/* Writes the value, reads it again from the table. */
static void expect_round_trip(sqlite3 *db, const struct value *value, enum text_encoding encoding,
        const struct value *expected, size_t number)
{
        _cleanup_stmt_ sqlite3_stmt *insert = NULL, *select = NULL;
        struct value got;
        cr_assert_eq(sql_execute(db, "DELETE FROM t"), 0);
        cr_assert_eq(sqlite3_prepare_v2(db, "INSERT INTO t VALUES(?)", -1, &insert, NULL), 0);
        cr_assert_eq(sql_bind_value(insert, 1, value, encoding), 0);
        cr_assert_eq(sql_run(insert), 0);
        cr_assert_eq(sqlite3_prepare_v2(db, "SELECT v FROM t", -1, &select, NULL), 0);
        cr_assert_eq(sql_next(select), 1);
        sql_column_value(select, 0, &got);
        cr_expect(value_equal(&got, expected), "encoding %d, value %zu: type %d, size %u", encoding,
                number, got.type, got.size);
        cr_expect_eq(sql_next(select), 0);
}

Test(sql, values_keep_their_storage_class_and_every_byte)
{
        static const struct value values[] = {
                {.type = VALUE_NULL}, {.type = VALUE_INTEGER, .integer = INT64_MIN},
                {.type = VALUE_INTEGER, .integer = INT64_MAX}, {.type = VALUE_REAL, .real = -0.0},
                {.type = VALUE_REAL, .real = 9.0}, {.type = VALUE_REAL, .real = INFINITY},
                {.type = VALUE_REAL, .real = 5e-324}, BYTES(VALUE_BLOB, ""),
                BYTES(VALUE_BLOB, "\0\1\xff"), BYTES(VALUE_TEXT, ""), BYTES(VALUE_TEXT, "ab\0cd\0"),
                BYTES(VALUE_TEXT, "\xff\xfe\x80\x00"), BYTES(VALUE_TEXT, "\xff\xfe"),
                BYTES(VALUE_TEXT, "\xfe\xff"), BYTES(VALUE_TEXT, "\xfe\xff\xff\xfe"),
                BYTES(VALUE_TEXT, "\xff\xfe\xff\xfe\x61\x00"), BYTES(VALUE_TEXT, "\xef\xbb\xbfx"),
                BYTES(VALUE_TEXT, "\x00\xd8"), /* a lone surrogate in UTF-16LE */
                BYTES(VALUE_TEXT, "12"),       /* must not become a number */
        };
        for (enum text_encoding e = TEXT_UTF8; e <= TEXT_UTF16BE; e++) {
                _cleanup_sqlite_ sqlite3 *db = open_db(e);
                for (size_t i = 0; i < COUNT(values); i++)
                        expect_round_trip(db, &values[i], e, &values[i], i);
        }
}

Test(sql, odd_bytes_of_utf16_become_a_blob_and_keep_their_bytes)
{
        static const struct value text = BYTES(VALUE_TEXT, "abc");
        static const struct value blob = BYTES(VALUE_BLOB, "abc");
        for (enum text_encoding e = TEXT_UTF8; e <= TEXT_UTF16BE; e++) {
                _cleanup_sqlite_ sqlite3 *db = open_db(e);
                expect_round_trip(db, &text, e, e == TEXT_UTF8 ? &text : &blob, 0);
        }
}

Test(sql, lsns_and_times_come_back_and_other_things_are_none)
{
        _cleanup_sqlite_ sqlite3 *db = open_db(TEXT_UTF8);
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        struct lsn lsn;
        const int64_t time_ns = INT64_C(1796032800123456000);
        cr_assert_eq(sqlite3_prepare_v2(db, "SELECT ?1, ?2, NULL, x'00', 'abcdefghij', 'no time'",
                             -1, &stmt, NULL),
                0);
        cr_assert_eq(sql_bind_lsn(stmt, 1, lsn_make(1, 2, 3)), 0);
        cr_assert_eq(sql_bind_time(stmt, 2, time_ns), 0);
        cr_assert_eq(sql_next(stmt), 1);
        cr_expect(sql_column_lsn(stmt, 0, &lsn));
        cr_expect_eq(lsn_compare(lsn, lsn_make(1, 2, 3)), 0);
        cr_expect_eq(sql_column_time(stmt, 1), time_ns);
        for (int column = 2; column <= 4; column++) {
                cr_expect_not(sql_column_lsn(stmt, column, &lsn), "%d", column);
                cr_expect(lsn_is_zero(lsn), "%d", column);
        }
        cr_expect_eq(sql_column_time(stmt, 2), 0);
        cr_expect_eq(sql_column_time(stmt, 5), 0);
}

Test(sql, strings_and_paths_come_back_in_every_encoding)
{
        static const char *const texts[] = {"", "plain", "Grüße", "\xff\xfe not UTF-8 \x80"};
        for (enum text_encoding e = TEXT_UTF8; e <= TEXT_UTF16BE; e++) {
                _cleanup_sqlite_ sqlite3 *db = open_db(e);
                for (size_t i = 0; i < COUNT(texts); i++) {
                        _cleanup_stmt_ sqlite3_stmt *insert = NULL, *select = NULL;
                        _cleanup_free_ char *got = NULL;
                        cr_assert_eq(sql_execute(db, "DELETE FROM t"), 0);
                        sqlite3_prepare_v2(db, "INSERT INTO t VALUES(?)", -1, &insert, NULL);
                        cr_assert_eq(sql_bind_path(insert, 1, texts[i]), 0);
                        cr_assert_eq(sql_run(insert), 0);
                        sqlite3_prepare_v2(db, "SELECT v FROM t", -1, &select, NULL);
                        cr_assert_eq(sql_next(select), 1);
                        cr_assert_eq(sql_column_string(select, 0, &got), 0);
                        cr_expect_str_eq(got, texts[i]);
                }
        }
}

Test(sql, an_end_and_a_failure_leave_the_statement_ready_for_the_next_use)
{
        _cleanup_sqlite_ sqlite3 *db = open_db(TEXT_UTF8);
        _cleanup_stmt_ sqlite3_stmt *insert = NULL;
        cr_assert_eq(sql_execute(db, "CREATE TABLE u(v INTEGER PRIMARY KEY)"), 0);
        sqlite3_prepare_v2(db, "INSERT INTO u VALUES(?)", -1, &insert, NULL);
        for (int i = 0; i < 3; i++) {
                sqlite3_bind_int(insert, 1, 5);
                cr_expect_eq(sql_run(insert), i == 0 ? 0 : -EIO, "%d", i);
        }
        cr_expect_eq(sql_run(insert), 0, "the binding is gone, so a new key is chosen");
        cr_expect_eq(sql_execute(db, "nonsense"), -EIO);
}
