/* SPDX-License-Identifier: MIT
 *
 * The engine's own checkpoints and the write barrier, beside an application in another process.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ground/cleanup.h"
#include "ground/clock.h"
#include "source/checkpoint.h"
#include "source/pin.h"
#include "source_fixture.h"

enum { WRITE_LOCK = 120, CHECKPOINT_LOCK = 121 }; /* bytes of the wal-index */

/* A test waits at most so much longer than what it tests: the machine may be busy. */
#define SLACK_NS INT64_C(2000000000)
#define MS INT64_C(1000000)

/* A process that holds a lock of the wal-index for a while, or until it is killed. */
static pid_t hold_lock(const struct source_fixture *f, int byte, int64_t ns)
{
        int ready[2];
        char token;
        tmp_check(pipe(ready) == 0, "pipe");
        pid_t pid = fork();
        tmp_check(pid >= 0, "fork");
        if (pid == 0) {
                char path[600];
                struct timespec wait = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
                struct flock lock = {.l_type = F_WRLCK, .l_start = byte, .l_len = 1};
                snprintf(path, sizeof path, "%s-shm", f->path);
                int fd = open(path, O_RDWR);
                if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0 || write(ready[1], "", 1) != 1)
                        _exit(1);
                nanosleep(&wait, NULL);
                _exit(0);
        }
        close(ready[1]);
        tmp_check(read(ready[0], &token, 1) == 1, "the lock");
        close(ready[0]);
        return pid;
}

static void end_process(pid_t pid)
{
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}

static void open_both(struct source_fixture *f, struct checkpoint *checkpoint, const char *sql)
{
        source_fixture_open(f, sql);
        cr_assert_eq(checkpoint_open(f->database, checkpoint), 0);
}

static void close_both(struct source_fixture *f, struct checkpoint *checkpoint)
{
        checkpoint_close(checkpoint);
        checkpoint_close(checkpoint); /* does nothing */
        source_fixture_close(f);
}

/* ---- checkpoints ---- */

Test(checkpoint, all_frames_are_copied_where_nobody_holds_any)
{
        struct source_fixture f;
        struct checkpoint c;
        uint32_t frames = 99, copied = 99;
        open_both(&f, &c, "PRAGMA page_size=512; CREATE TABLE t(a)");
        cr_expect_eq(checkpoint_run(&c, 0, &frames, &copied), 0, "an empty log");
        cr_expect_eq(frames, 0);
        cr_expect_eq(copied, 0);
        for (unsigned i = 1; i <= 3; i++) {
                app_run(&f.app, "INSERT INTO t VALUES(randomblob(20000))");
                struct database_header h = source_fixture_header(&f);
                cr_expect_lt(h.backfilled, h.max_frame);
                cr_expect_eq(checkpoint_run(&c, 0, &frames, &copied), 0);
                cr_expect_eq(frames, h.max_frame, "%u of %u", frames, h.max_frame);
                cr_expect_eq(copied, h.max_frame, "%u of %u", copied, h.max_frame);
                h = source_fixture_header(&f);
                cr_expect_eq(h.backfilled, h.max_frame);
                cr_expect_eq(checkpoint_run(&c, 0, &frames, &copied), 0, "nothing is left to do");
                cr_expect_eq(copied, h.max_frame);

                _cleanup_(frames_release) struct frames none = {0};
                _cleanup_sqlite_ sqlite3 *db = source_fixture_rebuild(&f, &none, h.pages);
                cr_expect_eq(source_fixture_number(db, "SELECT count(*) FROM t"), i);
        }
        close_both(&f, &c);
}

Test(checkpoint, a_pin_limits_what_is_copied)
{
        struct source_fixture f;
        struct checkpoint c;
        struct pin *pin;
        uint32_t frames, copied;
        open_both(&f, &c, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)");
        cr_assert_eq(pin_open(f.database, &pin), 0);
        app_run(&f.app, "INSERT INTO t VALUES(3)");
        cr_expect_eq(checkpoint_run(&c, 100 * MS, &frames, &copied), 0);
        cr_expect_eq(frames, 3);
        cr_expect_eq(copied, 2);
        cr_expect_eq(pin_take_next(pin), 0);
        pin_release_previous(pin);
        cr_expect_eq(checkpoint_run(&c, 0, &frames, &copied), 0);
        cr_expect_eq(copied, 3);
        pin_close(pin);
        close_both(&f, &c);
}

