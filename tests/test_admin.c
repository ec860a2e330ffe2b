/* SPDX-License-Identifier: MIT
 *
 * admin: enabling and disabling a database, and rotate, with SQL Server's numbers.
 */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/stat.h>

#include "desk_fixture.h"

static int enable(struct desk_fixture *x, bool set_wal)
{
        memset(&x->error, 0, sizeof x->error);
        return cdc_enable_db(&x->database, set_wal, desk_fixture_notice, x, &x->error);
}

Test(admin, enables_once_and_says_so_the_second_time)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        cr_expect_eq(enable(&x, false), 0, "%s", x.error.message);
        cr_expect_str_eq(x.notices, "");
        cr_expect_eq(access(x.f.path, F_OK), 0);
        cr_expect_eq(enable(&x, false), 0, "%s", x.error.message);
        cr_expect_eq(strncmp(x.notices, "22905 ", 6), 0, "%s", x.notices);
        desk_fixture_close(&x);
}

Test(admin, leaves_nothing_but_the_store)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        cr_assert_eq(enable(&x, false), 0, "%s", x.error.message);
        struct run_result names = run("ls '%s'", x.f.tmp.directory);
        cr_expect_str_eq(names.text, "app.db\napp.db-cdc\n");
        run_release(&names);
        desk_fixture_close(&x);
}

Test(admin, needs_wal_mode_and_sets_it_when_asked)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        desk_fixture_run(x.f.source, "PRAGMA journal_mode=DELETE");
        cr_expect_eq(enable(&x, false), -ENOTSUP);
        cr_expect_not_null(strstr(x.error.message, "enable-db --set-wal"), "%s", x.error.message);
        cr_expect_neq(access(x.f.path, F_OK), 0);
        cr_expect_eq(enable(&x, true), 0, "%s", x.error.message);
        cr_expect_eq(access(x.f.path, F_OK), 0);
        desk_fixture_close(&x);
}

Test(admin, makes_the_store_where_it_is_told)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        x.database.store = store_fixture_path(&x.f, "elsewhere");
        cr_expect_eq(enable(&x, false), 0, "%s", x.error.message);
        cr_expect_eq(access(x.database.store, F_OK), 0);
        cr_expect_neq(access(x.f.path, F_OK), 0);
        desk_fixture_close(&x);
}

Test(admin, takes_no_other_file_for_a_store)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        tmp_write(x.f.path, "something else", 14);
        cr_expect_lt(enable(&x, false), 0);
        cr_expect_str_eq(x.notices, "");
        cr_expect_not_null(strstr(x.error.message, "app.db-cdc"), "%s", x.error.message);
        desk_fixture_close(&x);
}

Test(admin, refuses_what_is_no_database)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        x.database.source = store_fixture_path(&x.f, "nothing.db");
        cr_expect_eq(enable(&x, false), -ENOENT);
        cr_expect_not_null(strstr(x.error.message, "nothing.db"), "%s", x.error.message);
        desk_fixture_close(&x);
}

Test(admin, disables_by_removing_the_store)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        cr_expect_eq(cdc_disable_db(&x.database, &x.error), -ENOENT);
        cr_expect_eq(x.error.number, 22901);
        cr_assert_eq(enable(&x, false), 0, "%s", x.error.message);
        cr_expect_eq(cdc_disable_db(&x.database, &x.error), 0, "%s", x.error.message);
        struct run_result names = run("ls '%s'", x.f.tmp.directory);
        cr_expect_str_eq(names.text, "app.db\n");
        run_release(&names);
        desk_fixture_close(&x);
}

Test(admin, disables_nothing_under_an_agent)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        cr_assert_eq(enable(&x, false), 0, "%s", x.error.message);
        desk_fixture_start_agent(&x, 0, NULL);
        cr_expect_eq(cdc_disable_db(&x.database, &x.error), -EBUSY);
        cr_expect_not_null(strstr(x.error.message, "stop it first"), "%s", x.error.message);
        cr_expect_eq(access(x.f.path, F_OK), 0);
        desk_fixture_close(&x);
}

Test(admin, disables_nothing_that_somebody_has_open)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        cr_assert_eq(enable(&x, false), 0, "%s", x.error.message);
        desk_fixture_store(&x);
        cr_expect_eq(cdc_disable_db(&x.database, &x.error), -EBUSY);
        cr_expect_eq(access(x.f.path, F_OK), 0);
        desk_fixture_close(&x);
}

Test(admin, rotates_through_the_agent_alone)
{
        struct desk_fixture x;
        desk_fixture_open(&x, "CREATE TABLE t(x)");
        cr_expect_eq(cdc_rotate(&x.database, &x.error), -ENOENT);
        cr_expect_eq(x.error.number, 22901);
        cr_assert_eq(enable(&x, false), 0, "%s", x.error.message);
        cr_expect_eq(cdc_rotate(&x.database, &x.error), -EBUSY);
        cr_expect_not_null(strstr(x.error.message, "cdcctl agent"), "%s", x.error.message);
        desk_fixture_start_agent(&x, 0, "done");
        cr_expect_eq(cdc_rotate(&x.database, &x.error), 0, "%s", x.error.message);
        desk_fixture_stop_agent(&x);
        desk_fixture_start_agent(&x, -ENOSPC, "found no room");
        cr_expect_eq(cdc_rotate(&x.database, &x.error), -ENOSPC);
        cr_expect_str_eq(x.error.message, "rotate found no room");
        desk_fixture_close(&x);
}
