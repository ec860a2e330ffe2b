/* SPDX-License-Identifier: MIT
 *
 * The pin beside applications that commit and checkpoint in every way: what has not been let go
 * stays readable, and handing over leaves no moment without a pin.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/clock.h"
#include "source/pin.h"
#include "source_fixture.h"

static const char *const modes[] = {"PASSIVE", "FULL", "RESTART", "TRUNCATE"};

/* A reader of the log in the smallest form that obeys the rules. */
struct reader {
        struct source_fixture *f;
        struct pin *pin;
        struct database_header base; /* captured up to here */
        struct frames frames;        /* up to the base */
        uint32_t pages;              /* of the database at the base */
        unsigned transactions;
        unsigned restarts;
};

static void reader_begin(struct reader *reader, struct source_fixture *f)
{
        *reader = (struct reader){.f = f};
        cr_assert_eq(pin_open(f->database, &reader->pin), 0);
        reader->base = source_fixture_header(f);
        source_fixture_read_log(f, 1, &reader->base, &reader->frames);
        reader->pages = reader->base.pages;
}

static void reader_end(struct reader *reader)
{
        pin_close(reader->pin);
        frames_release(&reader->frames);
}

/* Captures what the header names once the next pin is taken, and lets the previous one go. */
static void reader_step(struct reader *reader)
{
        cr_assert_eq(pin_take_next(reader->pin), 0);
        struct database_header h = source_fixture_header(reader->f);
        bool is_same = memcmp(h.salt, reader->base.salt, sizeof h.salt) == 0;
        uint32_t first = is_same ? reader->base.max_frame + 1 : 1;
        cr_assert(!is_same || h.max_frame >= reader->base.max_frame, "frame %u after %u",
                h.max_frame, reader->base.max_frame);
        if (!is_same) {
                frames_clear(&reader->frames);
                reader->restarts++;
        }
        reader->transactions += source_fixture_read_log(reader->f, first, &h, &reader->frames);
        if (h.max_frame > 0)
                reader->pages = h.pages;
        pin_release_previous(reader->pin);
        reader->base = h;
        if (h.backfilled == h.max_frame)
                frames_clear(&reader->frames);
}

/* What a query gives in the captured state. */
static char *reader_dump(struct reader *reader, const char *sql)
{
        _cleanup_sqlite_ sqlite3 *db =
                source_fixture_rebuild(reader->f, &reader->frames, reader->pages);
        return source_fixture_dump(db, sql);
}

/* ---- what a pin holds ---- */

Test(pin, no_checkpoint_copies_or_resets_what_is_held)
{
        struct source_fixture f;
        struct reader reader;
        source_fixture_open(&f, "PRAGMA page_size=512; CREATE TABLE t(a, b)");
        app_run(&f.app, "INSERT INTO t VALUES(1, zeroblob(3000)); INSERT INTO t VALUES(2, 'b')");
        reader_begin(&reader, &f);
        _cleanup_free_ char *want = reader_dump(&reader, "SELECT hex(a), hex(b) FROM t");
        app_run(&f.app, "UPDATE t SET b=randomblob(3000); INSERT INTO t VALUES(3, 'c')");
        app_run(&f.app, "DELETE FROM t WHERE a=1");
        for (unsigned i = 0; i < COUNT(modes); i++) {
                int64_t busy, frames, copied;
                _cleanup_free_ char *text = app_ask(&f.app, "PRAGMA wal_checkpoint(%s)", modes[i]);
                cr_assert_eq(sscanf(text, "%ld|%ld|%ld", &busy, &frames, &copied), 3, "%s", text);
                struct database_header h = source_fixture_header(&f);
                cr_expect_eq(busy, i > 0, "%s: %s", modes[i], text);
                cr_expect_leq(h.backfilled, reader.base.max_frame, "%s: %u of %u", modes[i],
                        h.backfilled, reader.base.max_frame);
                app_run(&f.app, "INSERT INTO t VALUES(%u, randomblob(2000))", 10 + i);
                h = source_fixture_header(&f);
                cr_expect_eq(memcmp(h.salt, reader.base.salt, sizeof h.salt), 0, "%s", modes[i]);
                cr_expect_gt(h.max_frame, reader.base.max_frame, "%s", modes[i]);
                _cleanup_free_ char *is = reader_dump(&reader, "SELECT hex(a), hex(b) FROM t");
                cr_expect_str_eq(is, want, "%s", modes[i]);
        }
        reader_end(&reader);
        _cleanup_free_ char *done = app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)");
        cr_expect_str_eq(done, "0|0|0", "a closed pin holds nothing: %s", done);
        source_fixture_close(&f);
}

