/* SPDX-License-Identifier: MIT
 *
 * Who runs the jobs of a database: one process, whatever name it came by, and no lock of SQLite is
 * disturbed.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "source/identity.h"
#include "source_fixture.h"

/* Another process that claims the database, and then keeps the claim until it is told to go. */
struct claimer {
        pid_t pid;
        int to, from;
        int result; /* of its claim */
        char message[1024];
};

static void claimer_run(const char *path, int to, int from)
{
        struct identity identity = {0};
        struct problem problem = {0};
        char byte;
        int r = identity_claim(path, &identity, &problem);
        if (write(to, &r, sizeof r) != sizeof r ||
                write(to, problem.message, sizeof problem.message) != sizeof problem.message)
                _exit(1);
        ssize_t size = read(from, &byte, 1);
        if (r == 0 && size == 1) /* told so; else it dies with the claim */
                identity_release(&identity);
        _exit(0);
}

/* Before this process has a connection to the database: they do not outlive a fork. */
static void claimer_start(struct claimer *claimer, const char *path)
{
        int to[2], from[2];
        tmp_check(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0, "pipe2");
        claimer->pid = fork();
        tmp_check(claimer->pid >= 0, "fork");
        if (claimer->pid == 0) {
                close(to[1]);
                close(from[0]);
                claimer_run(path, from[1], to[0]);
        }
        close(to[0]);
        close(from[1]);
        claimer->to = to[1];
        claimer->from = from[0];
        tmp_check(read(claimer->from, &claimer->result, sizeof claimer->result) > 0, "claim");
        tmp_check(read(claimer->from, claimer->message, sizeof claimer->message) > 0, "claim");
}

static void claimer_stop(struct claimer *claimer, bool releases)
{
        int status;
        if (releases)
                tmp_check(write(claimer->to, "", 1) == 1, "claimer");
        close(claimer->to);
        close(claimer->from);
        tmp_check(waitpid(claimer->pid, &status, 0) == claimer->pid, "waitpid");
}

static void make_source(struct source_fixture *f)
{
        memset(f, 0, sizeof *f);
        tmp_open(&f->tmp);
        snprintf(f->path, sizeof f->path, "%s/app.db", f->tmp.directory);
        tmp_write(f->path, "x", 1);
}

/* ---- the claim ---- */

Test(identity, a_claim_knows_the_file)
{
        struct source_fixture f;
        struct identity identity = {0};
        struct problem problem = {0};
        struct stat st;
        make_source(&f);
        cr_assert_eq(stat(f.path, &st), 0);
        cr_assert_eq(identity_claim(f.path, &identity, &problem), 0, "%s", problem.message);
        cr_expect_str_eq(identity.path, f.path);
        cr_expect_eq(identity.device, st.st_dev);
        cr_expect_eq(identity.inode, st.st_ino);
        cr_expect_eq(identity_changed(&identity), 0);
        cr_expect_geq(fcntl(identity.fd, F_GETFD), FD_CLOEXEC, "no child inherits the claim");
        identity_release(&identity);
        cr_expect_null(identity.path);
        identity_release(&identity); /* does nothing */
        source_fixture_close(&f);
}

Test(identity, a_store_is_claimed_once_and_again_after_its_release)
{
        struct source_fixture f;
        struct problem problem = {0};
        int first = -1, second = -1;
        make_source(&f);
        cr_expect_eq(identity_claim_store("/nowhere/app.db-cdc", &first, &problem), -ENOENT);
        cr_expect_eq(first, -1);
        cr_assert_eq(identity_claim_store(f.path, &first, &problem), 0, "%s", problem.message);
        char pid[32];
        snprintf(pid, sizeof pid, "process %d ", (int)getpid());
        cr_expect_eq(identity_claim_store(f.path, &second, &problem), -EADDRINUSE);
        cr_expect(strstr(problem.message, pid), "%s", problem.message);
        identity_release_store(first);
        cr_expect_geq(fcntl(first, F_GETFD), FD_CLOEXEC, "it stays open, and no child has it");
        cr_expect_eq(identity_claim_store(f.path, &second, &problem), 0, "%s", problem.message);
        identity_release_store(second);
        identity_release_store(-1);
        source_fixture_close(&f);
}

