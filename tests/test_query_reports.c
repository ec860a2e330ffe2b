/* SPDX-License-Identifier: MIT
 *
 * query_reports: columns and history of one instance, with the columns of SQL Server's procedures.
 */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "desk_fixture.h"

static void setup(struct desk_fixture *x)
{
        struct cdc_table_options options = {
                .table = "t", .supports_net_changes = -1, .captured_columns = "x,id"};
        desk_fixture_open(x, "CREATE TABLE t(y, id INTEGER PRIMARY KEY, x VARCHAR(20))");
        cr_assert_eq(cdc_enable_db(&x->database, false, NULL, NULL, &x->error), 0);
        cr_assert_eq(cdc_enable_table(&x->database, &options, NULL, NULL, &x->error), 0);
}

/* The rows as lines, values with `|` between them; the caller frees them. */
static char *read_lines(struct cdc_rows *rows)
{
        struct buf buf = BUF_INIT;
        while (cdc_rows_next(rows) == 1) {
                for (unsigned i = 0; i < cdc_rows_columns(rows); i++) {
                        struct cdc_value value;
                        cdc_rows_value(rows, i, &value);
                        buf_append_string(&buf, i ? "|" : "");
                        if (value.type == CDC_INTEGER)
                                buf_append_format(&buf, "%lld", (long long)value.integer);
                        else
                                buf_append(&buf, value.bytes, value.size);
                }
                buf_append_byte(&buf, '\n');
        }
        cdc_rows_close(rows);
        return buf_steal(&buf);
}

Test(query_reports, tell_the_captured_columns)
{
        struct desk_fixture x;
        struct cdc_rows *rows = NULL;
        setup(&x);
        cr_assert_eq(cdc_get_captured_columns(&x.database, "main_t", &rows, &x.error), 0);
        cr_expect_eq(cdc_rows_columns(rows), 12);
        cr_expect_str_eq(cdc_rows_name(rows, 5), "column_ordinal");
        cr_expect_str_eq(cdc_rows_name(rows, 11), "datetime_precision");
        _cleanup_free_ char *lines = read_lines(rows);
        cr_expect_str_eq(lines,
                "main|t|main_t|id|2|1|INTEGER|||||\n"
                "main|t|main_t|x|3|2|VARCHAR(20)|||||\n",
                "%s", lines);
        cr_expect_eq(cdc_get_captured_columns(&x.database, "t", &rows, &x.error), -ENOENT);
        cr_expect_eq(x.error.number, 22981);
        desk_fixture_close(&x);
}

Test(query_reports, tell_the_history)
{
        struct desk_fixture x;
        struct cdc_rows *rows = NULL;
        setup(&x);
        struct history_ddl ddl = {
                .source_object_id = 1,
                .object_id = desk_fixture_id(&x, "main_t"),
                .command = "ALTER TABLE \"t\" ADD COLUMN \"z\"",
                .lsn = changes_fixture_lsn(7),
                .time_ns = STORE_FIXTURE_NOW,
        };
        store_fixture_begin(&x.f);
        store_fixture_check(history_add_ddl(x.f.store, &ddl), "history_add_ddl");
        ddl.object_id++;
        store_fixture_check(history_add_ddl(x.f.store, &ddl), "history_add_ddl");
        store_fixture_commit(&x.f);
        cr_assert_eq(cdc_get_ddl_history(&x.database, "main_t", &rows, &x.error), 0);
        cr_expect_eq(cdc_rows_columns(rows), 7);
        _cleanup_free_ char *lines = read_lines(rows);
        cr_expect_str_eq(lines,
                "main|t|main_t|0|ALTER TABLE \"t\" ADD COLUMN \"z\"|00000001:00000007:0001|"
                "2026-11-30T10:00:00.000000Z\n",
                "%s", lines);
        cr_expect_eq(cdc_get_ddl_history(&x.database, "t", &rows, &x.error), -ENOENT);
        desk_fixture_close(&x);
}
