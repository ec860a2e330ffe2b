/* SPDX-License-Identifier: MIT
 *
 * rows: values as the public header shows them, and bytes as the mount has them.
 */
#include "desk/rows.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>

#include "store_fixture.h"

static struct cdc_rows *open_rows(const char *encoding, const char *sql)
{
        char pragma[80];
        sqlite3 *db = NULL;
        struct result result = {0};
        struct cdc_rows *rows = NULL;
        snprintf(pragma, sizeof pragma, "PRAGMA encoding='%s'; CREATE TABLE t(x)", encoding);
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(db, pragma, NULL, NULL, NULL), SQLITE_OK);
        cr_assert_eq(result_open(&result, db, sql), 0, "%s", sqlite3_errmsg(db));
        cr_assert_eq(rows_of_database(db, &result, &rows), 0);
        return rows;
}

Test(rows, shows_each_storage_class)
{
        static const struct {
                const char *name;
                enum cdc_type type;
                const char *bytes;
                size_t size;
        } wanted[] = {
                {"n", CDC_NULL, "", 0},
                {"i", CDC_INTEGER, "", 0},
                {"r", CDC_REAL, "", 0},
                {"t", CDC_TEXT, "h\xc3\xa9", 3},
                {"b", CDC_BLOB, "\0\xff", 2},
                {"start_lsn", CDC_TEXT, "00000001:00000002:0001", 22},
                {"empty_lsn", CDC_NULL, "", 0},
        };
        static const char *const encodings[] = {"UTF-8", "UTF-16le", "UTF-16be"};
        for (unsigned e = 0; e < COUNT(encodings); e++) {
                struct cdc_rows *rows = open_rows(encodings[e],
                        "SELECT NULL AS n, -5 AS i, 1.5 AS r, 'hé' AS t, x'00ff' AS b,"
                        " x'00000001000000020001' AS start_lsn, NULL AS empty_lsn");
                cr_assert_eq(cdc_rows_columns(rows), COUNT(wanted));
                cr_assert_eq(cdc_rows_next(rows), 1);
                for (unsigned i = 0; i < COUNT(wanted); i++) {
                        struct cdc_value value;
                        cdc_rows_value(rows, i, &value);
                        cr_expect_str_eq(cdc_rows_name(rows, i), wanted[i].name);
                        cr_expect_eq(value.type, wanted[i].type, "%s", wanted[i].name);
                        cr_assert_eq(value.size, wanted[i].size, "%s", wanted[i].name);
                        if (value.size > 0)
                                cr_expect_arr_eq(value.bytes, wanted[i].bytes, value.size,
                                        "%s in %s", wanted[i].name, encodings[e]);
                        cr_expect_eq(value.integer, i == 1 ? -5 : 0);
                        cr_expect_eq(value.real, i == 2 ? 1.5 : 0);
                }
                cr_expect_eq(cdc_rows_next(rows), 0);
                cdc_rows_close(rows);
        }
}

Test(rows, shows_ill_formed_utf16_as_hex)
{
        struct cdc_rows *rows = open_rows("UTF-16le", "SELECT CAST(x'00d8' AS TEXT) AS t");
        struct cdc_value value;
        cr_assert_eq(cdc_rows_next(rows), 1);
        cdc_rows_value(rows, 0, &value);
        cr_expect_eq(value.type, CDC_TEXT);
        cr_expect_eq(value.size, 6);
        cr_expect_arr_eq(value.bytes, "\\X00d8", 6);
        cdc_rows_close(rows);
}

/* More than one buffer full. */
Test(rows, writes_what_renderers_make)
{
        static const char select[] =
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                "WHERE i < 20000) SELECT i, 'row ' || i AS t FROM n";
        static const struct {
                const char *format;
                const char *start, *end;
        } formats[] = {
                {"csv", "i,t\n1,\"row 1\"\n", "\n20000,\"row 20000\"\n"},
                {"jsonl", "{\"i\":1,\"t\":\"row 1\"}\n", "\n{\"i\":20000,\"t\":\"row 20000\"}\n"},
        };
        for (unsigned i = 0; i < COUNT(formats); i++) {
                struct tmp tmp;
                size_t size = 0;
                tmp_open(&tmp);
                struct cdc_rows *rows = open_rows("UTF-8", select);
                int fd = open(tmp_path(&tmp, "out"), O_WRONLY | O_CREAT, 0600);
                cr_assert_eq(cdc_rows_write(rows, formats[i].format, fd), 0);
                close(fd);
                cdc_rows_close(rows);
                _cleanup_free_ char *text = tmp_read(tmp_path(&tmp, "out"), &size);
                cr_expect_eq(strncmp(text, formats[i].start, strlen(formats[i].start)), 0);
                cr_expect_str_eq(text + size - strlen(formats[i].end), formats[i].end);
                tmp_close(&tmp);
        }
}

Test(rows, tells_when_nothing_can_be_written)
{
        struct cdc_rows *rows = open_rows("UTF-8", "SELECT 1 AS x");
        int fd = open("/dev/full", O_WRONLY);
        cr_expect_eq(cdc_rows_write(rows, "xml", fd), -EINVAL);
        cr_expect_eq(cdc_rows_write(rows, "csv", fd), -ENOSPC);
        close(fd);
        cdc_rows_close(rows);
        cdc_rows_close(NULL);
}