/* With every frame copied, the pin stands on read-lock 0: the next write restarts the log, once,
 * and the database file keeps the state. */
Test(pin, a_pin_taken_after_a_full_backfill_lets_the_log_restart)
{
        struct source_fixture f;
        struct reader reader;
        source_fixture_open(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(0)");
        app_run(&f.app, "UPDATE t SET a=1");
        reader_begin(&reader, &f);
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        app_run(&f.app, "UPDATE t SET a=2");
        cr_expect_eq(source_fixture_header(&f).max_frame, 2, "held on a mark: it goes on");
        reader_step(&reader);
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        cr_expect_eq(source_fixture_header(&f).backfilled, 2);
        reader_step(&reader);
        cr_expect_eq(reader.frames.count, 0);

        app_run(&f.app, "UPDATE t SET a=3");
        struct database_header h = source_fixture_header(&f);
        cr_expect_eq(h.max_frame, 1, "the log was restarted: %u", h.max_frame);
        cr_expect_neq(memcmp(h.salt, reader.base.salt, sizeof h.salt), 0);
        for (unsigned i = 0; i < COUNT(modes); i++) {
                free(app_ask(&f.app, "PRAGMA wal_checkpoint(%s)", modes[i]));
                app_run(&f.app, "UPDATE t SET a=a+1");
                h = source_fixture_header(&f);
                cr_expect_eq(h.backfilled, 0, "%s: the file is frozen", modes[i]);
                cr_expect_eq(h.max_frame, 2 + i, "%s: no second restart", modes[i]);
                _cleanup_free_ char *is = reader_dump(&reader, "SELECT a FROM t");
                cr_expect_str_eq(is, "2\n", "%s", modes[i]);
        }
        reader_step(&reader);
        cr_expect_eq(reader.transactions, 1 + 1 + COUNT(modes), "%u", reader.transactions);
        reader_end(&reader);
        source_fixture_close(&f);
}

Test(pin, truncate_succeeds_beside_a_pin_that_holds_nothing_back)
{
        struct source_fixture f;
        struct reader reader;
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        reader_begin(&reader, &f);
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        reader_step(&reader);
        for (unsigned i = 0; i < 3; i++) {
                _cleanup_free_ char *text = app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)");
                cr_expect_str_eq(text, "0|0|0", "%s", text);
                reader_step(&reader);
        }
        app_run(&f.app, "INSERT INTO t VALUES(2)");
        reader_step(&reader);
        cr_expect_eq(reader.transactions, 1);
        _cleanup_free_ char *is = reader_dump(&reader, "SELECT a FROM t");
        cr_expect_str_eq(is, "1\n2\n", "%s", is);
        reader_end(&reader);
        source_fixture_close(&f);
}

