/* SPDX-License-Identifier: MIT
 *
 * admin_table: enabling and disabling tables of a real database; the rules of an instance are
 * held by test_enable*.c.
 */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "desk_fixture.h"

static const char tables[] = "CREATE TABLE orders(id INTEGER PRIMARY KEY, v TEXT);"
                             "CREATE TABLE nk(a, b);"
                             "CREATE TABLE wr(a PRIMARY KEY) WITHOUT ROWID;"
                             "CREATE VIEW vw AS SELECT 1 AS x;"
                             "CREATE VIRTUAL TABLE ft USING fts5(x);"
                             "CREATE TABLE big(i INTEGER PRIMARY KEY AUTOINCREMENT);"
                             "CREATE TABLE \"\"(x)";

static void setup(struct desk_fixture *x, const char *sql)
{
        desk_fixture_open(x, sql);
        cr_assert_eq(cdc_enable_db(&x->database, false, NULL, NULL, &x->error), 0, "%s",
                x->error.message);
}

static int enable(struct desk_fixture *x, struct cdc_table_options options)
{
        memset(&x->error, 0, sizeof x->error);
        x->notices[0] = 0;
        options.supports_net_changes = -1;
        return cdc_enable_table(&x->database, &options, desk_fixture_notice, x, &x->error);
}

Test(admin_table, enables_and_tells_that_nobody_captures_yet)
{
        struct desk_fixture x;
        setup(&x, tables);
        cr_expect_eq(enable(&x, (struct cdc_table_options){.table = "ORDERS"}), 0, "%s",
                x.error.message);
        cr_expect_not_null(strstr(x.notices, "pending until an agent"), "%s", x.notices);
        cr_expect_gt(desk_fixture_id(&x, "main_orders"), 0);
        desk_fixture_close(&x);
}

Test(admin_table, takes_a_table_without_a_name)
{
        struct desk_fixture x;
        setup(&x, tables);
        cr_expect_eq(enable(&x, (struct cdc_table_options){.table = ""}), 0, "%s", x.error.message);
        desk_fixture_close(&x);
}

Test(admin_table, refuses_with_the_known_numbers)
{
        static const struct {
                const char *name;
                struct cdc_table_options options;
                int result;
                int number;
        } cases[] = {
                {"no name", {.table = NULL}, -EINVAL, 22963},
                {"no such table", {.table = "nothing"}, -ENOENT, 22931},
                {"view", {.table = "vw"}, -EINVAL, 0},
                {"virtual table", {.table = "ft"}, -EINVAL, 0},
                {"shadow table", {.table = "ft_data"}, -EINVAL, 0},
                {"internal table", {.table = "sqlite_sequence"}, -EINVAL, 0},
                {"unknown column", {.table = "orders", .captured_columns = "id,zz"}, -EINVAL,
                        22930},
                {"key not captured", {.table = "orders", .captured_columns = "v"}, -EINVAL, 22943},
                {"no such index", {.table = "orders", .index = "zz"}, -EINVAL, 22928},
                {"empty role", {.table = "orders", .role = ""}, -EINVAL, 22907},
        };
        struct desk_fixture x;
        setup(&x, tables);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                int r = enable(&x, cases[i].options);
                cr_expect_eq(r, cases[i].result, "%s: %d %s", cases[i].name, r, x.error.message);
                cr_expect_eq(
                        x.error.number, cases[i].number, "%s: %d", cases[i].name, x.error.number);
                cr_expect_neq(x.error.message[0], 0, "%s", cases[i].name);
        }
        cr_expect_eq(
                store_fixture_integer(desk_fixture_store(&x), "SELECT count(*) FROM change_tables"),
                0);
        desk_fixture_close(&x);
}

Test(admin_table, counts_two_instances_a_table)
{
        static const struct {
                const char *instance;
                int number;
        } cases[] = {{NULL, 0}, {NULL, 22926}, {"second", 0}, {"third", 22962}};
        struct desk_fixture x;
        setup(&x, tables);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct cdc_table_options options = {
                        .table = "orders", .capture_instance = cases[i].instance};
                enable(&x, options);
                cr_expect_eq(x.error.number, cases[i].number, "case %u: %s", i, x.error.message);
        }
        desk_fixture_close(&x);
}