Test(checkpoint, another_checkpoint_is_waited_for_up_to_the_limit)
{
        static const struct {
                int64_t held, limit;
                int result;
        } cases[] = {{-1, 0, -EAGAIN}, {-1, 20 * MS, -EAGAIN}, {30 * MS, 10000 * MS, 0}};
        struct source_fixture f;
        struct checkpoint c;
        open_both(&f, &c, "CREATE TABLE t(a)");
        for (unsigned i = 0; i < COUNT(cases); i++) {
                uint32_t frames = 77, copied = 77;
                app_run(&f.app, "INSERT INTO t VALUES(1)");
                int64_t held = cases[i].held < 0 ? 60000 * MS : cases[i].held;
                pid_t pid = hold_lock(&f, CHECKPOINT_LOCK, held);
                int64_t start = clock_monotonic(NULL);
                int r = checkpoint_run(&c, cases[i].limit, &frames, &copied);
                int64_t took = clock_monotonic(NULL) - start;
                cr_expect_eq(r, cases[i].result, "case %u: %d", i, r);
                if (r == 0)
                        cr_expect_eq(copied, source_fixture_header(&f).max_frame, "case %u", i);
                else
                        cr_expect_geq(took, cases[i].limit, "case %u: %ld ns", i, took);
                cr_expect_lt(took, cases[i].limit + SLACK_NS, "case %u: %ld ns", i, took);
                end_process(pid);
        }
        close_both(&f, &c);
}

/* PASSIVE does not need the write lock. */
Test(checkpoint, a_writer_is_not_waited_for)
{
        struct source_fixture f;
        struct checkpoint c;
        uint32_t frames, copied;
        open_both(&f, &c, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1); BEGIN IMMEDIATE; INSERT INTO t VALUES(2)");
        cr_expect_eq(checkpoint_run(&c, 10000 * MS, &frames, &copied), 0);
        cr_expect_eq(copied, 1);
        app_run(&f.app, "COMMIT");
        cr_expect_eq(app_number(&f.app, "SELECT count(*) FROM t"), 2);
        close_both(&f, &c);
}

Test(checkpoint, it_goes_on_beside_an_application_that_checkpoints_all_the_time)
{
        enum { COMMITS = 600 };
        struct source_fixture f;
        struct checkpoint c;
        unsigned done = 0, busy = 0;
        open_both(&f, &c, "CREATE TABLE t(a); INSERT INTO t VALUES(0)");
        FILE *script = fopen(tmp_path(&f.tmp, "hammer.sql"), "w");
        fprintf(script, ".output /dev/null\n.timeout 10000\n");
        for (unsigned i = 0; i < COMMITS; i++)
                fprintf(script, "UPDATE t SET a=a+1; PRAGMA wal_checkpoint(%s);\n",
                        i % 3 ? "PASSIVE" : "RESTART");
        fprintf(script, ".output stdout\n");
        fclose(script);
        app_send(&f.app, ".read '%s'", tmp_path(&f.tmp, "hammer.sql"));
        while (!app_is_done(&f.app, 0)) {
                uint32_t frames, copied;
                int r = checkpoint_run(&c, MS, &frames, &copied);
                cr_assert(r == 0 || r == -EAGAIN, "%s", strerror(-r));
                cr_assert(r < 0 || copied <= frames, "%u of %u", copied, frames);
                done += r == 0;
                busy += r < 0;
        }
        cr_expect_gt(done, busy, "%u done, %u busy", done, busy);
        cr_expect_eq(app_number(&f.app, "SELECT a FROM t"), COMMITS);
        close_both(&f, &c);
}

/* ---- the barrier ---- */