Test(identity, a_second_process_is_refused_with_the_pid_of_the_first)
{
        struct source_fixture f;
        struct claimer claimer;
        make_source(&f);
        cr_assert_eq(symlink("app.db", tmp_path(&f.tmp, "link.db")), 0);
        cr_assert_eq(mkdir(tmp_path(&f.tmp, "sub"), 0700), 0);
        char names[4][600];
        snprintf(names[0], sizeof names[0], "%s", f.path);
        snprintf(names[1], sizeof names[1], "%s/link.db", f.tmp.directory);
        snprintf(names[2], sizeof names[2], "%s/sub/../app.db", f.tmp.directory);
        snprintf(names[3], sizeof names[3], "%s//./sub/../link.db", f.tmp.directory);
        claimer_start(&claimer, names[3]);
        cr_assert_eq(claimer.result, 0, "%s", claimer.message);
        for (unsigned i = 0; i < COUNT(names); i++) {
                struct identity identity = {0};
                struct problem problem = {0};
                char pid[32];
                snprintf(pid, sizeof pid, "process %d ", (int)claimer.pid);
                int r = identity_claim(names[i], &identity, &problem);
                cr_expect_eq(r, -EBUSY, "%s: %d", names[i], r);
                cr_expect_null(identity.path, "%s", names[i]);
                cr_expect(strstr(problem.message, pid), "%s", problem.message);
                cr_expect_eq(identity_claim(names[i], &identity, NULL), -EBUSY, "%s", names[i]);

                pid_t holder = -1;
                cr_expect_eq(identity_holder(names[i], &holder), 1, "%s", names[i]);
                cr_expect_eq(holder, claimer.pid, "%s: %d", names[i], (int)holder);
        }
        claimer_stop(&claimer, true);
        source_fixture_close(&f);
}

Test(identity, a_claim_ends_with_its_release_or_its_process)
{
        for (unsigned releases = 0; releases < 2; releases++) {
                struct source_fixture f;
                struct claimer claimer;
                struct identity identity = {0};
                struct problem problem = {0};
                pid_t holder = -1;
                make_source(&f);
                cr_expect_eq(identity_holder(f.path, &holder), 0);
                claimer_start(&claimer, f.path);
                cr_expect_eq(identity_holder(f.path, &holder), 1);
                claimer_stop(&claimer, releases);
                cr_expect_eq(identity_holder(f.path, &holder), 0, "released: %u", releases);
                cr_expect_eq(identity_claim(f.path, &identity, &problem), 0, "%s", problem.message);
                claimer_start(&claimer, f.path);
                cr_expect_eq(claimer.result, -EBUSY, "the other way round");
                claimer_stop(&claimer, true);
                identity_release(&identity);
                source_fixture_close(&f);
        }
}

Test(identity, a_second_claim_in_the_same_process_is_refused)
{
        struct source_fixture f;
        struct identity first = {0}, second = {0};
        struct problem problem = {0};
        make_source(&f);
        cr_assert_eq(identity_claim(f.path, &first, NULL), 0);
        cr_expect_eq(identity_claim(f.path, &second, &problem), -EBUSY);
        identity_release(&first);
        cr_expect_eq(identity_claim(f.path, &second, &problem), 0, "%s", problem.message);
        identity_release(&second);
        source_fixture_close(&f);
}

/* A command that asks holds a shared lock for an instant; that is no reason to refuse an agent. */
Test(identity, asking_who_holds_it_hinders_no_claim)
{
        enum { CLAIMS = 3000 };
        struct source_fixture f;
        make_source(&f);
        pid_t pid = fork();
        tmp_check(pid >= 0, "fork");
        if (pid == 0)
                for (pid_t holder;;)
                        identity_holder(f.path, &holder);
        for (unsigned i = 0; i < CLAIMS; i++) {
                struct identity identity = {0};
                struct problem problem = {0};
                int r = identity_claim(f.path, &identity, &problem);
                cr_expect_eq(r, 0, "claim %u: %s", i, problem.message);
                identity_release(&identity);
                if (r < 0)
                        break;
        }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        source_fixture_close(&f);
}