/* The old state is read while the application has gone on, checkpointed and gone on again. */
Test(pin, old_images_are_what_sqlite_read_at_that_commit)
{
        static const char sql[] = "SELECT a, hex(b) FROM t ORDER BY a";
        static const char *const formats[] = {"PRAGMA page_size=512",
                "PRAGMA page_size=1024; PRAGMA auto_vacuum=FULL", "PRAGMA page_size=65536"};
        for (unsigned i = 0; i < COUNT(formats); i++) {
                struct source_fixture f;
                struct reader reader;
                _cleanup_sqlite_ sqlite3 *at = NULL;
                source_fixture_make(&f, formats[i]);
                app_run(&f.app, "CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
                source_fixture_attach(&f);
                cr_assert_eq(database_connect(f.database, &at), 0);
                reader_begin(&reader, &f);
                for (unsigned k = 1; k <= 16; k++) {
                        app_run(&f.app,
                                "BEGIN; INSERT INTO t(b) VALUES(randomblob(%u)); "
                                "UPDATE t SET b=randomblob(900) WHERE a %% 5 = %u; "
                                "DELETE FROM t WHERE a %% 7 = %u; COMMIT",
                                300 * k, k % 5, k % 7);
                        reader_step(&reader);
                        _cleanup_free_ char *want = source_fixture_dump(at, sql);
                        app_run(&f.app, "DELETE FROM t WHERE a %% 2; "
                                        "INSERT INTO t(b) VALUES(randomblob(5000))");
                        free(app_ask(&f.app, "PRAGMA wal_checkpoint(%s)", modes[k % COUNT(modes)]));
                        app_run(&f.app, "UPDATE t SET b=randomblob(100)");
                        _cleanup_free_ char *is = reader_dump(&reader, sql);
                        cr_expect_str_eq(is, want, "%s, commit %u", formats[i], k);
                        /* Every other time what came after is taken too and copied, so that the
                         * next states stand on a restarted log. */
                        if (k % 2)
                                continue;
                        reader_step(&reader);
                        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
                        reader_step(&reader);
                }
                cr_expect_gt(reader.restarts, 3, "%s: %u restarts", formats[i], reader.restarts);
                reader_end(&reader);
                sqlite3_close_v2(steal(at));
                source_fixture_close(&f);
        }
}

/* ---- hand over hand ---- */

/* Each commit raises one counter, and changes some other pages with it. */
#define COUNTER                                                                                    \
        "CREATE TABLE n(id INTEGER PRIMARY KEY, n); "                                              \
        "CREATE TRIGGER r AFTER UPDATE ON n BEGIN UPDATE t SET "                                   \
        "b=randomblob(100 + new.n % 50 * 37) WHERE a=new.n % 20; END;"

/* Commits and checkpoints as fast as it can; what it cannot get in time it leaves out. */
static void hammer(struct source_fixture *f, struct app *app, unsigned id, unsigned commits)
{
        char name[32];
        snprintf(name, sizeof name, "hammer%u.sql", id);
        FILE *script = fopen(tmp_path(&f->tmp, name), "w");
        fprintf(script, ".output /dev/null\n.timeout 200\nPRAGMA synchronous=OFF;\n");
        for (unsigned i = 0; i < commits; i++) {
                fprintf(script, "UPDATE n SET n=n+1 WHERE id=%u;\n", id);
                if (i % 3 == 0)
                        fprintf(script, "PRAGMA wal_checkpoint(%s);\n", modes[i / 3 % 4]);
        }
        fprintf(script, ".output stdout\n");
        fclose(script);
        app_open(app, f->path);
        app_send(app, ".read '%s'", tmp_path(&f->tmp, name));
}

Test(pin, handing_over_loses_nothing_under_commits_and_checkpoints)
{
        enum { APPS = 2, COMMITS = 700 };
        struct source_fixture f;
        struct reader reader;
        struct app apps[APPS];
        unsigned done = 0, steps = 0;
        source_fixture_open(&f,
                "PRAGMA page_size=512; CREATE TABLE t(a INTEGER PRIMARY KEY, b); "
                "INSERT INTO t SELECT value, zeroblob(700) FROM json_each('[0,1,2,3,4,5,6,7,8,9,"
                "10,11,12,13,14,15,16,17,18,19]'); " COUNTER "INSERT INTO n VALUES(0, 0), (1, 0)");
        reader_begin(&reader, &f);
        for (unsigned i = 0; i < APPS; i++)
                hammer(&f, &apps[i], i, COMMITS);
        while (done < APPS) {
                done = 0;
                for (unsigned i = 0; i < APPS; i++)
                        done += app_is_done(&apps[i], 0);
                reader_step(&reader);
                if (steps % 5 == 0) { /* as often as it can be done, which only costs */
                        int r = pin_step_aside(reader.pin, &reader.base);
                        cr_assert(r == 0 || r == -EAGAIN, "%s", strerror(-r));
                }
                if (++steps % 16 != 0)
                        continue;
                /* The state that the pin stands for, while the others go on. */
                _cleanup_free_ char *sum = reader_dump(&reader, "SELECT sum(n) FROM n");
                cr_assert_eq(strtoul(sum, NULL, 10), reader.transactions,
                        "step %u: %u transactions, but %s", steps, reader.transactions, sum);
        }
        reader_step(&reader);
        cr_expect_eq(reader.transactions, app_number(&f.app, "SELECT sum(n) FROM n"), "%u",
                reader.transactions);
        cr_expect_gt(reader.transactions, APPS * COMMITS * 3 / 4, "%u", reader.transactions);
        cr_expect_gt(reader.restarts, 5, "the log was restarted %u times", reader.restarts);
        _cleanup_free_ char *check = reader_dump(&reader, "PRAGMA integrity_check");
        cr_expect_str_eq(check, "ok\n");
        for (unsigned i = 0; i < APPS; i++)
                app_close(&apps[i]);
        reader_end(&reader);
        source_fixture_close(&f);
}

/* Returns once the application holds the lock of checkpoints, or is done. */
static void wait_for_checkpoint(struct source_fixture *f)
{
        struct stat st;
        char path[600];
        int code = 1;
        snprintf(path, sizeof path, "%s-shm", f->path);
        cr_assert_eq(stat(path, &st), 0);
        while (code != 0 && !app_is_done(&f->app, 5)) {
                struct run_result r = run("grep -E ' %d [^ ]+:%lu 12[01] 121$' /proc/locks",
                        (int)f->app.pid, (unsigned long)st.st_ino);
                code = r.code;
                run_release(&r);
        }
}

Test(pin, a_waiting_checkpoint_comes_through_as_the_pin_moves_on)
{
        struct source_fixture f;
        struct reader reader;
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(0)");
        reader_begin(&reader, &f);
        app_run(&f.app, ".timeout 30000");
        for (unsigned i = 0; i < COUNT(modes); i++) {
                app_run(&f.app, "INSERT INTO t VALUES(1)");
                app_send(&f.app, "PRAGMA wal_checkpoint(%s)", modes[i]);
                wait_for_checkpoint(&f);
                int64_t longest = 0, end = clock_monotonic(NULL) + 10000000000;
                for (bool is_done = false; !is_done;) {
                        int64_t start = clock_monotonic(NULL);
                        reader_step(&reader);
                        int64_t now = clock_monotonic(NULL);
                        longest = now - start > longest ? now - start : longest;
                        is_done = app_is_done(&f.app, 1) || now > end;
                }
                _cleanup_free_ char *text = app_wait(&f.app);
                cr_expect(strncmp(text, "0|", 2) == 0, "%s: %s", modes[i], text);
                cr_expect_lt(longest, 1000000000, "%s: the pin waited", modes[i]);
        }
        reader_end(&reader);
        source_fixture_close(&f);
}

/* A checkpoint looks at a mark, finds it too old and tries to lock it; has a pin raised it and come
 * to stand on it meanwhile, the checkpoint waits for exactly this mark, holds the write lock, and
 * no new commit can lead the pin to another one. */
static pid_t hold_checkpoint_locks(const char *path, int first_mark)
{
        enum { WRITE = 120, CKPT = 121, TRIES = 1000, PAUSE_US = 1000 };
        int ready[2];
        char byte;
        tmp_check(pipe(ready) == 0, "pipe");
        pid_t pid = fork();
        if (pid == 0) {
                char shm[600];
                snprintf(shm, sizeof shm, "%s-shm", path);
                int fd = open(shm, O_RDWR);
                struct flock lock = {.l_type = F_WRLCK, .l_start = WRITE, .l_len = 2};
                bool is_held =
                        fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0 && write(ready[1], "", 1) == 1;
                lock = (struct flock){.l_type = F_WRLCK, .l_start = first_mark, .l_len = 1};
                for (int i = 0; is_held && i < TRIES; i++) {
                        if (fcntl(fd, F_SETLK, &lock) == 0)
                                _exit(0);
                        usleep(PAUSE_US);
                }
                _exit(1);
        }
        tmp_check(pid > 0 && read(ready[0], &byte, 1) == 1, "the locks");
        close(ready[0]);
        close(ready[1]);
        return pid;
}

Test(pin, stepping_aside_frees_the_mark_for_a_checkpoint_that_waits_for_it)
{
        struct source_fixture f;
        struct reader reader;
        int status = 0;
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        reader_begin(&reader, &f);
        cr_expect_eq(reader.base.max_frame, 1);
        for (int mark = 1; mark <= 4; mark++) {
                /* On whatever mark the pin stands by now. */
                pid_t pid = hold_checkpoint_locks(f.path, 123 + mark);
                while (waitpid(pid, &status, WNOHANG) == 0) {
                        cr_expect_eq(pin_step_aside(reader.pin, &reader.base), 0);
                        usleep(20000);
                }
                cr_expect_eq(status, 0, "mark %d was never free", mark);
        }
        reader_end(&reader);
        source_fixture_close(&f);
}

Test(pin, a_pin_that_stepped_aside_holds_as_before)
{
        struct source_fixture f;
        struct reader reader;
        source_fixture_open(&f, "PRAGMA page_size=512; CREATE TABLE t(a, b)");
        app_run(&f.app, "INSERT INTO t VALUES(1, zeroblob(3000)); INSERT INTO t VALUES(2, 'b')");
        reader_begin(&reader, &f);
        for (unsigned i = 0; i < 3 * COUNT(modes); i++) {
                _cleanup_free_ char *want = reader_dump(&reader, "SELECT hex(a), hex(b) FROM t");
                for (unsigned k = 0; k <= i % 3; k++)
                        cr_expect_eq(pin_step_aside(reader.pin, &reader.base), 0, "%u", i);
                app_run(&f.app, "INSERT INTO t VALUES(%u, randomblob(2000))", 10 + i);
                cr_expect_eq(pin_step_aside(reader.pin, &reader.base), -EAGAIN,
                        "what is new is not captured");
                _cleanup_free_ char *busy =
                        app_ask(&f.app, "PRAGMA wal_checkpoint(%s)", modes[i % COUNT(modes)]);
                struct database_header h = source_fixture_header(&f);
                cr_expect_leq(h.backfilled, reader.base.max_frame, "%u: %s", i, busy);
                app_run(&f.app, "UPDATE t SET b=randomblob(900)");
                h = source_fixture_header(&f);
                cr_expect_eq(memcmp(h.salt, reader.base.salt, sizeof h.salt), 0, "%u", i);
                _cleanup_free_ char *is = reader_dump(&reader, "SELECT hex(a), hex(b) FROM t");
                cr_expect_str_eq(is, want, "%u", i);
                reader_step(&reader);
        }
        /* Everything copied: there is nothing to step aside for, and the next pin lets go. */
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        cr_expect_eq(pin_step_aside(reader.pin, &reader.base), 0);
        reader_step(&reader);
        cr_expect_eq(pin_step_aside(reader.pin, &reader.base), 0);
        _cleanup_free_ char *all = app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)");
        cr_expect_str_eq(all, "0|0|0", "%s", all);

        app_run(&f.app, "INSERT INTO t VALUES(1, 2)");
        reader_step(&reader);
        cr_expect_eq(pin_step_aside(reader.pin, &reader.base), 0);
        reader_end(&reader);
        _cleanup_free_ char *done = app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)");
        cr_expect_str_eq(done, "0|0|0", "a closed pin holds no mark: %s", done);
        source_fixture_close(&f);
}