static void expect_writes(struct source_fixture *f, bool can_write, const char *when)
{
        _cleanup_free_ char *text = app_ask(&f->app, "INSERT INTO t VALUES(randomblob(9000))");
        cr_expect_eq(strstr(text, "locked") == NULL, can_write, "%s: %s", when, text);
        cr_expect_geq(app_number(&f->app, "SELECT count(*) FROM t"), 0, "readers read, %s", when);
}

Test(checkpoint, the_barrier_blocks_writers_only_while_it_is_held)
{
        struct source_fixture f;
        struct checkpoint c;
        open_both(&f, &c, "CREATE TABLE t(a)");
        expect_writes(&f, true, "before");
        for (unsigned i = 0; i < 3; i++) {
                struct database_header before = source_fixture_header(&f);
                cr_expect_eq(checkpoint_take_barrier(&c, MS), 0);
                expect_writes(&f, false, "held");
                struct database_header after = source_fixture_header(&f);
                cr_expect(database_same_commit(&before, &after), "it writes nothing");
                checkpoint_drop_barrier(&c);
                after = source_fixture_header(&f);
                cr_expect(database_same_commit(&before, &after), "dropped, it wrote nothing");
                expect_writes(&f, true, "dropped");
                checkpoint_drop_barrier(&c); /* does nothing */
                expect_writes(&f, true, "dropped twice");
        }
        cr_expect_eq(checkpoint_take_barrier(&c, MS), 0);
        checkpoint_close(&c);
        expect_writes(&f, true, "closed");
        close_both(&f, &c);
}

Test(checkpoint, a_waiting_writer_comes_through_when_the_barrier_drops)
{
        struct source_fixture f;
        struct checkpoint c;
        open_both(&f, &c, "CREATE TABLE t(a)");
        app_run(&f.app, ".timeout 20000");
        cr_expect_eq(checkpoint_take_barrier(&c, MS), 0);
        app_send(&f.app, "INSERT INTO t VALUES(1)");
        cr_expect_not(app_is_done(&f.app, 30));
        checkpoint_drop_barrier(&c);
        _cleanup_free_ char *text = app_wait(&f.app);
        cr_expect_str_eq(text, "");
        close_both(&f, &c);
}

Test(checkpoint, a_barrier_that_is_held_already_is_kept)
{
        struct source_fixture f;
        struct checkpoint c;
        open_both(&f, &c, "CREATE TABLE t(a)");
        cr_expect_eq(checkpoint_take_barrier(&c, MS), 0);
        cr_expect_eq(checkpoint_take_barrier(&c, MS), 0);
        expect_writes(&f, false, "taken twice");
        checkpoint_drop_barrier(&c);
        expect_writes(&f, true, "dropped once");
        close_both(&f, &c);
}

Test(checkpoint, a_barrier_does_not_wait_for_a_writer)
{
        struct source_fixture f;
        struct checkpoint c;
        open_both(&f, &c, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1); BEGIN IMMEDIATE; INSERT INTO t VALUES(2)");
        int64_t start = clock_monotonic(NULL);
        cr_expect_eq(checkpoint_take_barrier(&c, MS), -EAGAIN);
        cr_expect_lt(clock_monotonic(NULL) - start, MS + SLACK_NS);
        cr_expect_not(c.has_barrier);
        checkpoint_drop_barrier(&c);
        app_run(&f.app, "COMMIT");

        /* The attempt left no lock behind. */
        _cleanup_free_ char *text = app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)");
        cr_expect_str_eq(text, "0|0|0");
        cr_expect_eq(checkpoint_take_barrier(&c, MS), 0);
        checkpoint_drop_barrier(&c);
        close_both(&f, &c);
}

