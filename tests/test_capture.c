/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>

#include "capture_fixture.h"

#define TABLE "CREATE TABLE t(id INTEGER PRIMARY KEY, v)"

Test(capture, a_commit_is_in_the_store_after_a_step)
{
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a'); UPDATE t SET v = 'b'; DELETE FROM t");
        capture_fixture_settle(&x);
        cr_expect_str_eq(capture_fixture_text(&x,
                                 "SELECT group_concat(\"__$operation\" || v, ' ') FROM main_t_CT"),
                "2a 3a 4b 1b");
        capture_fixture_close(&x);
}

Test(capture, idle_steps_write_nothing)
{
        struct capture_fixture x;
        int64_t wait_ns;
        capture_fixture_open(&x, TABLE, "t");
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        capture_fixture_settle(&x);
        int64_t before = capture_fixture_number(&x, "PRAGMA data_version");
        for (int i = 0; i < 50; i++)
                cr_assert_eq(capture_step(x.capture, false, &wait_ns, &x.problem), 0);
        cr_expect_eq(capture_fixture_number(&x, "PRAGMA data_version"), before);
        cr_expect_geq(wait_ns, 1000000000);
        capture_fixture_close(&x);
}

Test(capture, the_pulse_tells_how_far_it_is)
{
        struct capture_fixture x;
        struct capture_pulse first, second;
        capture_fixture_open(&x, TABLE, "t");
        capture_fixture_settle(&x);
        capture_pulse(x.capture, &first);
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        capture_fixture_settle(&x);
        capture_pulse(x.capture, &second);
        cr_expect(first.is_caught_up && second.is_caught_up);
        cr_expect_lt(lsn_compare(first.end_of_log, second.end_of_log), 0);
        cr_expect_leq(first.as_of_ns, second.as_of_ns);
        capture_fixture_close(&x);
}

Test(capture, news_are_told_once)
{
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        capture_fixture_settle(&x);
        cr_expect(capture_take_news(x.capture));
        cr_expect_not(capture_take_news(x.capture));
        cr_expect(capture_take_closed(x.capture)); /* the start asks for what an end left */
        cr_expect_not(capture_take_closed(x.capture));
        capture_fixture_close(&x);
}

/* A file appears when its measure is given, and only then. */
Test(capture, publishes_what_was_measured)
{
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        x.options.limits.size = 1;
        capture_fixture_stop(&x);
        capture_fixture_start(&x);
        app_run(&x.app, "INSERT INTO t VALUES(1, zeroblob(100000))");
        capture_fixture_settle(&x);
        cr_assert(capture_take_closed(x.capture));
        uint64_t ino = (uint64_t)capture_fixture_number(
                &x, "SELECT ino FROM cdcfs_files WHERE to_lsn IS NOT NULL AND format = 'csv'");
        cr_assert_gt(ino, 0);
        struct capture_measure measure = {.ino = ino, .measure = {.bytes = 77}};
        cr_assert_eq(capture_publish(x.capture, &measure, 1), 0);
        cr_expect_eq(capture_fixture_number(&x, "SELECT max(bytes) FROM cdcfs_files"), 77);
        capture_fixture_close(&x);
}

Test(capture, a_file_that_is_moved_away_is_told)
{
        struct capture_fixture x;
        int64_t wait_ns;
        char moved[600];
        capture_fixture_open(&x, TABLE, "t");
        capture_fixture_settle(&x);
        snprintf(moved, sizeof moved, "%s.moved", x.desk.f.source);
        cr_assert_eq(rename(x.desk.f.source, moved), 0);
        cr_expect_eq(capture_step(x.capture, true, &wait_ns, &x.problem), -ENOENT);
        cr_expect_not_null(strstr(x.problem.message, "is gone"), "%s", x.problem.message);
        cr_assert_eq(rename(moved, x.desk.f.source), 0);
        cr_expect_eq(capture_step(x.capture, true, &wait_ns, &x.problem), 0);
        capture_fixture_close(&x);
}
