/* SPDX-License-Identifier: MIT
 *
 * Waiting for files, for time and for a wake-up.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/clock.h"
#include "source/watch.h"
#include "source_fixture.h"

#define MS INT64_C(1000000)

struct watched {
        struct tmp tmp;
        char path[512];
        struct watch watch;
};

static void watched_open(struct watched *w)
{
        tmp_open(&w->tmp);
        snprintf(w->path, sizeof w->path, "%s/file", w->tmp.directory);
        tmp_write(w->path, "x", 1);
        cr_assert_eq(watch_open(&w->watch), 0);
}

static void watched_close(struct watched *w)
{
        watch_close(&w->watch);
        watch_close(&w->watch); /* does nothing */
        tmp_close(&w->tmp);
}

static void run_in(struct watched *w, const char *command)
{
        struct run_result r = run("cd %s && { %s; }", w->tmp.directory, command);
        cr_assert_eq(r.code, 0, "%s: %s", command, r.text);
        run_release(&r);
}

Test(watch, without_news_the_time_passes)
{
        static const int64_t times[] = {0, 1, 200000, 5 * MS, 60 * MS};
        struct watched w;
        watched_open(&w);
        cr_assert_eq(watch_add_file(&w.watch, w.path), 0);
        cr_assert_eq(watch_add_directory(&w.watch, w.tmp.directory), 0);
        for (unsigned i = 0; i < COUNT(times); i++) {
                int64_t start = clock_monotonic(NULL);
                cr_expect_eq(watch_wait(&w.watch, times[i]), 0);
                int64_t took = clock_monotonic(NULL) - start;
                cr_expect_geq(took, times[i], "%ld, not %ld", took, times[i]);
                cr_expect_lt(took, times[i] + 2000 * MS, "%ld, not %ld", took, times[i]);
        }
        watched_close(&w);
}

Test(watch, what_happens_to_a_file_wakes)
{
        static const char *const commands[] = {"echo more >> file", "echo y 1<> file",
                "truncate -s 0 file", "truncate -s 100000 file", "chmod 600 file", "mv file other",
                "rm file"};
        for (unsigned i = 0; i < COUNT(commands); i++) {
                struct watched w;
                watched_open(&w);
                cr_assert_eq(watch_add_file(&w.watch, w.path), 0);
                run_in(&w, commands[i]);
                cr_expect_eq(watch_wait(&w.watch, 5000 * MS), 1, "%s", commands[i]);
                cr_expect_eq(watch_wait(&w.watch, 0), 0, "%s: told once", commands[i]);
                watched_close(&w);
        }
}

Test(watch, names_that_come_and_go_wake)
{
        static const struct {
                const char *command;
                int result;
        } cases[] = {
                {"echo > new", 1},
                {"mkdir sub", 1},
                {"ln -s file link", 1},
                {"rm file", 1},
                {"mv file other", 1},
                {"echo > /dev/null", 0},
                {"echo more >> file", 0},
                {"cat file", 0},
                {"chmod 600 file", 0},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct watched w;
                watched_open(&w);
                cr_assert_eq(watch_add_directory(&w.watch, w.tmp.directory), 0);
                run_in(&w, cases[i].command);
                cr_expect_eq(watch_wait(&w.watch, cases[i].result ? 5000 * MS : 0), cases[i].result,
                        "%s", cases[i].command);
                watched_close(&w);
        }
}

Test(watch, what_is_not_there_cannot_be_watched)
{
        struct watched w;
        watched_open(&w);
        cr_expect_eq(watch_add_file(&w.watch, tmp_path(&w.tmp, "missing")), -ENOENT);
        cr_expect_eq(watch_add_directory(&w.watch, tmp_path(&w.tmp, "missing")), -ENOENT);
        cr_expect_eq(watch_add_file(&w.watch, w.path), 0);
        cr_expect_eq(watch_add_file(&w.watch, w.path), 0, "twice does no harm");
        run_in(&w, "echo more >> file");
        cr_expect_eq(watch_wait(&w.watch, 5000 * MS), 1);
        watched_close(&w);
}

/* A file that was replaced is another one: the old watch ends, a new one can be added. */
Test(watch, a_replaced_file_can_be_watched_anew)
{
        struct watched w;
        watched_open(&w);
        cr_assert_eq(watch_add_file(&w.watch, w.path), 0);
        run_in(&w, "echo y > new; mv new file");
        cr_expect_eq(watch_wait(&w.watch, 5000 * MS), 1, "the old one is gone");
        cr_assert_eq(watch_add_file(&w.watch, w.path), 0);
        run_in(&w, "echo more >> file");
        cr_expect_eq(watch_wait(&w.watch, 5000 * MS), 1, "the new one is watched");
        watched_close(&w);
}