Test(checkpoint, another_writer_is_waited_for_up_to_the_limit)
{
        static const struct {
                int64_t held, limit;
                int result;
        } cases[] = {{-1, 0, -EAGAIN}, {-1, 20 * MS, -EAGAIN}, {30 * MS, 10000 * MS, 0}};
        struct source_fixture f;
        struct checkpoint c;
        open_both(&f, &c, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        for (unsigned i = 0; i < COUNT(cases); i++) {
                int64_t held = cases[i].held < 0 ? 60000 * MS : cases[i].held;
                pid_t pid = hold_lock(&f, WRITE_LOCK, held);
                int64_t start = clock_monotonic(NULL);
                int r = checkpoint_take_barrier(&c, cases[i].limit);
                int64_t took = clock_monotonic(NULL) - start;
                cr_expect_eq(r, cases[i].result, "case %u: %d", i, r);
                cr_expect_eq(c.has_barrier, r == 0, "case %u", i);
                cr_expect(r == 0 || took >= cases[i].limit, "case %u: %ld ns", i, took);
                cr_expect_lt(took, cases[i].limit + SLACK_NS, "case %u: %ld ns", i, took);
                end_process(pid);
                checkpoint_drop_barrier(&c);
        }
        close_both(&f, &c);
}

Test(checkpoint, a_barrier_that_could_not_be_dropped_is_dropped_later)
{
        struct source_fixture f;
        struct checkpoint c;
        open_both(&f, &c, "CREATE TABLE t(a)");
        cr_expect_eq(checkpoint_take_barrier(&c, MS), 0);
        sqlite3_hard_heap_limit64(1);
        checkpoint_drop_barrier(&c);
        sqlite3_hard_heap_limit64(0);
        checkpoint_drop_barrier(&c);
        expect_writes(&f, true, "dropped again");
        cr_expect_eq(checkpoint_take_barrier(&c, MS), 0);
        expect_writes(&f, false, "held");
        close_both(&f, &c);
}

/* What the engine does: a short tail is left, no writer can add to it, and then a pin that is
 * taken lands on read-lock 0, so that the next writer restarts the log. */
Test(checkpoint, under_the_barrier_everything_is_copied)
{
        enum { COMMITS = 12000 };
        struct source_fixture f;
        struct checkpoint c;
        struct pin *pin;
        struct database_header last = {0};
        unsigned barriers = 0, commits = 0, restarts = 0;
        open_both(&f, &c, "PRAGMA page_size=512; CREATE TABLE t(a); INSERT INTO t VALUES(0)");
        cr_assert_eq(pin_open(f.database, &pin), 0);
        FILE *script = fopen(tmp_path(&f.tmp, "hammer.sql"), "w");
        fprintf(script, ".output /dev/null\n.timeout 10000\n");
        for (unsigned i = 0; i < COMMITS; i++)
                fprintf(script, "UPDATE t SET a=a+1;\n");
        fprintf(script, ".output stdout\n");
        fclose(script);
        app_send(&f.app, ".read '%s'", tmp_path(&f.tmp, "hammer.sql"));
        while (!app_is_done(&f.app, 1) || barriers == 0) {
                uint32_t frames = 1, copied = 0;
                if (checkpoint_take_barrier(&c, 20 * MS) == -EAGAIN)
                        continue;
                struct database_header h = source_fixture_header(&f);
                /* A writer that tries in vain holds a mark for an instant, which can be in the way
                 * of the pin or of the checkpoint. */
                for (unsigned i = 0; i < 2000 && copied < frames; i++) {
                        if (i > 0)
                                usleep(1000);
                        cr_assert_eq(pin_take_next(pin), 0);
                        pin_release_previous(pin);
                        cr_assert_eq(checkpoint_run(&c, 10 * MS, &frames, &copied), 0);
                }
                cr_expect_eq(copied, h.max_frame, "%u of %u", copied, h.max_frame);
                cr_expect_eq(frames, h.max_frame);
                cr_assert_eq(pin_take_next(pin), 0);
                pin_release_previous(pin);
                struct database_header held = source_fixture_header(&f);
                cr_expect(database_same_commit(&h, &held), "a writer came through");
                checkpoint_drop_barrier(&c);
                restarts += memcmp(h.salt, last.salt, sizeof h.salt) != 0;
                commits += !database_same_commit(&h, &last);
                last = h;
                barriers++;
        }
        cr_expect_eq(app_number(&f.app, "SELECT a FROM t"), COMMITS);
        cr_expect_gt(barriers, 3, "%u barriers", barriers);
        cr_expect_gt(restarts, commits / 2, "%u restarts, %u times more", restarts, commits);
        pin_close(pin);
        close_both(&f, &c);
}
