/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "ground/cleanup.h"
#include "meaning/schemarows.h"

/* A record of sqlite_schema with these five columns; a root of less than 128. */
static void append_record(struct buf *buf, const char *type, const char *name, const char *table,
        int root, const char *sql)
{
        const char *texts[] = {type, name, table, NULL, sql};
        buf_append_byte(buf, 6);
        for (int i = 0; i < 5; i++)
                buf_append_byte(buf, i == 3     ? 1
                                     : texts[i] ? (uint8_t)(13 + 2 * strlen(texts[i]))
                                                : 0);
        for (int i = 0; i < 5; i++) {
                if (i == 3)
                        buf_append_byte(buf, (uint8_t)root);
                else if (texts[i])
                        buf_append_string(buf, texts[i]);
        }
}

static void change(struct schema_rows *rows, int64_t rowid, const char *name, int root)
{
        _cleanup_(buf_release) struct buf record = BUF_INIT;
        append_record(&record, "table", name, name, root, "CREATE TABLE x(a)");
        cr_assert_eq(schemarows_change(rows, TEXT_UTF8, rowid, &record), 0);
}

Test(schemarows, rows_stay_in_the_order_of_rowids)
{
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        static const int64_t rowids[] = {5, 1, 9, 3};
        for (size_t i = 0; i < COUNT(rowids); i++)
                change(&rows, rowids[i], "t", 2);
        cr_assert_eq(rows.count, COUNT(rowids));
        for (size_t i = 1; i < rows.count; i++)
                cr_expect_lt(rows.rows[i - 1].rowid, rows.rows[i].rowid);
}

Test(schemarows, a_row_is_replaced_and_removed)
{
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        change(&rows, 1, "a", 2);
        change(&rows, 2, "b", 3);
        change(&rows, 1, "c", 4);
        cr_assert_eq(rows.count, 2);
        cr_expect_str_eq(rows.rows[0].name, "c");
        cr_expect_eq(rows.rows[0].root, 4);
        cr_expect_str_eq(rows.rows[0].sql, "CREATE TABLE x(a)");
        cr_assert_eq(schemarows_change(&rows, TEXT_UTF8, 1, NULL), 0);
        cr_assert_eq(rows.count, 1);
        cr_expect_str_eq(rows.rows[0].name, "b");
        cr_assert_eq(schemarows_change(&rows, TEXT_UTF8, 77, NULL), 0);
        cr_expect_eq(rows.count, 1);
}

Test(schemarows, a_row_without_a_name_is_corrupt)
{
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        _cleanup_(buf_release) struct buf record = BUF_INIT;
        append_record(&record, "table", NULL, "t", 2, "x");
        cr_expect_eq(schemarows_change(&rows, TEXT_UTF8, 1, &record), -EBADMSG);
        cr_expect_eq(rows.count, 0);
}

Test(schemarows, a_copy_is_the_same_and_its_own)
{
        _cleanup_(schema_rows_release) struct schema_rows rows = {0}, copy = {0};
        change(&rows, 1, "a", 2);
        change(&rows, 2, "b", 3);
        cr_assert_eq(schemarows_copy(&rows, &copy), 0);
        cr_expect(schemarows_same(&rows, &copy));
        cr_expect_neq(rows.rows[0].name, copy.rows[0].name);
        cr_expect_str_eq(rows.rows[1].name, copy.rows[1].name);
}

/* VACUUM gives other rowids and roots; a statement gives other objects or texts. */
Test(schemarows, sameness_is_that_of_objects_and_texts)
{
        _cleanup_(schema_rows_release) struct schema_rows a = {0}, b = {0};
        change(&a, 1, "t", 2);
        change(&a, 2, "u", 3);
        change(&b, 4, "u", 9);
        change(&b, 7, "t", 8);
        cr_expect(schemarows_same(&a, &b));
        change(&b, 8, "v", 10);
        cr_expect_not(schemarows_same(&a, &b));
        cr_assert_eq(schemarows_change(&b, TEXT_UTF8, 4, NULL), 0);
        cr_expect_not(schemarows_same(&a, &b));
}

/* VACUUM leaves it out if no AUTOINCREMENT table is left, and names automatic indexes anew. */
Test(schemarows, what_follows_from_other_texts_is_no_difference)
{
        static const struct {
                const char *type, *name, *sql;
                bool is_same;
        } cases[] = {
                {"table", "sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)", true},
                {"index", "sqlite_autoindex_t_1", NULL, true},
                {"table", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)", false},
                {"index", "i", "CREATE INDEX i ON t(a)", false},
                {"table", "sequence", "CREATE TABLE sequence(name,seq)", false},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(schema_rows_release) struct schema_rows a = {0}, b = {0};
                _cleanup_(buf_release) struct buf record = BUF_INIT;
                change(&a, 1, "t", 2);
                change(&b, 1, "t", 2);
                append_record(&record, cases[i].type, cases[i].name, "t", 3, cases[i].sql);
                cr_assert_eq(schemarows_change(&a, TEXT_UTF8, 2, &record), 0);
                cr_expect_eq(schemarows_same(&a, &b), cases[i].is_same, "%s", cases[i].name);
                cr_expect_eq(schemarows_same(&b, &a), cases[i].is_same, "%s", cases[i].name);
        }
}
