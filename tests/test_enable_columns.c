/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "store_fixture.h"

static const char *const table =
        "CREATE TABLE t(id INTEGER PRIMARY KEY, \"a,b\" TEXT, \"x\"\"y\", \"z]w\", plain, _rowid_)";

/* The captured names with | between them; the caller frees it. */
static char *captured(struct store_fixture *f)
{
        return store_fixture_text(f,
                "SELECT group_concat(column_name, '|') FROM"
                " (SELECT column_name FROM captured_columns ORDER BY column_ordinal)");
}

Test(enable_columns, lists_are_parsed_with_both_kinds_of_quotes)
{
        static const struct {
                const char *list;
                int number;
                const char *captured;
        } cases[] = {
                {NULL, 0, "id|a,b|x\"y|z]w|plain|_rowid_"},
                {"id", 0, "id"},
                {" id , plain ", 0, "id|plain"},
                {"plain,id", 0, "id|plain"}, /* the table's order */
                {"ID,PLAIN", 0, "id|plain"}, /* SQLite's names have no case */
                {"\"id\",\"a,b\"", 0, "id|a,b"},
                {"[id],[a,b]", 0, "id|a,b"},
                {"[id] , \"x\"\"y\" ,[z]]w]", 0, "id|x\"y|z]w"},
                {"\t[id]\n", 0, "id"},
                {"", 22942, NULL},
                {"   ", 22942, NULL},
                {"id,", 22942, NULL},
                {",id", 22942, NULL},
                {"id,,plain", 22942, NULL},
                {"id,id", 22942, NULL},
                {"id,[ID]", 22942, NULL},
                {"[id]x", 22942, NULL},
                {"id,nothing", 22930, NULL},
                {"id,\"\"", 22930, NULL},
                {"id plain", 22930, NULL},
                {"\"id", 22965, NULL},
                {"id,[plain", 22965, NULL},
                {"id,[z]]w", 22965, NULL},
                {"plain", 22943, NULL},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct store_fixture f;
                struct problem problem = {0};
                int64_t object_id = 0;
                struct instances_request request = {.columns = cases[i].list, .supports_net = -1};
                store_fixture_open(&f, TEXT_UTF8);
                int r = store_fixture_try(&f, table, "t", request, &problem, &object_id);
                _cleanup_free_ char *names = captured(&f);
                cr_expect_eq(r < 0 ? problem.number : 0, cases[i].number, "'%s': %d %s",
                        cases[i].list, problem.number, problem.message);
                cr_expect_str_eq(names, cases[i].captured ? cases[i].captured : "NULL", "'%s': %s",
                        cases[i].list, names);
                store_fixture_close(&f);
        }
}

Test(enable_columns, names_of_metadata_columns_are_refused_unless_left_out)
{
        static const char *const reserved[] = {"__$start_lsn", "__$end_lsn", "__$seqval",
                "__$operation", "__$update_mask", "__$command_id", "__$START_LSN"};
        for (size_t i = 0; i < COUNT(reserved); i++) {
                struct store_fixture f;
                char sql[100], list[100];
                struct problem problem = {0};
                int64_t object_id = 0;
                struct instances_request request = {.supports_net = -1};
                store_fixture_open(&f, TEXT_UTF8);
                snprintf(sql, sizeof sql, "CREATE TABLE t(a, \"%s\")", reserved[i]);
                snprintf(list, sizeof list, "a,%s", reserved[i]);
                cr_expect_eq(store_fixture_try(&f, sql, "t", request, &problem, &object_id),
                        -EINVAL, "%s", reserved[i]);
                cr_expect_eq(problem.number, 22975, "%s", reserved[i]);
                request.columns = list;
                cr_expect_eq(store_fixture_try(&f, sql, "t", request, &problem, &object_id),
                        -EINVAL, "%s", reserved[i]);
                request.columns = "a";
                cr_expect_eq(store_fixture_try(&f, sql, "t", request, &problem, &object_id), 0,
                        "%s", reserved[i]);
                store_fixture_close(&f);
        }
}

Test(enable_columns, as_many_columns_as_a_change_table_holds_and_no_more)
{
        static const struct {
                int columns, number;
        } cases[] = {{ENABLE_COLUMN_COUNT, 0}, {ENABLE_COLUMN_COUNT + 1, 22925}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct store_fixture f;
                _cleanup_(buf_release) struct buf sql = BUF_INIT;
                struct problem problem = {0};
                int64_t object_id = 0;
                struct instances_request request = {.supports_net = -1};
                store_fixture_open(&f, TEXT_UTF8);
                buf_append_string(&sql, "CREATE TABLE t(c1");
                for (int c = 2; c <= cases[i].columns; c++)
                        buf_append_format(&sql, ", c%d", c);
                buf_append_string(&sql, ")");
                int r = store_fixture_try(&f, buf_string(&sql), "t", request, &problem, &object_id);
                cr_expect_eq(r < 0 ? problem.number : 0, cases[i].number, "%d", cases[i].columns);
                store_fixture_close(&f);
        }
}
