/* SPDX-License-Identifier: MIT
 *
 * Durability, the pin and checkpoints, as the application sees them.
 */
#include <criterion/criterion.h>

#include "capture_fixture.h"

#define TABLE "CREATE TABLE t(id INTEGER PRIMARY KEY, v)"

/* Every mode of the application's checkpoints succeeds once what it committed is captured. */
Test(capture_cycle, lets_the_application_checkpoint)
{
        static const char *const modes[] = {"PASSIVE", "FULL", "RESTART", "TRUNCATE"};
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        for (size_t i = 0; i < 4 * COUNT(modes); i++) {
                app_run(&x.app, "INSERT INTO t(v) VALUES('x')");
                capture_fixture_settle(&x);
                _cleanup_free_ char *first = app_ask(&x.app, "PRAGMA wal_checkpoint(PASSIVE)");
                capture_fixture_settle(&x);
                _cleanup_free_ char *answer =
                        app_ask(&x.app, "PRAGMA wal_checkpoint(%s)", modes[i % COUNT(modes)]);
                cr_expect_eq(answer[0], '0', "%s: %s", modes[i % COUNT(modes)], answer);
        }
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM main_t_CT"), 16);
        capture_fixture_close(&x);
}

/* Past the mark the engine checkpoints itself, so that the next commit restarts the log. */
Test(capture_cycle, cuts_a_long_log)
{
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        free(app_ask(&x.app, "PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=OFF"));
        for (int i = 0; i < 5; i++) {
                app_run(&x.app,
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                        "1200) INSERT INTO t(v) SELECT zeroblob(4000) FROM n");
                capture_fixture_settle(&x);
        }
        /* Each left about 1200 frames; without restarts there would be 6000. */
        _cleanup_free_ char *answer = app_ask(&x.app, "PRAGMA wal_checkpoint(PASSIVE)");
        int busy = -1, frames = -1;
        cr_assert_eq(sscanf(answer, "%d|%d", &busy, &frames), 2, "%s", answer);
        cr_expect_lt(frames, 2500, "%s", answer);
        cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM main_t_CT"), 6000);
        capture_fixture_close(&x);
}

Test(capture_cycle, a_barrier_that_is_off_is_never_taken)
{
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        capture_fixture_stop(&x);
        x.options.is_barrier_off = true;
        capture_fixture_start(&x);
        app_run(&x.app, "BEGIN IMMEDIATE"); /* a barrier would have to wait for this */
        app_run(&x.app, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                        "3000) INSERT INTO t(v) SELECT zeroblob(4000) FROM n; COMMIT");
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM main_t_CT"), 3000);
        capture_fixture_close(&x);
}

/* Many source transactions in one cycle are cut at maxtrans; rows and position move together. */
Test(capture_cycle, position_and_rows_are_one_transaction)
{
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        desk_fixture_store(&x.desk);
        for (int i = 0; i < 2500; i++)
                app_send(&x.app, "INSERT INTO t(v) VALUES(%d)", i);
        free(app_wait(&x.app));
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM main_t_CT"), 2500);
        cr_expect_eq(capture_fixture_number(
                             &x, "SELECT count(DISTINCT \"__$start_lsn\") FROM main_t_CT"),
                2500);
        cr_expect_eq(
                capture_fixture_number(&x, "SELECT max_lsn = (SELECT max(\"__$start_lsn\") FROM "
                                           "main_t_CT) FROM cdcfs_state"),
                1);
        capture_fixture_close(&x);
}