Test(admin_table, needs_an_enabled_database)
{
        struct desk_fixture x;
        desk_fixture_open(&x, tables);
        cr_expect_eq(enable(&x, (struct cdc_table_options){.table = "orders"}), -ENOENT);
        cr_expect_eq(x.error.number, 22901);
        cr_expect_eq(cdc_disable_table(&x.database, "orders", "all", &x.error), -ENOENT);
        cr_expect_eq(x.error.number, 22901);
        desk_fixture_close(&x);
}

Test(admin_table, takes_every_kind_of_ordinary_table)
{
        struct desk_fixture x;
        setup(&x, "PRAGMA auto_vacuum=FULL; VACUUM; PRAGMA journal_mode=DELETE;"
                  "PRAGMA auto_vacuum=FULL; VACUUM; PRAGMA journal_mode=WAL;"
                  "CREATE TABLE t(x); CREATE TABLE wr(a PRIMARY KEY) WITHOUT ROWID;"
                  "CREATE TABLE s(a INTEGER, b ANY) STRICT");
        cr_expect_eq(enable(&x, (struct cdc_table_options){.table = "t"}), 0);
        cr_expect_eq(enable(&x, (struct cdc_table_options){.table = "wr"}), 0);
        cr_expect_eq(enable(&x, (struct cdc_table_options){.table = "s"}), 0);
        desk_fixture_close(&x);
}

Test(admin_table, leaves_the_source_as_it_was)
{
        struct desk_fixture x;
        setup(&x, tables);
        struct run_result before = run("cd '%s' && sha256sum app.db; ls", x.f.tmp.directory);
        cr_assert_eq(enable(&x, (struct cdc_table_options){.table = "orders"}), 0);
        struct run_result after = run("cd '%s' && sha256sum app.db; ls", x.f.tmp.directory);
        cr_expect_str_eq(after.text, before.text);
        run_release(&before);
        run_release(&after);
        desk_fixture_close(&x);
}

Test(admin_table, returns_when_the_agent_knows)
{
        struct desk_fixture x;
        setup(&x, tables);
        desk_fixture_start_agent(&x, 0, "done");
        cr_expect_eq(enable(&x, (struct cdc_table_options){.table = "orders"}), 0, "%s",
                x.error.message);
        cr_expect_str_eq(x.notices, "");
        cr_expect_eq(store_fixture_integer(desk_fixture_store(&x),
                             "SELECT count(*) FROM cdcfs_requests WHERE command = 'refresh' AND "
                             "result = 0"),
                1);
        desk_fixture_stop_agent(&x);
        desk_fixture_start_agent(&x, -EIO, "went wrong");
        cr_expect_eq(enable(&x, (struct cdc_table_options){.table = "nk"}), -EIO);
        cr_expect_str_eq(x.error.message, "refresh went wrong");
        desk_fixture_close(&x);
}

/* The answer is good, but what became of the instance is not. */
Test(admin_table, tells_that_the_agent_cannot_capture_it)
{
        struct desk_fixture x;
        setup(&x, tables);
        store_fixture_check(sql_execute(store_db(desk_fixture_store(&x)->store),
                                    "CREATE TRIGGER fail AFTER UPDATE ON change_tables BEGIN "
                                    "UPDATE cdcfs_instances SET error = 'no way'; END"),
                "CREATE TRIGGER");
        desk_fixture_start_agent(&x, 0, "done");
        cr_expect_eq(enable(&x, (struct cdc_table_options){.table = "orders"}), -EIO);
        cr_expect_not_null(
                strstr(x.error.message, "main_orders is enabled, but not captured: no way"), "%s",
                x.error.message);
        desk_fixture_close(&x);
}

