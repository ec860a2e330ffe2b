/* SPDX-License-Identifier: MIT
 *
 * What commands write into the store reaches a capture that runs.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "capture_fixture.h"

static int64_t post(struct capture_fixture *x, const char *command)
{
        int64_t id = 0;
        store_fixture_check(requests_post(desk_fixture_store(&x->desk)->store, command, NULL,
                                    STORE_FIXTURE_NOW, &id),
                "requests_post");
        return id;
}

/* Enables as a command does, while the lock is held by this very process. */
static void enable(struct capture_fixture *x, const char *sql, const char *table, const char *name)
{
        store_fixture_enable(desk_fixture_store(&x->desk), sql, table, name);
}

Test(capture_request, takes_up_an_instance_behind_what_was_committed)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(a)", NULL);
        app_run(&x.app, "CREATE TABLE late(id INTEGER PRIMARY KEY, v); "
                        "INSERT INTO late VALUES(1, 'before')");
        enable(&x, "CREATE TABLE x(a); CREATE TABLE late(id INTEGER PRIMARY KEY, v)", "late",
                "main_late");
        post(&x, "refresh");
        capture_fixture_settle(&x);
        app_run(&x.app, "INSERT INTO late VALUES(2, 'after')");
        capture_fixture_settle(&x);
        cr_expect_str_eq(
                capture_fixture_text(&x, "SELECT group_concat(v) FROM main_late_CT"), "after");
        cr_expect_eq(capture_fixture_number(
                             &x, "SELECT result FROM cdcfs_requests WHERE command = 'refresh'"),
                0);
        capture_fixture_close(&x);
}

static bool is_ending(void *context)
{
        return *(bool *)context;
}

Test(capture_request, one_that_is_ending_leaves_requests_to_the_next)
{
        static const char done[] = "SELECT count(*) FROM cdcfs_requests WHERE done IS NOT NULL";
        bool ends = true;
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(a)", NULL);
        capture_fixture_stop(&x);
        x.options.is_ending = is_ending;
        x.options.ending_context = &ends;
        capture_fixture_start(&x);
        post(&x, "refresh");
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x, done), 0);
        capture_fixture_stop(&x);
        ends = false;
        capture_fixture_start(&x);
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x, done), 1);
        capture_fixture_close(&x);
}

Test(capture_request, lets_go_of_an_instance_at_once)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        capture_fixture_settle(&x);
        struct store_fixture *f = desk_fixture_store(&x.desk);
        struct instances all;
        store_fixture_begin(f);
        store_fixture_check(instances_load(f->store, &all), "instances_load");
        store_fixture_check(instances_disable(f->store, &all.items[0]), "instances_disable");
        instances_release(&all);
        store_fixture_commit(f);
        app_run(&x.app, "INSERT INTO t VALUES(2, 'b')");
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM change_tables"), 0);
        cr_expect_eq(capture_fixture_number(
                             &x, "SELECT count(*) FROM sqlite_schema WHERE name = 'main_t_CT'"),
                0);
        capture_fixture_close(&x);
}

/* A rotation is answered when what it closed is listed, not before. */
Test(capture_request, a_rotation_waits_for_its_files)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        int64_t id = post(&x, "rotate");
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(
                             &x, "SELECT count(*) FROM cdcfs_requests WHERE done IS NOT NULL"),
                0);
        struct files files = {0};
        store_fixture_check(
                files_unpublished(store_db(x.desk.f.store), &files), "files_unpublished");
        cr_expect_geq(files.count, 2);
        for (size_t i = 0; i < files.count; i++) {
                struct capture_measure measure = {.ino = files.items[i].ino};
                cr_assert_eq(capture_publish(x.capture, &measure, 1), 0);
        }
        files_release(&files);
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(
                             &x, "SELECT count(*) FROM cdcfs_requests WHERE done IS NOT NULL"),
                1, "request %d", (int)id);
        capture_fixture_close(&x);
}

Test(capture_request, a_rotation_of_nothing_is_answered_at_once)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        capture_fixture_settle(&x);
        post(&x, "rotate");
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x,
                             "SELECT count(*) FROM cdcfs_requests WHERE done IS NOT NULL AND "
                             "result = 0"),
                1);
        capture_fixture_close(&x);
}

Test(capture_request, an_unknown_command_is_refused)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(a)", NULL);
        post(&x, "make-tea");
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x, "SELECT result FROM cdcfs_requests"), -ENOTSUP);
        capture_fixture_close(&x);
}

/* Its table may have changed between enable and the moment when a capture takes it up. */
Test(capture_request, follows_a_table_that_was_altered_before_it_was_taken_up)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)", NULL);
        capture_fixture_stop(&x);
        capture_fixture_enable(&x, "t");
        app_run(&x.app, "ALTER TABLE t RENAME COLUMN a TO c; ALTER TABLE t RENAME TO u");
        capture_fixture_start(&x);
        app_run(&x.app, "INSERT INTO u VALUES(1, 'x', 'y')");
        capture_fixture_settle(&x);
        cr_expect_str_eq(
                capture_fixture_text(&x, "SELECT group_concat(a || b) FROM main_t_CT"), "xy");
        capture_fixture_close(&x);
}