Test(identity, what_cannot_be_claimed_is_refused_with_its_reason)
{
        struct source_fixture f;
        make_source(&f);
        tmp_write(tmp_path(&f.tmp, "linked.db"), "x", 1);
        char other[600];
        snprintf(other, sizeof other, "%s/linked too.db", f.tmp.directory);
        cr_assert_eq(link(tmp_path(&f.tmp, "linked.db"), other), 0);
        cr_assert_eq(symlink("nowhere", tmp_path(&f.tmp, "dangling.db")), 0);
        cr_assert_eq(symlink("circle.db", tmp_path(&f.tmp, "circle.db")), 0);
        static const struct {
                const char *name;
                int error;
                const char *message;
        } cases[] = {
                {"missing.db", ENOENT, "No such file"},
                {"dangling.db", ENOENT, "No such file"},
                {"circle.db", ELOOP, "symbolic links"},
                {"app.db/x", ENOTDIR, "Not a directory"},
                {".", EINVAL, "no regular file"},
                {"linked.db", ENOTSUP, "2 hard links"},
                {"linked too.db", ENOTSUP, "2 hard links"},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct identity identity = {0};
                struct problem problem = {0};
                int r = identity_claim(tmp_path(&f.tmp, cases[i].name), &identity, &problem);
                cr_expect_eq(r, -cases[i].error, "%s: %d", cases[i].name, r);
                cr_expect(strstr(problem.message, cases[i].message), "%s: %s", cases[i].name,
                        problem.message);
                cr_expect(cases[i].name[0] == '.' || strstr(problem.message, cases[i].name),
                        "%s is named: %s", cases[i].name, problem.message);
                cr_expect_null(identity.path, "%s", cases[i].name);
        }
        struct identity identity = {0};
        cr_assert_eq(unlink(other), 0);
        cr_expect_eq(identity_claim(tmp_path(&f.tmp, "linked.db"), &identity, NULL), 0,
                "one name is left");
        identity_release(&identity);
        pid_t holder;
        cr_expect_eq(identity_holder(tmp_path(&f.tmp, "missing.db"), &holder), -ENOENT);
        source_fixture_close(&f);
}

/* ---- the file behind the path ---- */

Test(identity, a_change_of_the_file_behind_the_path_is_seen)
{
        static const struct {
                const char *name, *command;
                int result;
        } cases[] = {
                {"nothing", "true", 0},
                {"written", "echo more >> app.db", 0},
                {"touched, other mode", "touch app.db; chmod 600 app.db", 0},
                {"truncated", ": > app.db", 0},
                {"a second name", "ln app.db other.db", 0},
                {"renamed", "mv app.db other.db", -ENOENT},
                {"deleted", "rm app.db", -ENOENT},
                {"replaced by rename", "echo y > new.db; mv new.db app.db", 1},
                {"deleted and made again", "cp app.db copy.db; rm app.db; cp copy.db app.db", 1},
                {"renamed there and back", "mv app.db other.db; mv other.db app.db", 0},
                {"renamed and linked back", "mv app.db other.db; ln -s other.db app.db", 0},
                {"a link to another", "echo y > new.db; ln -sf new.db app.db", 1},
                {"restored from a copy", "cp app.db copy.db; cat copy.db > app.db", 0},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct source_fixture f;
                struct identity identity = {0};
                make_source(&f);
                cr_assert_eq(identity_claim(f.path, &identity, NULL), 0);
                cr_expect_eq(identity_changed(&identity), 0, "%s", cases[i].name);
                struct run_result r = run("cd %s && { %s; }", f.tmp.directory, cases[i].command);
                cr_assert_eq(r.code, 0, "%s", r.text);
                run_release(&r);
                int changed = identity_changed(&identity);
                cr_expect_eq(changed, cases[i].result, "%s: %d", cases[i].name, changed);
                identity_release(&identity);
                source_fixture_close(&f);
        }
}