Test(pin, a_next_pin_is_kept_until_the_previous_is_released)
{
        struct source_fixture f;
        struct pin *pin;
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        cr_assert_eq(pin_open(f.database, &pin), 0);
        pin_release_previous(pin); /* there is no next one: it holds */
        app_run(&f.app, "INSERT INTO t VALUES(2)");
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        cr_expect_eq(source_fixture_header(&f).backfilled, 1, "the first one holds");

        cr_expect_eq(pin_take_next(pin), 0); /* at frame 2 */
        app_run(&f.app, "INSERT INTO t VALUES(3)");
        cr_expect_eq(pin_take_next(pin), 0, "kept, not taken again");
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        cr_expect_eq(source_fixture_header(&f).backfilled, 1, "both hold: the older counts");
        pin_release_previous(pin);
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        cr_expect_eq(source_fixture_header(&f).backfilled, 2, "the next one holds at frame 2");
        pin_release_previous(pin);
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        cr_expect_eq(source_fixture_header(&f).backfilled, 2, "and goes on holding");
        cr_expect_eq(pin_take_next(pin), 0);
        pin_close(pin); /* both of them */
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        cr_expect_eq(source_fixture_header(&f).backfilled, 3);
        pin_close(NULL);
        source_fixture_close(&f);
}

