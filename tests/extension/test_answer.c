/* SPDX-License-Identifier: MIT
 *
 * answer: values come out of a change function with the storage class and bytes that they have.
 */
#include "extension_fixture.h"

static void check_encoding(enum text_encoding encoding, const char *values)
{
        struct store_fixture f;
        char sql[600];
        store_fixture_open(&f, encoding);
        int64_t id = changes_fixture_enable(&f, "main_t");
        changes_fixture_recognise(&f, id, 1);
        changes_fixture_commit(&f, id, 2, "i1");
        snprintf(sql, sizeof sql, "UPDATE main_t_CT SET x = %s", values);
        store_fixture_check(sql_execute(store_db(f.store), sql), sql);
        sqlite3 *db = extension_fixture_load(f.path);
        snprintf(sql, sizeof sql,
                "SELECT typeof(f.x) || hex(CAST(f.x AS BLOB)) = "
                "typeof(c.x) || hex(CAST(c.x AS BLOB)), typeof(f.x) FROM main_t_CT AS c, "
                "fn_cdc_get_all_changes_main_t(get_min_lsn(), get_max_lsn(), 'all') AS f");
        _cleanup_free_ char *got = extension_fixture_read(db, sql);
        cr_expect_eq(strncmp(got, "1|", 2), 0, "%d %s: %s", encoding, values, got);
        sqlite3_close_v2(db);
        store_fixture_close(&f);
}

Test(answer, keeps_storage_classes_and_bytes)
{
        static const char *const values[] = {"NULL", "-9223372036854775807 - 1", "1.0", "-0.0",
                "1e999", "''", "'a''b'", "x''", "x'00ff'", "CAST(x'ff00fe' AS TEXT)",
                "'\xef\xbb\xbf\xc3\xa9'", "CAST(x'610062' AS TEXT)", "CAST(x'fffe6100' AS TEXT)"};
        for (unsigned i = 0; i < COUNT(values); i++) {
                check_encoding(TEXT_UTF8, values[i]);
                check_encoding(TEXT_UTF16LE, values[i]);
                check_encoding(TEXT_UTF16BE, values[i]);
        }
}

/* Errors carry the number of SQL Server's message in front, where it has one. */
Test(answer, puts_the_number_before_the_words)
{
        struct extension_fixture x;
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.store);
        _cleanup_free_ char *numbered = extension_fixture_read(
                db, "SELECT * FROM fn_cdc_get_all_changes_main_t(NULL, NULL, 'all')");
        _cleanup_free_ char *plain = extension_fixture_read(db, "SELECT increment_lsn('')");
        cr_expect_eq(strncmp(numbered, "313: ", 5), 0, "%s", numbered);
        cr_expect_eq(strncmp(plain, "the value is no LSN", 19), 0, "%s", plain);
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}