/* The lock lies on the file, so a new file at the path is free. */
Test(identity, a_claim_of_a_replaced_file_says_nothing_of_the_new_one)
{
        struct source_fixture f;
        struct identity old = {0}, new = {0};
        make_source(&f);
        cr_assert_eq(identity_claim(f.path, &old, NULL), 0);
        cr_assert_eq(rename(f.path, tmp_path(&f.tmp, "old.db")), 0);
        tmp_write(f.path, "y", 1);
        cr_expect_eq(identity_claim(f.path, &new, NULL), 0);
        cr_expect_eq(identity_changed(&old), 1);
        cr_expect_eq(identity_changed(&new), 0);
        identity_release(&old);
        identity_release(&new);
        source_fixture_close(&f);
}

/* ---- beside SQLite ---- */

Test(identity, a_claim_disturbs_no_lock_of_sqlite)
{
        struct source_fixture f;
        struct claimer claimer;
        struct identity identity = {0};
        source_fixture_make(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");

        /* Claimed by another process: everything that takes locks goes on. */
        claimer_start(&claimer, f.path);
        cr_assert_eq(claimer.result, 0, "%s", claimer.message);
        app_run(&f.app,
                "INSERT INTO t VALUES(2); BEGIN IMMEDIATE; INSERT INTO t VALUES(3); COMMIT");
        _cleanup_free_ char *text = app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)");
        cr_expect_str_eq(text, "0|0|0");
        app_run(&f.app, "VACUUM");
        _cleanup_free_ char *mode = app_ask(&f.app,
                "PRAGMA journal_mode=DELETE; PRAGMA journal_mode=WAL; DELETE FROM t WHERE a=0; "
                "PRAGMA locking_mode=EXCLUSIVE; INSERT INTO t VALUES(4); "
                "PRAGMA locking_mode=NORMAL; SELECT count(*) FROM t");
        cr_expect_str_eq(mode, "delete\nwal\nexclusive\nnormal\n4", "%s", mode);
        claimer_stop(&claimer, true);

        /* Claimed by this process, which has connections too: the locks stand, from the claim to
         * the end of the last connection. */
        cr_assert_eq(identity_claim(f.path, &identity, NULL), 0);
        source_fixture_attach(&f);
        _cleanup_sqlite_ sqlite3 *reader = NULL;
        cr_assert_eq(database_connect(f.database, &reader), 0);
        cr_assert_eq(sqlite3_exec(reader, "BEGIN; SELECT * FROM t", NULL, NULL, NULL), SQLITE_OK);
        _cleanup_free_ char *before = source_fixture_locks(&f);
        cr_expect(strstr(before, "main FLOCK WRITE"), "%s", before);
        cr_expect(strstr(before, "main POSIX READ"), "%s", before);
        cr_expect_eq(identity_changed(&identity), 0);
        _cleanup_free_ char *after = source_fixture_locks(&f);
        cr_expect_str_eq(after, before);
        app_run(&f.app, "INSERT INTO t VALUES(5)");
        sqlite3_close_v2(steal(reader));
        database_close(steal(f.database));
        identity_release(&identity);
        source_fixture_close(&f);
}

/* Who writes and who checkpoints is seen without a lock of one's own. */
Test(identity, locks_of_the_log_are_seen)
{
        struct source_fixture f;
        struct identity identity;
        source_fixture_open(&f, "PRAGMA page_size=4096");
        cr_assert_eq(identity_claim(f.path, &identity, NULL), 0);
        int fd = identity_open_index(&identity);
        cr_assert_geq(fd, 0);
        cr_expect_not(identity_is_written(fd));
        app_run(&f.app, "BEGIN IMMEDIATE");
        cr_expect(identity_is_written(fd));
        cr_expect_not(identity_is_checkpointed(fd));
        app_run(&f.app, "COMMIT");
        cr_expect_not(identity_is_written(fd));
        close(fd);
        identity_release(&identity);
        source_fixture_close(&f);
}