Test(pin, a_failure_to_take_the_next_leaves_the_pin_and_can_be_repeated)
{
        struct source_fixture f;
        struct pin *pin;
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        cr_assert_eq(pin_open(f.database, &pin), 0);
        app_run(&f.app, "INSERT INTO t VALUES(2)");
        for (unsigned i = 0; i < 2; i++) {
                sqlite3_hard_heap_limit64(1);
                cr_expect_eq(pin_take_next(pin), -ENOMEM);
                pin_release_previous(pin);
                sqlite3_hard_heap_limit64(0);
                free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
                cr_expect_eq(source_fixture_header(&f).backfilled, 1, "it still holds");
        }
        cr_expect_eq(pin_take_next(pin), 0);
        pin_release_previous(pin);
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        cr_expect_eq(source_fixture_header(&f).backfilled, 2);

        /* Even where the end of the old transaction fails. */
        for (unsigned i = 0; i < 4; i++) {
                app_run(&f.app, "INSERT INTO t VALUES(3)");
                cr_expect_eq(pin_take_next(pin), 0, "round %u", i);
                sqlite3_hard_heap_limit64(i % 2 ? 0 : 1);
                pin_release_previous(pin);
                sqlite3_hard_heap_limit64(0);
        }
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        struct database_header h = source_fixture_header(&f);
        cr_expect_eq(h.backfilled, h.max_frame, "%u of %u", h.backfilled, h.max_frame);
        pin_close(pin);
        source_fixture_close(&f);
}

