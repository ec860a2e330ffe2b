/* SPDX-License-Identifier: MIT
 *
 * A live database beside an application in another process: what the wal-index header says, what
 * is refused, and that reading through SQLite's handles disturbs no lock.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bytes/walframe.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "source/database.h"
#include "source_fixture.h"

/* Frames in the log and frames copied, as a PASSIVE checkpoint of the application tells. */
static void checkpoint(struct source_fixture *f, const char *mode, int64_t *frames, int64_t *copied)
{
        _cleanup_free_ char *text = app_ask(&f->app, "PRAGMA wal_checkpoint(%s)", mode);
        cr_assert_eq(sscanf(text, "0|%ld|%ld", frames, copied), 2, "%s: %s", mode, text);
}

Test(database, its_settings_are_those_of_sqlite)
{
        static const struct {
                uint32_t page_size, reserved;
                const char *name;
                enum text_encoding encoding;
        } cases[] = {
                {512, 0, "UTF-8", TEXT_UTF8},
                {512, 32, "UTF-8", TEXT_UTF8},
                {1024, 0, "UTF-16le", TEXT_UTF16LE},
                {4096, 0, "UTF-8", TEXT_UTF8},
                {4096, 255, "UTF-16be", TEXT_UTF16BE},
                {32768, 8, "UTF-8", TEXT_UTF8},
                {65536, 0, "UTF-8", TEXT_UTF8},
                {65536, 16, "UTF-16le", TEXT_UTF16LE},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct source_fixture f;
                char sql[200];
                snprintf(sql, sizeof sql,
                        "PRAGMA page_size=%u; PRAGMA encoding='%s';\n"
                        ".filectrl reserve_bytes %u\n"
                        "CREATE TABLE t(a)",
                        cases[i].page_size, cases[i].name, cases[i].reserved);
                memset(&f, 0, sizeof f);
                tmp_open(&f.tmp);
                snprintf(f.path, sizeof f.path, "%s/app.db", f.tmp.directory);
                app_open(&f.app, f.path);
                free(app_ask(&f.app, "%s", sql)); /* .filectrl prints the number */
                free(app_ask(&f.app, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0"));
                source_fixture_attach(&f);
                cr_expect_eq(f.database->page_size, cases[i].page_size, "case %u: %u", i,
                        f.database->page_size);
                cr_expect_eq(f.database->usable, cases[i].page_size - cases[i].reserved,
                        "case %u: %u", i, f.database->usable);
                cr_expect_eq(f.database->encoding, cases[i].encoding, "case %u", i);

                app_run(&f.app, "INSERT INTO t VALUES(randomblob(%u))", 3 * cases[i].page_size);
                struct database_header h = source_fixture_header(&f);
                cr_expect_eq(h.pages, app_number(&f.app, "PRAGMA page_count"), "case %u", i);
                int64_t frames, copied;
                checkpoint(&f, "PASSIVE", &frames, &copied);
                cr_expect_eq(h.max_frame, frames, "case %u: %u", i, h.max_frame);
                cr_expect_eq(h.backfilled, 0, "case %u: %u", i, h.backfilled);
                cr_expect_eq(source_fixture_header(&f).backfilled, copied, "case %u", i);
                source_fixture_close(&f);
        }
}

/* A commit of the hammer is one frame, so that the counters rise in step; torn would be anything
 * else. */
Test(database, the_header_is_never_torn_under_a_writer)
{
        enum { COMMITS = 6000, READS = 100000 };
        struct source_fixture f;
        source_fixture_open(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(0)");
        app_run(&f.app, "UPDATE t SET a=1"); /* a log without a frame names no number of pages */
        FILE *script = fopen(tmp_path(&f.tmp, "hammer.sql"), "w");
        fprintf(script, ".output /dev/null\nPRAGMA wal_autocheckpoint=300;\n");
        for (unsigned i = 0; i < COMMITS; i++)
                fprintf(script, "UPDATE t SET a=a+1;\n");
        fprintf(script, ".output stdout\n");
        fclose(script);

        struct database_header last = source_fixture_header(&f), first = last;
        unsigned reads = 0, missed = 0, restarts = 0;
        app_send(&f.app, ".read '%s'", tmp_path(&f.tmp, "hammer.sql"));
        for (bool is_done = false; !is_done || reads < READS; reads++) {
                struct database_header h = {0};
                if (reads % 1024 == 0)
                        is_done = app_is_done(&f.app, 0);
                int r = database_header(f.database, &h);
                missed += r == -EAGAIN;
                if (r == -EAGAIN)
                        continue;
                cr_assert_eq(r, 0);
                bool is_same_log = memcmp(h.salt, last.salt, sizeof h.salt) == 0;
                restarts += !is_same_log;
                cr_assert(!is_same_log || h.change - last.change == h.max_frame - last.max_frame,
                        "commit %u at frame %u after commit %u at frame %u", h.change, h.max_frame,
                        last.change, last.max_frame);
                cr_assert(h.change - last.change <= COMMITS, "commits go back: %u after %u",
                        h.change, last.change);
                cr_assert(h.max_frame == 0 || h.backfilled <= h.max_frame, "%u of %u are copied",
                        h.backfilled, h.max_frame);
                cr_assert_eq(h.pages, first.pages, "%u pages, not %u", h.pages, first.pages);
                last = h;
        }
        cr_expect_eq(source_fixture_header(&f).change - first.change, COMMITS);
        cr_expect_geq(restarts, 1, "the WAL was not restarted");
        cr_expect_lt(missed, reads / 10, "%u of %u reads met a writer", missed, reads);
        source_fixture_close(&f);
}

Test(database, restart_and_truncate_are_seen_as_a_new_log)
{
        struct source_fixture f;
        int64_t frames, copied;
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)");
        struct database_header full = source_fixture_header(&f);
        cr_expect_eq(full.max_frame, 2);

        checkpoint(&f, "RESTART", &frames, &copied);
        struct database_header copied_all = source_fixture_header(&f);
        cr_expect(database_same_commit(&full, &copied_all), "a restart comes with the next write");
        cr_expect_eq(copied_all.backfilled, 2);
        app_run(&f.app, "INSERT INTO t VALUES(3)");
        struct database_header restarted = source_fixture_header(&f);
        cr_expect_eq(restarted.max_frame, 1);
        cr_expect_eq(restarted.backfilled, 0);
        cr_expect_neq(memcmp(restarted.salt, full.salt, sizeof full.salt), 0);
        cr_expect_not(database_same_commit(&full, &restarted));
        cr_expect_eq(restarted.change, full.change + 1);

        checkpoint(&f, "TRUNCATE", &frames, &copied);
        struct database_header truncated = source_fixture_header(&f);
        cr_expect_eq(truncated.max_frame, 0);
        cr_expect_neq(memcmp(truncated.salt, restarted.salt, sizeof full.salt), 0);
        uint8_t byte;
        cr_expect_eq(database_read_wal(f.database, 0, &byte, 1), -ENODATA);
        app_run(&f.app, "INSERT INTO t VALUES(4)");
        cr_expect_eq(source_fixture_header(&f).max_frame, 1);
        cr_expect_eq(source_fixture_header(&f).pages, app_number(&f.app, "PRAGMA page_count"));
        source_fixture_close(&f);
}

Test(database, the_same_frame_of_another_log_is_another_commit)
{
        struct database_header a = {.max_frame = 5, .salt = {1, 2, 3, 4, 5, 6, 7, 8}}, b = a;
        b.backfilled = 5;
        b.change = 9;
        cr_expect(database_same_commit(&a, &b));
        b.max_frame = 6;
        cr_expect_not(database_same_commit(&a, &b));
        b = a;
        b.salt[7]++;
        cr_expect_not(database_same_commit(&a, &b));
}

Test(database, frames_that_are_copied_overtake_those_before_them)
{
        struct source_fixture f;
        int64_t frames, copied;
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)");
        struct database_header at = source_fixture_header(&f);
        cr_expect_not(database_is_overtaken(f.database, &at, 0));
        checkpoint(&f, "PASSIVE", &frames, &copied);
        cr_expect(database_is_overtaken(f.database, &at, 0));
        cr_expect(database_is_overtaken(f.database, &at, 1));
        cr_expect_not(database_is_overtaken(f.database, &at, 2));
        app_run(&f.app, "INSERT INTO t VALUES(3)");
        cr_expect(database_is_overtaken(f.database, &at, 2), "the log was restarted");
        source_fixture_close(&f);
}

/* The first block of the wal-index has room for 4062 frames, each later one for 4096. */
Test(database, logs_beyond_the_blocks_of_the_index_are_read)
{
        static const unsigned sizes[] = {4061, 4062, 4063, 8157, 8158, 8159};
        struct source_fixture f;
        source_fixture_open(
                &f, "PRAGMA page_size=512; CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(400))");
        struct database_header h = source_fixture_header(&f);
        for (unsigned i = 0; i < COUNT(sizes); i++) {
                /* A transaction that fills overflow pages, up to one frame less; then one frame. */
                unsigned missing = sizes[i] - h.max_frame;
                if (missing > 8)
                        app_run(&f.app, "INSERT INTO t VALUES(zeroblob(%u))", (missing - 8) * 508);
                while ((h = source_fixture_header(&f)).max_frame < sizes[i])
                        app_run(&f.app, "UPDATE t SET a=randomblob(400) WHERE rowid=1");
                cr_assert_eq(h.max_frame, sizes[i], "%u", h.max_frame);

                uint8_t bytes[WALFRAME_HEADER];
                struct walframe frame;
                cr_assert_eq(database_read_wal(f.database, walframe_offset(h.max_frame, 512), bytes,
                                     sizeof bytes),
                        0);
                walframe_parse(bytes, &frame);
                cr_expect_eq(frame.pages, h.pages, "frame %u", h.max_frame);
                cr_expect_eq(memcmp(frame.salt, h.salt, sizeof h.salt), 0, "frame %u", h.max_frame);
                cr_expect_eq(h.pages, app_number(&f.app, "PRAGMA page_count"));
        }
        source_fixture_close(&f);
}

Test(database, both_files_are_read_as_they_are_on_disk)
{
        struct source_fixture f;
        size_t main_size, wal_size;
        source_fixture_open(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(randomblob(20000))");
        app_run(&f.app, "INSERT INTO t VALUES(randomblob(20000))");
        _cleanup_free_ char *main_file = source_fixture_copy(&f, "", &main_size);
        _cleanup_free_ char *wal_file = source_fixture_copy(&f, "-wal", &wal_size);
        _cleanup_free_ char *bytes = malloc(main_size > wal_size ? main_size : wal_size);
        uint64_t size = 0;
        cr_expect_eq(database_main_size(f.database, &size), 0);
        cr_expect_eq(size, main_size);
        cr_expect_eq(database_read_main(f.database, 0, bytes, (uint32_t)main_size), 0);
        cr_expect_eq(memcmp(bytes, main_file, main_size), 0);
        cr_expect_eq(database_read_wal(f.database, 0, bytes, (uint32_t)wal_size), 0);
        cr_expect_eq(memcmp(bytes, wal_file, wal_size), 0);
        cr_expect_eq(database_read_main(f.database, 4097, bytes, 5), 0);
        cr_expect_eq(memcmp(bytes, main_file + 4097, 5), 0);

        cr_expect_eq(database_read_main(f.database, main_size - 10, bytes, 10), 0);
        cr_expect_eq(database_read_main(f.database, main_size - 10, bytes, 11), -ENODATA);
        cr_expect_eq(database_read_main(f.database, main_size + 4096, bytes, 1), -ENODATA);
        cr_expect_eq(database_read_wal(f.database, wal_size - 1, bytes, 2), -ENODATA);
        cr_expect_eq(database_read_wal(f.database, UINT64_C(1) << 40, bytes, 4096), -ENODATA);

        cr_expect_eq(database_sync_wal(f.database), 0);
        cr_expect_eq(database_sync_main(f.database), 0);
        source_fixture_close(&f);
}

/* ---- what is refused ---- */

static void make_file(struct source_fixture *f, const char *bytes, size_t size)
{
        memset(f, 0, sizeof *f);
        tmp_open(&f->tmp);
        snprintf(f->path, sizeof f->path, "%s/app.db", f->tmp.directory);
        tmp_write(f->path, bytes, size);
}

static void expect_refusal(struct source_fixture *f, int error, const char *text, const char *name)
{
        struct problem problem = {0};
        struct database *database = NULL;
        int r = database_open(f->path, &database, &problem);
        cr_expect_eq(r, -error, "%s: %d", name, r);
        cr_expect_null(database, "%s", name);
        cr_expect(strstr(problem.message, text), "%s: %s", name, problem.message);
        cr_expect(strstr(problem.message, "app.db"), "%s: %s", name, problem.message);
        if (error != EBUSY) /* which takes its time */
                cr_expect_eq(database_open(f->path, &database, NULL), -error, "%s again", name);
}

Test(database, other_journal_modes_are_refused_with_the_way_out)
{
        static const char *const modes[] = {"delete", "truncate", "persist", "off", "memory"};
        for (unsigned i = 0; i < COUNT(modes); i++) {
                struct source_fixture f;
                make_file(&f, "", 0);
                app_open(&f.app, f.path);
                free(app_ask(&f.app, "PRAGMA journal_mode=%s; CREATE TABLE t(a)", modes[i]));
                expect_refusal(&f, ENOTSUP, "enable-db --set-wal", modes[i]);
                _cleanup_free_ char *answer = app_ask(&f.app, "INSERT INTO t VALUES(1)");
                cr_expect_str_eq(answer, "", "%s: refusing leaves no lock: %s", modes[i], answer);
                source_fixture_close(&f);
        }
}

Test(database, files_that_are_no_database_are_refused)
{
        char text[8192], header[8192] = "SQLite format 3";
        memset(text, 'x', sizeof text);
        memset(header + 16, 'x', sizeof header - 16);
        const struct {
                const char *name, *bytes;
                size_t size;
                int error;
                const char *message;
        } cases[] = {
                {"a text", text, sizeof text, EBADMSG, "not a database"},
                {"a short text", text, 20, EBADMSG, "not a database"},
                {"a header and nothing that makes sense", header, sizeof header, EBADMSG,
                        "not a database"},
                {"an empty file", text, 0, ENOTSUP, "journal mode"},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct source_fixture f;
                make_file(&f, cases[i].bytes, cases[i].size);
                expect_refusal(&f, cases[i].error, cases[i].message, cases[i].name);
                source_fixture_close(&f);
        }
}

Test(database, a_path_that_leads_to_no_file_is_refused)
{
        struct source_fixture f;
        make_file(&f, "", 0);
        snprintf(f.path, sizeof f.path, "%s/missing/app.db", f.tmp.directory);
        expect_refusal(&f, ENOENT, "No such file", "missing");
        snprintf(f.path, sizeof f.path, "%s/app.db/app.db", f.tmp.directory);
        expect_refusal(&f, ENOTDIR, "Not a directory", "below a file");
        source_fixture_close(&f);
}

Test(database, a_database_in_exclusive_mode_is_refused_as_locked)
{
        struct source_fixture f;
        source_fixture_make(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        free(app_ask(&f.app, "PRAGMA locking_mode=EXCLUSIVE; INSERT INTO t VALUES(2)"));
        expect_refusal(&f, EBUSY, "locked", "exclusive from now on");
        free(app_ask(&f.app, "PRAGMA locking_mode=NORMAL; SELECT * FROM t"));
        source_fixture_attach(&f);
        database_close(steal(f.database));
        app_close(&f.app);

        /* From before the first read on: then there is no wal-index in shared memory at all. */
        app_open(&f.app, f.path);
        free(app_ask(&f.app, "PRAGMA locking_mode=EXCLUSIVE; INSERT INTO t VALUES(3)"));
        expect_refusal(&f, EBUSY, "locked", "exclusive from the start");
        source_fixture_close(&f);
}

Test(database, any_path_that_the_system_takes_is_taken)
{
        static const char *const names[] = {"a b.db", "q?mode=ro&x=1", "#frag%20ment", "file:x.db",
                "\xc3\xbcn\xc3\xafx\n.db", "'quoted\".db"};
        for (unsigned i = 0; i < COUNT(names); i++) {
                struct source_fixture f;
                make_file(&f, "", 0);
                snprintf(f.path, sizeof f.path, "%s/%s", f.tmp.directory, names[i]);
                app_open(&f.app, f.path);
                free(app_ask(&f.app, "PRAGMA journal_mode=WAL; CREATE TABLE t(a)"));
                source_fixture_attach(&f);
                cr_expect_str_eq(f.database->path, f.path);
                source_fixture_close(&f);
        }
}

Test(database, a_symlink_is_followed_to_where_the_log_is)
{
        struct source_fixture f;
        source_fixture_make(&f, "CREATE TABLE t(a)");
        cr_assert_eq(symlink(f.path, tmp_path(&f.tmp, "link.db")), 0);
        cr_assert_eq(database_open(tmp_path(&f.tmp, "link.db"), &f.database, NULL), 0);
        cr_expect_str_eq(f.database->path, f.path);
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        cr_expect_eq(source_fixture_header(&f).max_frame, app_number(&f.app, "SELECT 1 FROM t"),
                "%u", source_fixture_header(&f).max_frame);
        source_fixture_close(&f);
}

/* The first to open a log recovers it and the last to close deletes it, and for both SQLite locks
 * out everybody else for a moment. */
Test(database, opening_beside_processes_that_come_and_go_succeeds)
{
        enum { ROUNDS = 60 };
        struct source_fixture f;
        source_fixture_make(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(4000000))");
        app_close(&f.app);
        for (unsigned i = 0; i < ROUNDS; i++) {
                struct problem problem = {0};
                app_open(&f.app, f.path);
                app_send(&f.app, "INSERT INTO t VALUES(1)");
                if (i % 3 == 0)
                        app_kill(&f.app);
                do {
                        int r = database_open(f.path, &f.database, &problem);
                        cr_assert_eq(r, 0, "round %u: %s", i, problem.message);
                        database_close(f.database);
                } while (i % 3 != 0 && !app_is_done(&f.app, 0));
                if (i % 3 != 0)
                        app_close(&f.app);
        }
        tmp_close(&f.tmp);
}

/* ---- locks and connections ---- */

Test(database, no_use_of_a_database_drops_a_lock)
{
        struct source_fixture f;
        uint64_t size;
        uint8_t bytes[100];
        source_fixture_open(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
        app_run(&f.app, "INSERT INTO t VALUES(2)");
        _cleanup_sqlite_ sqlite3 *reader = NULL;
        cr_assert_eq(database_connect(f.database, &reader), 0);
        cr_assert_eq(sqlite3_exec(reader, "BEGIN; SELECT * FROM t", NULL, NULL, NULL), SQLITE_OK);
        _cleanup_free_ char *before = source_fixture_locks(&f);
        cr_assert(strstr(before, "main POSIX READ"), "%s", before);
        cr_assert(strstr(before, "-shm POSIX READ"), "%s", before);

        cr_expect_eq(database_read_main(f.database, 0, bytes, sizeof bytes), 0);
        cr_expect_eq(database_read_wal(f.database, 0, bytes, sizeof bytes), 0);
        cr_expect_eq(database_main_size(f.database, &size), 0);
        cr_expect_eq(database_sync_main(f.database), 0);
        cr_expect_eq(database_sync_wal(f.database), 0);
        cr_expect_eq(database_refresh(f.database), 0);
        source_fixture_header(&f);
        struct database *second = NULL;
        cr_assert_eq(database_open(f.path, &second, NULL), 0);
        cr_expect_eq(database_refresh(second), 0);
        database_close(second);
        sqlite3 *third = NULL;
        cr_assert_eq(database_connect(f.database, &third), 0);
        cr_expect_eq(sqlite3_exec(third, "SELECT * FROM t", NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close_v2(third);

        _cleanup_free_ char *after = source_fixture_locks(&f);
        cr_expect_str_eq(after, before);
        app_run(&f.app, "INSERT INTO t VALUES(3)");
        _cleanup_free_ char *busy = app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)");
        cr_expect(strncmp(busy, "1|", 2) == 0, "the reader still holds the log: %s", busy);
        sqlite3_exec(reader, "ROLLBACK", NULL, NULL, NULL);
        _cleanup_free_ char *done = app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)");
        cr_expect_str_eq(done, "0|0|0");
        sqlite3_close_v2(steal(reader));
        source_fixture_close(&f);
}

Test(database, connections_wait_for_no_lock_and_checkpoint_nothing)
{
        struct source_fixture f;
        source_fixture_open(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
        _cleanup_sqlite_ sqlite3 *writer = NULL;
        cr_assert_eq(database_connect(f.database, &writer), 0);
        app_run(&f.app, "BEGIN IMMEDIATE");
        int64_t start = clock_monotonic(NULL);
        int r = sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL);
        cr_expect_eq(r & 0xff, SQLITE_BUSY);
        cr_expect_lt(clock_monotonic(NULL) - start, 500000000, "no wait for the writer");
        app_run(&f.app, "COMMIT");

        cr_assert_eq(sqlite3_exec(writer, "PRAGMA synchronous=OFF", NULL, NULL, NULL), SQLITE_OK);
        for (unsigned i = 0; i < 1100; i++)
                cr_assert_eq(
                        sqlite3_exec(writer, "UPDATE t SET a=a+1", NULL, NULL, NULL), SQLITE_OK);
        struct database_header h = source_fixture_header(&f);
        cr_expect_geq(h.max_frame, 1100);
        cr_expect_eq(h.backfilled, 0, "%u frames were copied", h.backfilled);
        sqlite3_close_v2(steal(writer));
        source_fixture_close(&f);
}

Test(database, closing_last_leaves_the_log)
{
        struct source_fixture f;
        size_t size;
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        _cleanup_sqlite_ sqlite3 *connection = NULL;
        cr_assert_eq(database_connect(f.database, &connection), 0);
        cr_assert_eq(sqlite3_exec(connection, "SELECT * FROM t", NULL, NULL, NULL), SQLITE_OK);
        app_close(&f.app);
        cr_expect_eq(source_fixture_header(&f).max_frame, 1, "the application closes first");
        sqlite3_close_v2(steal(connection));
        database_close(steal(f.database));
        free(source_fixture_copy(&f, "-wal", &size));
        cr_expect_eq(size, walframe_offset(2, 4096), "%zu bytes", size);

        source_fixture_attach(&f);
        struct database_header h = source_fixture_header(&f);
        cr_expect_eq(h.max_frame, 1, "the log is read again");
        cr_expect_eq(h.backfilled, 0);
        app_open(&f.app, f.path);
        cr_expect_eq(app_number(&f.app, "SELECT count(*) FROM t"), 1);
        source_fixture_close(&f);
}

/* ---- a writer that died in the middle of publishing ---- */

/* The wal-index as a writer leaves it that stored the second copy of the header and died. */
static void tear(struct source_fixture *f)
{
        volatile uint8_t *index = (volatile uint8_t *)(uintptr_t)f->database->index;
        index[48 + 16]++;
}

Test(database, a_torn_header_is_not_read_and_recovered_by_a_refresh)
{
        struct source_fixture f;
        struct database_header h, before;
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)");
        before = source_fixture_header(&f);
        tear(&f);
        cr_expect_eq(database_header(f.database, &h), -EAGAIN);
        cr_expect_eq(database_refresh(f.database), 0);
        cr_assert_eq(database_header(f.database, &h), 0);
        cr_expect(database_same_commit(&h, &before));
        cr_expect_eq(h.pages, before.pages);
        cr_expect_eq(app_number(&f.app, "SELECT count(*) FROM t"), 2);
        source_fixture_close(&f);
}

/* A newer SQLite may have put a text there that this one cannot parse. */
Test(database, a_schema_that_cannot_be_parsed_does_not_hide_the_log)
{
        struct source_fixture f;
        source_fixture_make(&f, "CREATE TABLE t(a); CREATE TABLE u(a)");
        app_run(&f.app,
                "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE TABLE u(a) NEWER' "
                "WHERE name='u'");
        source_fixture_attach(&f);
        cr_expect_eq(database_refresh(f.database), 0);
        _cleanup_sqlite_ sqlite3 *connection = NULL;
        cr_assert_eq(database_connect(f.database, &connection), 0);
        cr_expect_eq(sqlite3_exec(connection, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL),
                SQLITE_OK, "%s", sqlite3_errmsg(connection));
        sqlite3_close_v2(steal(connection));
        source_fixture_close(&f);
}