/* More events than the kernel queues, and more than one read takes. */
Test(watch, a_flood_of_events_is_one_wake_up)
{
        struct watched w;
        watched_open(&w);
        cr_assert_eq(watch_add_directory(&w.watch, w.tmp.directory), 0);
        for (unsigned i = 0; i < 10000; i++) {
                char name[32];
                snprintf(name, sizeof name, "n%u", i);
                cr_assert_eq(symlink("x", tmp_path(&w.tmp, name)), 0);
                cr_assert_eq(unlink(tmp_path(&w.tmp, name)), 0);
        }
        cr_expect_eq(watch_wait(&w.watch, 0), 1);
        cr_expect_eq(watch_wait(&w.watch, 0), 0);
        cr_assert_eq(symlink("x", tmp_path(&w.tmp, "after")), 0);
        cr_expect_eq(watch_wait(&w.watch, 5000 * MS), 1, "it goes on after an overflow");
        watched_close(&w);
}

Test(watch, a_commit_of_another_process_wakes)
{
        struct source_fixture f;
        struct watch watch;
        char wal[600];
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        snprintf(wal, sizeof wal, "%s-wal", f.path);
        cr_assert_eq(watch_open(&watch), 0);
        cr_assert_eq(watch_add_file(&watch, wal), 0);
        cr_assert_eq(watch_add_file(&watch, f.path), 0);
        cr_assert_eq(watch_add_directory(&watch, f.tmp.directory), 0);
        cr_expect_eq(app_number(&f.app, "SELECT count(*) FROM t"), 1);
        cr_expect_eq(watch_wait(&watch, 0), 0, "a read is no news");
        app_run(&f.app, "INSERT INTO t VALUES(2)");
        cr_expect_eq(watch_wait(&watch, 5000 * MS), 1, "a commit is");
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        cr_expect_eq(watch_wait(&watch, 5000 * MS), 1, "and so is a checkpoint");
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)"));
        cr_expect_eq(watch_wait(&watch, 5000 * MS), 1, "and a log that was truncated");
        watch_close(&watch);
        source_fixture_close(&f);
}

/* ---- wake-ups ---- */

static void *wake_later(void *watch)
{
        struct timespec pause = {.tv_nsec = 20 * MS};
        nanosleep(&pause, NULL);
        watch_wake(watch);
        return NULL;
}

Test(watch, another_thread_can_wake_it)
{
        static const int64_t times[] = {-1, INT64_MAX, 60000 * MS};
        struct watched w;
        watched_open(&w);
        for (unsigned i = 0; i < COUNT(times); i++) {
                pthread_t thread;
                int64_t start = clock_monotonic(NULL);
                cr_assert_eq(pthread_create(&thread, NULL, wake_later, &w.watch), 0);
                cr_expect_eq(watch_wait(&w.watch, times[i]), 1, "%ld", times[i]);
                cr_expect_geq(clock_monotonic(NULL) - start, 20 * MS);
                pthread_join(thread, NULL);
                cr_expect_eq(watch_wait(&w.watch, 0), 0);
        }
        watched_close(&w);
}

Test(watch, a_wake_up_before_the_wait_is_not_lost)
{
        struct watched w;
        watched_open(&w);
        for (unsigned i = 0; i < 100000; i++)
                watch_wake(&w.watch);
        cr_expect_eq(watch_wait(&w.watch, -1), 1);
        cr_expect_eq(watch_wait(&w.watch, 0), 0, "many are one");
        watch_wake(&w.watch);
        cr_expect_eq(watch_wait(&w.watch, 0), 1);
        watched_close(&w);
}

static struct watch *woken_by_signal;

static void wake_in_handler(int signal)
{
        watch_wake(woken_by_signal);
}

Test(watch, a_signal_handler_can_wake_it)
{
        struct watched w;
        watched_open(&w);
        woken_by_signal = &w.watch;
        struct sigaction action = {.sa_handler = wake_in_handler}, old;
        sigaction(SIGUSR1, &action, &old);
        raise(SIGUSR1);
        cr_expect_eq(watch_wait(&w.watch, -1), 1);
        sigaction(SIGUSR1, &old, NULL);
        watched_close(&w);
}

static unsigned count_descriptors(void)
{
        unsigned count = 0;
        DIR *directory = opendir("/proc/self/fd");
        while (directory && readdir(directory))
                count++;
        closedir(directory);
        return count;
}

Test(watch, closing_leaves_no_descriptor_and_no_child_inherits_one)
{
        unsigned before = count_descriptors();
        struct watched w;
        watched_open(&w);
        cr_expect(fcntl(w.watch.inotify, F_GETFD) & FD_CLOEXEC);
        cr_expect(fcntl(w.watch.wakeup, F_GETFD) & FD_CLOEXEC);
        cr_expect_eq(count_descriptors(), before + 2);
        watched_close(&w);
        cr_expect_eq(count_descriptors(), before);
}
