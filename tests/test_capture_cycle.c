/* SPDX-License-Identifier: MIT
 *
 * Durability, the pin and checkpoints, as the application sees them.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "capture_fixture.h"
#include "desk/capture_private.h"
#include "ground/clock.h"
#include "source/pin.h"

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

/* No file of this process grows beyond this from now on, as on a disk that is full; 0 = no limit.
 * The application writes in a process of its own. */
static void limit_files(rlim_t size)
{
        struct rlimit limit;
        signal(SIGXFSZ, SIG_IGN);
        cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = size > 0 ? size : limit.rlim_max;
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The store cannot take a byte more. */
static void fill_disk(struct capture_fixture *x)
{
        struct stat st;
        char path[700];
        snprintf(path, sizeof path, "%s-wal", x->desk.f.path);
        cr_assert_eq(stat(path, &st), 0);
        limit_files((rlim_t)st.st_size);
}

static int step_until_failure(struct capture_fixture *x)
{
        int64_t wait_ns;
        int r = 0;
        for (int i = 0; i < 1000 && r == 0; i++) {
                r = capture_step(x->capture, i == 0, &wait_ns, &x->problem);
                usleep(1000);
        }
        return r;
}

/* The log is held as long as the store cannot be written; nothing of it is lost, whatever the
 * application does meanwhile, and wherever the store failed. */
Test(capture_cycle, a_disk_that_was_full_is_no_gap)
{
        static const struct {
                const char *meanwhile, *later;
                bool is_restarted;
                int64_t rows;
        } cases[] = {
                {"PRAGMA wal_checkpoint(PASSIVE)", "", true, 20},
                {"PRAGMA wal_checkpoint(PASSIVE)", "INSERT INTO t(v) VALUES('y')", false, 21},
                {"PRAGMA wal_checkpoint(PASSIVE)", "INSERT INTO t(v) VALUES('y')", true, 21},
                {"INSERT INTO t(v) VALUES('y')", "PRAGMA wal_checkpoint(PASSIVE)", false, 21},
                {"INSERT INTO t(v) VALUES('y')", "PRAGMA wal_checkpoint(PASSIVE)", true, 21},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct capture_fixture x;
                capture_fixture_open(&x, TABLE, "t");
                for (int k = 0; k < 20; k++)
                        app_run(&x.app, "INSERT INTO t(v) VALUES('x')");
                capture_fixture_settle(&x);
                fill_disk(&x);
                free(app_ask(&x.app, "%s", cases[i].meanwhile));
                cr_expect_lt(step_until_failure(&x), 0, "%zu", i);
                free(app_ask(&x.app, "%s", cases[i].later));
                for (int k = 0; k < 3; k++)
                        cr_expect_lt(step_until_failure(&x), 0, "%zu", i);
                limit_files(0);
                capture_fixture_settle(&x);
                if (cases[i].is_restarted) {
                        capture_fixture_stop(&x);
                        capture_fixture_start(&x);
                }
                cr_expect_eq(
                        capture_fixture_number(&x, "SELECT count(*) FROM cdcfs_gaps"), 0, "%zu", i);
                cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM main_t_CT"),
                        cases[i].rows, "%zu", i);
                capture_fixture_close(&x);
        }
}

/* The log was looked at for a checkpoint and not captured any further, as where a writer keeps the
 * barrier: a checkpoint that waits is let go up to what is captured and not beyond. VACUUM reads
 * every page of the state before it. */
Test(capture_cycle, makes_way_only_up_to_what_is_captured)
{
        static const char *const modes[] = {"PASSIVE", "FULL", "RESTART", "TRUNCATE"};
        for (size_t i = 0; i < COUNT(modes); i++) {
                struct capture_fixture x;
                capture_fixture_open(&x,
                        "PRAGMA auto_vacuum=FULL;" TABLE "; CREATE TABLE u(a);"
                        "CREATE TABLE n(i); WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + "
                        "1 FROM c WHERE i < 40) INSERT INTO n SELECT i FROM c;"
                        "INSERT INTO u SELECT randomblob(5000) FROM n;"
                        "INSERT INTO t SELECT i, randomblob(9000) FROM n",
                        "t");
                capture_fixture_settle(&x);
                app_run(&x.app, "INSERT INTO t VALUES(100, 'x')");
                cr_assert_eq(capture_move_pin(x.capture), 0);
                app_run(&x.app, "DELETE FROM u WHERE rowid %% 2; VACUUM");
                cr_assert_eq(logreader_poll(x.capture->reader), 1);
                free(app_ask(&x.app, ".timeout 500"));
                app_send(&x.app, "PRAGMA wal_checkpoint(%s)", modes[i]);
                int64_t now = clock_monotonic(NULL);
                while (!app_is_done(&x.app, 5) && !identity_is_checkpointed(x.capture->index_fd))
                        ;
                x.capture->aside_ns = 0;
                cr_expect_eq(capture_make_way(x.capture, now), 0, "%s", modes[i]);
                free(app_wait(&x.app)); /* it gives up, or was let go */
                capture_fixture_settle(&x);
                cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM main_t_CT"), 1, "%s",
                        modes[i]);
                cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM cdcfs_gaps"), 0, "%s",
                        modes[i]);
                capture_fixture_close(&x);
        }
}

/* Whatever happened to the pin: rows that pages of another state may have got into are a gap. */
Test(capture_cycle, a_log_that_was_not_held_is_a_gap)
{
        static const char *const modes[] = {"PASSIVE", "RESTART"};
        for (size_t i = 0; i < COUNT(modes); i++) {
                struct capture_fixture x;
                capture_fixture_open(&x, TABLE, "t");
                app_run(&x.app, "INSERT INTO t(v) VALUES('x')");
                capture_fixture_settle(&x);
                app_run(&x.app, "INSERT INTO t(v) VALUES('y'); VACUUM");
                cr_assert_eq(logreader_poll(x.capture->reader), 1);
                pin_close(logreader_steal_pin(x.capture->reader));
                free(app_ask(&x.app, "PRAGMA wal_checkpoint(%s)", modes[i]));
                cr_expect_eq(step_until_failure(&x), -ESTALE, "%s", modes[i]);
                capture_fixture_settle(&x);
                app_run(&x.app, "INSERT INTO t(v) VALUES('z')");
                capture_fixture_settle(&x);
                cr_expect_eq(capture_fixture_number(&x, "SELECT count(*) FROM cdcfs_gaps"), 1, "%s",
                        modes[i]);
                cr_expect_str_eq(
                        capture_fixture_text(&x, "SELECT group_concat(v, '') FROM main_t_CT"), "xz",
                        "%s", modes[i]);
                capture_fixture_close(&x);
        }
}