/* SQLite has four marks for all readers; a pin that finds none free stands at an older one. */
Test(pin, it_holds_when_readers_have_taken_all_marks)
{
        enum { READERS = 6 };
        struct source_fixture f;
        struct reader reader;
        struct app readers[READERS];
        source_fixture_open(&f, "PRAGMA page_size=512; CREATE TABLE t(a, b)");
        for (unsigned i = 0; i < READERS; i++) {
                app_run(&f.app, "INSERT INTO t VALUES(%u, randomblob(2000))", i);
                app_open(&readers[i], f.path);
                cr_assert_eq(app_number(&readers[i], "BEGIN; SELECT count(*) FROM t"), i + 1);
        }
        reader_begin(&reader, &f);
        for (unsigned i = 0; i < READERS; i++) {
                app_run(&f.app, "UPDATE t SET b=randomblob(1000) WHERE a=%u", i);
                reader_step(&reader);
                app_close(&readers[i]);
                _cleanup_free_ char *want = app_ask(&f.app, "SELECT a || '|' || hex(b) FROM t");
                app_run(&f.app, "UPDATE t SET b=randomblob(3000)");
                free(app_ask(&f.app, "PRAGMA wal_checkpoint(%s)", modes[i % COUNT(modes)]));
                app_run(&f.app, "UPDATE t SET b=randomblob(3000)");
                _cleanup_free_ char *is = reader_dump(&reader, "SELECT a || '|' || hex(b) FROM t");
                is[strlen(is) - 1] = '\0';
                cr_expect_str_eq(is, want, "reader %u", i);
                cr_expect_leq(source_fixture_header(&f).backfilled, reader.base.max_frame);
        }
        reader_end(&reader);
        source_fixture_close(&f);
}

Test(pin, a_reader_that_stays_holds_the_log_and_hinders_no_capture)
{
        struct source_fixture f;
        struct reader reader;
        struct app old;
        source_fixture_open(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(0)");
        app_run(&f.app, "UPDATE t SET a=-1");
        app_open(&old, f.path);
        cr_assert_eq(app_number(&old, "BEGIN; SELECT a FROM t"), -1);
        reader_begin(&reader, &f);
        for (unsigned i = 1; i <= 20; i++) {
                app_run(&f.app, "UPDATE t SET a=%u", i);
                free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
                reader_step(&reader);
                _cleanup_free_ char *is = reader_dump(&reader, "SELECT a FROM t");
                cr_expect_eq(strtoul(is, NULL, 10), i);
        }
        cr_expect_eq(reader.transactions, 20);
        cr_expect_eq(reader.restarts, 0);
        cr_expect_eq(app_number(&old, "SELECT a FROM t"), -1);
        app_close(&old);
        reader_end(&reader);
        source_fixture_close(&f);
}

Test(pin, killed_writers_change_nothing)
{
        enum { KILLS = 12 };
        struct source_fixture f;
        struct reader reader;
        source_fixture_open(&f,
                "PRAGMA page_size=512; CREATE TABLE t(a INTEGER PRIMARY KEY, b); "
                "INSERT INTO t SELECT value, zeroblob(700) FROM json_each('[0,1,2,3,4,5,6,7,8,9,"
                "10,11,12,13,14,15,16,17,18,19]'); " COUNTER "INSERT INTO n VALUES(0, 0)");
        reader_begin(&reader, &f);
        for (unsigned i = 0; i < KILLS; i++) {
                struct app app;
                hammer(&f, &app, 0, 400);
                for (unsigned k = 0; k < 20 + i; k++) {
                        reader_step(&reader);
                        app_is_done(&app, 1);
                }
                app_kill(&app);
                /* A header that was being published is made whole by the next read. */
                cr_assert_eq(database_refresh(f.database), 0);
                reader_step(&reader);
                _cleanup_free_ char *sum = reader_dump(&reader, "SELECT sum(n) FROM n");
                cr_assert_eq(strtoul(sum, NULL, 10), reader.transactions,
                        "kill %u: %u transactions, but %s", i, reader.transactions, sum);
        }
        cr_expect_eq(app_number(&f.app, "SELECT n FROM n"), reader.transactions);
        reader_end(&reader);
        source_fixture_close(&f);
}
