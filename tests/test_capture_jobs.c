/* SPDX-License-Identifier: MIT
 *
 * capture_jobs: a job that is stopped, started, works in passes, or is told to scan.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "capture_fixture.h"

static void ask(struct capture_fixture *x, const char *command, const char *argument)
{
        int64_t id = 0;
        store_fixture_check(requests_post(desk_fixture_store(&x->desk)->store, command, argument,
                                    STORE_FIXTURE_NOW, &id),
                "requests_post");
        capture_fixture_settle(x);
}

static int64_t last_result(struct capture_fixture *x)
{
        return capture_fixture_number(
                x, "SELECT result FROM cdcfs_requests ORDER BY request DESC LIMIT 1");
}

static int64_t captured(struct capture_fixture *x)
{
        return capture_fixture_number(x, "SELECT count(*) FROM main_t_CT");
}

static void change(struct capture_fixture *x, const char *sql)
{
        desk_fixture_store(&x->desk);
        store_fixture_check(sql_execute(store_db(x->desk.f.store), sql), sql);
}

Test(capture_jobs, a_stopped_job_captures_nothing_and_loses_nothing)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        capture_fixture_settle(&x);
        ask(&x, "stop-job", NULL);
        cr_expect_eq(last_result(&x), 0);
        for (int i = 2; i < 40; i++)
                app_run(&x.app, "INSERT INTO t VALUES(%d, 'b')", i);
        free(app_ask(&x.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        capture_fixture_settle(&x);
        cr_expect_eq(captured(&x), 1);
        struct capture_pulse pulse;
        capture_pulse(x.capture, &pulse);
        cr_expect_not(pulse.is_caught_up);
        ask(&x, "rotate", NULL);
        cr_expect_eq(last_result(&x), -EBUSY);
        ask(&x, "start-job", NULL);
        capture_fixture_settle(&x);
        cr_expect_eq(captured(&x), 39);
        cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM cdcfs_gaps"), 0);
        capture_fixture_close(&x);
}

Test(capture_jobs, a_stopped_job_stays_stopped_over_a_restart)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        capture_fixture_settle(&x);
        ask(&x, "stop-job", NULL);
        capture_fixture_stop(&x);
        capture_fixture_start(&x);
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        capture_fixture_settle(&x);
        cr_expect_eq(captured(&x), 0);
        ask(&x, "start-job", NULL);
        capture_fixture_settle(&x);
        cr_expect_eq(captured(&x), 1);
        capture_fixture_close(&x);
}

Test(capture_jobs, an_instance_enabled_meanwhile_is_pending_until_the_start)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", NULL);
        ask(&x, "stop-job", NULL);
        store_fixture_enable(desk_fixture_store(&x.desk),
                "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t", "main_t");
        ask(&x, "refresh", NULL);
        cr_expect_eq(last_result(&x), 0);
        static const char pending[] = "SELECT start_lsn IS NULL FROM change_tables";
        cr_expect_eq(capture_fixture_number(&x, pending), 1);
        ask(&x, "start-job", NULL);
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x, pending), 0);
        capture_fixture_close(&x);
}

Test(capture_jobs, scan_captures_while_the_job_is_stopped)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        capture_fixture_settle(&x);
        ask(&x, "stop-job", NULL);
        for (int i = 0; i < 10; i++)
                app_run(&x.app, "INSERT INTO t(v) VALUES('a')");
        ask(&x, "scan", "3 2");
        cr_expect_eq(last_result(&x), 0);
        cr_expect_eq(captured(&x), 6, "two cycles of three");
        ask(&x, "scan", "500 10");
        cr_expect_eq(captured(&x), 10);
        app_run(&x.app, "INSERT INTO t(v) VALUES('a')");
        capture_fixture_settle(&x);
        cr_expect_eq(captured(&x), 10, "the job is stopped again");
        ask(&x, "scan", "x");
        cr_expect_eq(last_result(&x), -EINVAL);
        capture_fixture_close(&x);
}

Test(capture_jobs, parameters_are_read_when_it_starts)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        capture_fixture_settle(&x);
        change(&x, "UPDATE cdc_jobs SET continuous = 0, pollinginterval = 0, maxtrans = 2,"
                   "  maxscans = 2 WHERE job_type = 'capture'");
        app_run(&x.app, "INSERT INTO t(v) VALUES('a')");
        capture_fixture_settle(&x);
        cr_expect_eq(captured(&x), 1, "the job that runs knows nothing of them");
        ask(&x, "stop-job", NULL);
        for (int i = 0; i < 10; i++)
                app_run(&x.app, "INSERT INTO t(v) VALUES('b')");
        ask(&x, "start-job", NULL);
        capture_fixture_settle(&x);
        cr_expect_eq(captured(&x), 5, "one pass");
        cr_expect_eq(capture_fixture_number(&x, "SELECT capture_stopped FROM cdcfs_state"), 1);
        change(&x, "DELETE FROM cdc_jobs");
        ask(&x, "start-job", NULL);
        cr_expect_eq(capture_fixture_number(
                             &x, "SELECT number FROM cdcfs_requests ORDER BY request DESC LIMIT 1"),
                22997);
        capture_fixture_close(&x);
}

Test(capture_jobs, without_a_wake_the_pollinginterval_is_the_real_wait)
{
        struct capture_fixture x;
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        capture_fixture_settle(&x);
        change(&x, "UPDATE cdc_jobs SET pollinginterval = 2 WHERE job_type = 'capture'");
        capture_fixture_stop(&x);
        x.options.is_wake_off = true;
        capture_fixture_start(&x);
        int64_t wait_ns = 0;
        store_fixture_check(capture_step(x.capture, true, &wait_ns, &x.problem), x.problem.message);
        app_run(&x.app, "INSERT INTO t(v) VALUES('a')");
        for (int i = 0; i < 20; i++) {
                store_fixture_check(
                        capture_step(x.capture, true, &wait_ns, &x.problem), x.problem.message);
                usleep(10000);
        }
        cr_expect_eq(captured(&x), 0);
        usleep(2000000);
        store_fixture_check(
                capture_step(x.capture, false, &wait_ns, &x.problem), x.problem.message);
        cr_expect_eq(captured(&x), 1);
        capture_fixture_close(&x);
}

/* dm_cdc_log_scan_sessions as capture fills it. */
Test(capture_jobs, scans_that_find_nothing_are_one_row_of_the_sessions)
{
        struct capture_fixture x;
        capture_fixture_open(
                &x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE other(v)", "t");
        capture_fixture_settle(&x);
        ask(&x, "stop-job", NULL);
        app_run(&x.app, "INSERT INTO t(v) VALUES('a'), ('b')");
        ask(&x, "scan", "500 10");
        for (int i = 0; i < 3; i++)
                ask(&x, "scan", "500 10");
        app_run(&x.app, "INSERT INTO other VALUES(1)");
        ask(&x, "scan", "500 10");
        app_run(&x.app, "INSERT INTO t(v) VALUES('c')");
        ask(&x, "scan", "500 10");
        cr_expect_str_eq(capture_fixture_text(&x,
                                 "SELECT group_concat(tran_count || ' ' || command_count || ' ' ||"
                                 " empty_scan_count || ' ' || scan_phase, '; ') FROM"
                                 " (SELECT * FROM dm_cdc_log_scan_sessions WHERE session_id > 0"
                                 " ORDER BY session_id)"),
                "1 2 0 Done; 0 0 4 Done; 1 1 0 Done");
        cr_expect_str_eq(
                capture_fixture_text(&x,
                        "SELECT scan_phase || ' ' || tran_count || ' ' || command_count || ' ' ||"
                        " empty_scan_count || ' ' || failed_sessions_count FROM"
                        " dm_cdc_log_scan_sessions WHERE session_id = 0"),
                "Aggregate 2 3 4 0");
        cr_expect_eq(capture_fixture_number(&x,
                             "SELECT count(*) FROM dm_cdc_log_scan_sessions WHERE latency < 0 OR"
                             " end_time < start_time OR last_commit_cdc_lsn > end_lsn"),
                0);
        capture_fixture_close(&x);
}