Test(admin_table, enables_every_ordinary_table)
{
        struct desk_fixture x;
        setup(&x, tables);
        cr_assert_eq(enable(&x, (struct cdc_table_options){.table = "nk",
                                        .capture_instance = "main_orders"}),
                0);
        x.notices[0] = 0;
        int r = cdc_enable_all(&x.database, NULL, desk_fixture_notice, &x, &x.error);
        cr_expect_eq(r, -ENOTSUP, "%s", x.error.message);
        static const char *const notices[] = {"skipped 'ft': a virtual table",
                "skipped 'ft_data': it holds", "skipped 'sqlite_sequence': one of SQLite's own",
                "not enabled, 'orders'", "pending until"};
        for (unsigned i = 0; i < COUNT(notices); i++)
                cr_expect_not_null(strstr(x.notices, notices[i]), "%s: %s", notices[i], x.notices);
        cr_expect_null(strstr(x.notices, "'vw'"), "%s", x.notices);
        cr_expect_null(strstr(x.notices, "'nk'"), "%s", x.notices);
        _cleanup_free_ char *names = store_fixture_text(desk_fixture_store(&x),
                "SELECT group_concat(capture_instance) FROM (SELECT capture_instance FROM "
                "change_tables ORDER BY capture_instance)");
        cr_expect_str_eq(names, "main_,main_big,main_orders,main_wr");
        desk_fixture_close(&x);
}

Test(admin_table, enables_what_is_like_a_pattern)
{
        struct desk_fixture x;
        setup(&x, tables);
        cr_expect_eq(cdc_enable_all(&x.database, "ORD%", desk_fixture_notice, &x, &x.error), 0,
                "%s", x.error.message);
        cr_expect_null(strstr(x.notices, "skipped"), "%s", x.notices);
        _cleanup_free_ char *names = store_fixture_text(
                desk_fixture_store(&x), "SELECT group_concat(capture_instance) FROM change_tables");
        cr_expect_str_eq(names, "main_orders");
        desk_fixture_close(&x);
}

Test(admin_table, disables_by_name_or_all)
{
        static const struct {
                const char *name;
                const char *table, *instance;
                int result;
                int number;
                int left;
        } cases[] = {
                {"no table name", NULL, "all", -EINVAL, 22963, 3},
                {"no instance name", "orders", "", -EINVAL, 22963, 3},
                {"no such table", "nothing", "all", -ENOENT, 22931, 3},
                {"not enabled", "big", "all", -ENOENT, 22985, 3},
                {"of another table", "orders", "main_nk", -ENOENT, 22960, 3},
                {"another case", "orders", "MAIN_ORDERS", -ENOENT, 22960, 3},
                {"one", "orders", "second", 0, 0, 2},
                {"gone", "orders", "second", -ENOENT, 22960, 2},
                {"all of the table", "ORDERS", "all", 0, 0, 1},
                {"the last", "nk", "main_nk", 0, 0, 0},
        };
        struct desk_fixture x;
        setup(&x, tables);
        cr_assert_eq(enable(&x, (struct cdc_table_options){.table = "orders"}), 0);
        cr_assert_eq(enable(&x, (struct cdc_table_options){.table = "nk"}), 0);
        cr_assert_eq(enable(&x, (struct cdc_table_options){.table = "orders",
                                        .capture_instance = "second"}),
                0);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                memset(&x.error, 0, sizeof x.error);
                int r = cdc_disable_table(&x.database, cases[i].table, cases[i].instance, &x.error);
                cr_expect_eq(r, cases[i].result, "%s: %d %s", cases[i].name, r, x.error.message);
                cr_expect_eq(
                        x.error.number, cases[i].number, "%s: %d", cases[i].name, x.error.number);
                cr_expect_eq(store_fixture_integer(
                                     desk_fixture_store(&x), "SELECT count(*) FROM change_tables"),
                        cases[i].left, "%s", cases[i].name);
        }
        desk_fixture_close(&x);
}

Test(admin_table, disables_with_the_source_gone)
{
        struct desk_fixture x;
        setup(&x, tables);
        cr_assert_eq(enable(&x, (struct cdc_table_options){.table = "orders"}), 0);
        cr_assert_eq(unlink(x.f.source), 0);
        cr_expect_eq(cdc_disable_table(&x.database, "nothing", "all", &x.error), -ENOENT);
        cr_expect_eq(x.error.number, 22985);
        cr_expect_eq(cdc_disable_table(&x.database, "orders", "all", &x.error), 0, "%s",
                x.error.message);
        desk_fixture_close(&x);
}
