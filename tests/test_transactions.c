/* SPDX-License-Identifier: MIT
 *
 * Frames grouped into commits: what belongs to a transaction and what does not, whatever SQLite
 * left in the log on its way to the commit.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/walframe.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "prng.h"
#include "source/transactions.h"
#include "source_fixture.h"

struct summary {
        unsigned transactions;
        unsigned frames;
        unsigned repeated; /* frames of pages that have a later one in the same transaction */
        unsigned left_out; /* pages beyond the size that the commit names */
        unsigned unsigned_frames;
        uint32_t page_count; /* after the last */
};

static struct walframe read_frame(const struct source_fixture *f, uint32_t number)
{
        uint8_t bytes[WALFRAME_HEADER];
        struct walframe frame;
        uint64_t offset = walframe_offset(number, f->database->page_size);
        cr_assert_eq(database_read_wal(f->database, offset, bytes, sizeof bytes), 0);
        walframe_parse(bytes, &frame);
        return frame;
}

/* Holds a transaction against the frames it claims, and counts what it met. */
static void check_transaction(const struct source_fixture *f, uint32_t first,
        const struct transaction *t, struct summary *s)
{
        _cleanup_(frames_release) struct frames seen = {0};
        cr_expect_eq(t->frame_count, t->commit_frame - first + 1);
        cr_expect_eq(read_frame(f, t->commit_frame).pages, t->page_count);
        for (uint32_t i = t->commit_frame; i >= first; i--) {
                struct walframe frame = read_frame(f, i);
                bool is_last = frames_find(&seen, frame.pgno) == 0;
                bool is_there = frame.pgno <= t->page_count;
                cr_expect(i == t->commit_frame || frame.pages == 0, "frame %u commits", i);
                if (is_last)
                        cr_expect_eq(frames_find(&t->pages, frame.pgno), is_there ? i : 0,
                                "page %u, frame %u", frame.pgno, i);
                s->repeated += !is_last;
                s->left_out += is_last && !is_there;
                cr_assert_eq(frames_put(&seen, frame.pgno, i), 0);
        }
        for (size_t i = 0; i < t->pages.capacity; i++)
                if (t->pages.entries[i].pgno != 0)
                        cr_expect_neq(frames_find(&seen, t->pages.entries[i].pgno), 0,
                                "page %u has no frame", t->pages.entries[i].pgno);
}

/* Reads the log from a frame on; all frames belong to exactly one transaction. The map gets what
 * is there at the end. */
static struct summary read_log(struct source_fixture *f, uint32_t first, struct frames *base)
{
        struct database_header h = source_fixture_header(f);
        struct transactions log = {0};
        struct transaction t = {0};
        struct summary s = {0};
        int r;
        transactions_begin(&log, f->database, first, &h);
        while ((r = transactions_next(&log, &t)) == 1) {
                check_transaction(f, first, &t, &s);
                cr_assert_eq(frames_merge(base, &t.pages), 0);
                first = t.commit_frame + 1;
                s.transactions++;
                s.frames += t.frame_count;
                s.page_count = t.page_count;
        }
        cr_expect_eq(r, 0, "%s", strerror(-r));
        cr_expect_eq(first, h.max_frame + 1);
        cr_expect_eq(transactions_next(&log, &t), 0, "the end is the end");
        s.unsigned_frames = (unsigned)log.unsigned_frames;
        transaction_release(&t);
        return s;
}

/* The state after all transactions, against what the application reads. */
static void check_state(struct source_fixture *f, const struct frames *base, uint32_t page_count)
{
        static const char sql[] = "SELECT count(*), total(a), total(length(b)), max(b) FROM t";
        _cleanup_sqlite_ sqlite3 *db = source_fixture_rebuild(f, base, page_count);
        _cleanup_free_ char *is = source_fixture_dump(db, sql);
        _cleanup_free_ char *want = app_ask(&f->app, "%s", sql);
        _cleanup_free_ char *check = source_fixture_dump(db, "PRAGMA integrity_check");
        is[strcspn(is, "\n")] = '\0';
        cr_expect_str_eq(is, want);
        cr_expect_str_eq(check, "ok\n");
}

#define TABLE "CREATE TABLE t(a INTEGER PRIMARY KEY, b)"
/* Rows that fill many small pages. */
#define ROWS(n)                                                                                    \
        "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<" #n                \
        ") INSERT INTO t SELECT NULL, printf('%%0100d', x) FROM c"

Test(transactions, each_commit_is_one)
{
        struct source_fixture f;
        _cleanup_(frames_release) struct frames base = {0};
        source_fixture_open(&f, "PRAGMA page_size=512; " TABLE);
        app_run(&f.app, "INSERT INTO t VALUES(1, 1); INSERT INTO t VALUES(2, 2)");
        app_run(&f.app,
                "BEGIN; INSERT INTO t VALUES(3, 3); UPDATE t SET b=0; " ROWS(50) "; COMMIT");
        app_run(&f.app, "UPDATE t SET b=b WHERE a=1; BEGIN IMMEDIATE; COMMIT"); /* writes nothing */
        app_run(&f.app, "CREATE TABLE u(a)");
        struct summary s = read_log(&f, 1, &base);
        cr_expect_eq(s.transactions, 4, "%u", s.transactions);
        cr_expect_eq(s.unsigned_frames, 0);
        check_state(&f, &base, s.page_count);
        source_fixture_close(&f);
}

Test(transactions, reading_goes_on_where_it_stopped)
{
        struct source_fixture f;
        _cleanup_(frames_release) struct frames base = {0};
        source_fixture_open(&f, "PRAGMA page_size=512; " TABLE);
        app_run(&f.app, ROWS(20));
        read_log(&f, 1, &base);
        uint32_t last = source_fixture_header(&f).max_frame;
        struct summary s = read_log(&f, last + 1, &base);
        cr_expect_eq(s.transactions, 0, "nothing is new");
        app_run(&f.app, "INSERT INTO t VALUES(NULL, 1); DELETE FROM t WHERE a=1");
        s = read_log(&f, last + 1, &base);
        cr_expect_eq(s.transactions, 2, "%u", s.transactions);
        check_state(&f, &base, s.page_count);
        source_fixture_close(&f);
}

Test(transactions, a_log_without_a_frame_has_none)
{
        struct source_fixture f;
        _cleanup_(frames_release) struct frames base = {0};
        source_fixture_open(&f, TABLE);
        cr_expect_eq(read_log(&f, 1, &base).transactions, 0, "never written");
        app_run(&f.app, "INSERT INTO t VALUES(1, 1)");
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)"));
        cr_expect_eq(read_log(&f, 1, &base).transactions, 0, "truncated");
        app_run(&f.app, "INSERT INTO t VALUES(2, 2)");
        cr_expect_eq(read_log(&f, 1, &base).transactions, 1);
        source_fixture_close(&f);
}

/* A cache of few pages makes SQLite write pages into the log before the commit, some of them more
 * than once. */
Test(transactions, the_last_image_of_a_spilled_page_counts)
{
        struct source_fixture f;
        _cleanup_(frames_release) struct frames base = {0};
        source_fixture_open(&f, "PRAGMA page_size=512; " TABLE);
        app_run(&f.app, ROWS(300));
        app_run(&f.app, "PRAGMA cache_size=5");
        for (unsigned i = 0; i < 8; i++)
                app_run(&f.app,
                        "BEGIN; UPDATE t SET b=printf('%%0100d', a+%u); "
                        "UPDATE t SET b=printf('%%0100d', a*2) WHERE a > 280; "
                        "UPDATE t SET b=printf('%%0100d', a*3) WHERE a %% 13 = 0; "
                        "UPDATE t SET b=printf('%%0100d', a*4) WHERE a > 290; COMMIT",
                        i);
        struct summary s = read_log(&f, 1, &base);
        cr_expect_eq(s.transactions, 9, "%u", s.transactions);
        cr_expect_gt(s.repeated, 0, "this log has no page twice in a transaction");
        check_state(&f, &base, s.page_count);
        source_fixture_close(&f);
}

Test(transactions, what_was_rolled_back_does_not_exist)
{
        struct source_fixture f;
        _cleanup_(frames_release) struct frames base = {0};
        source_fixture_open(&f, "PRAGMA page_size=512; " TABLE);
        app_run(&f.app, ROWS(300) "; PRAGMA cache_size=5");
        uint32_t last = source_fixture_header(&f).max_frame;
        app_run(&f.app, "BEGIN; UPDATE t SET b='gone'; " ROWS(300));
        size_t spilled, now;
        free(source_fixture_copy(&f, "-wal", &spilled));
        cr_assert_gt(spilled, walframe_offset(last + 100, 512), "nothing was spilled");
        struct summary s = read_log(&f, 1, &base);
        cr_expect_eq(s.transactions, 1, "%u: a running transaction is no commit", s.transactions);

        app_run(&f.app, "ROLLBACK");
        s = read_log(&f, 1, &base);
        cr_expect_eq(s.transactions, 1, "%u", s.transactions);
        app_run(&f.app, "UPDATE t SET b='small' WHERE a=7");
        free(source_fixture_copy(&f, "-wal", &now));
        cr_expect_geq(now, spilled, "the tail still stands in the file");
        s = read_log(&f, 1, &base);
        cr_expect_eq(s.transactions, 2, "%u", s.transactions);
        cr_expect_eq(source_fixture_header(&f).max_frame, last + 1);
        check_state(&f, &base, s.page_count);
        source_fixture_close(&f);
}

Test(transactions, what_a_savepoint_took_back_does_not_count)
{
        struct source_fixture f;
        _cleanup_(frames_release) struct frames base = {0};
        source_fixture_open(&f, "PRAGMA page_size=512; " TABLE);
        app_run(&f.app, ROWS(300) "; PRAGMA cache_size=5");
        app_run(&f.app, "BEGIN; UPDATE t SET b=1 WHERE a < 100; SAVEPOINT s; "
                        "UPDATE t SET b='gone'; UPDATE t SET b='gone too'; DELETE FROM t; "
                        "ROLLBACK TO s; UPDATE t SET b=2 WHERE a BETWEEN 50 AND 150; COMMIT");
        app_run(&f.app, "UPDATE t SET b=3 WHERE a=300");
        struct summary s = read_log(&f, 1, &base);
        cr_expect_eq(s.transactions, 3, "%u", s.transactions);
        check_state(&f, &base, s.page_count);
        source_fixture_close(&f);
}

/* SQLite up to 3.49 can publish committed frames whose salt and checksum are zero: frames that
 * were overwritten within a savepoint that was rolled back. With a newer SQLite there are none. */
Test(transactions, committed_frames_with_zeroed_salts_are_delivered_and_counted)
{
        struct source_fixture f;
        _cleanup_(frames_release) struct frames base = {0};
        source_fixture_open(&f, "PRAGMA page_size=512; " TABLE);
        app_run(&f.app, ROWS(400) "; PRAGMA cache_size=5");
        app_run(&f.app, "BEGIN; UPDATE t SET b=printf('%%0100d', 1) WHERE a <= 40; SAVEPOINT s; "
                        "UPDATE t SET b=printf('%%0100d', 2) WHERE a > 200");
        for (unsigned i = 0; i < 4; i++)
                app_run(&f.app, "UPDATE t SET b=printf('%%0100d', %u) WHERE a > 350", 10 + i);
        app_run(&f.app, "ROLLBACK TO s; UPDATE t SET b=printf('%%0100d', 3) WHERE a BETWEEN 60 AND "
                        "80; COMMIT");
        app_run(&f.app, "INSERT INTO t VALUES(NULL, 'after')");
        struct summary s = read_log(&f, 1, &base);
        unsigned zeroed = 0;
        for (uint32_t i = 1; i <= source_fixture_header(&f).max_frame; i++) {
                struct walframe frame = read_frame(&f, i);
                zeroed += be64(frame.salt) == 0;
        }
        cr_expect_eq(s.transactions, 3, "%u", s.transactions);
        cr_expect_eq(s.unsigned_frames, zeroed, "%u, not %u", s.unsigned_frames, zeroed);
        if (app_number(&f.app, "SELECT sqlite_version() < '3.49'"))
                cr_expect_gt(zeroed, 0, "this log has no zeroed frame");
        check_state(&f, &base, s.page_count);
        source_fixture_close(&f);
}

Test(transactions, the_count_of_unsigned_frames_goes_on_over_begins)
{
        struct source_fixture f;
        source_fixture_open(&f, TABLE);
        app_run(&f.app, "INSERT INTO t VALUES(1, 1); INSERT INTO t VALUES(2, 2)");
        struct database_header h = source_fixture_header(&f);
        struct transactions log = {0};
        struct transaction t = {0};
        h.salt[0]++;
        for (unsigned round = 1; round <= 3; round++) {
                transactions_begin(&log, f.database, 1, &h);
                while (transactions_next(&log, &t) == 1)
                        ;
                cr_expect_eq(log.unsigned_frames, 2 * round, "%lu", log.unsigned_frames);
        }
        transaction_release(&t);
        source_fixture_close(&f);
}

/* With auto_vacuum a transaction can spill pages and then give them back before it commits. */
Test(transactions, pages_beyond_the_size_after_the_commit_are_left_out)
{
        struct source_fixture f;
        _cleanup_(frames_release) struct frames base = {0};
        source_fixture_open(&f, "PRAGMA page_size=512; PRAGMA auto_vacuum=FULL; " TABLE);
        app_run(&f.app, ROWS(20) "; PRAGMA cache_size=5");
        app_run(&f.app, "BEGIN; " ROWS(400) "; DELETE FROM t WHERE a > 30; COMMIT");
        struct summary s = read_log(&f, 1, &base);
        cr_expect_eq(s.transactions, 2, "%u", s.transactions);
        cr_expect_gt(s.left_out, 50, "%u pages were left out", s.left_out);
        cr_expect_eq(s.page_count, app_number(&f.app, "PRAGMA page_count"));
        check_state(&f, &base, s.page_count);
        source_fixture_close(&f);
}

/* A VFS without powersafe overwrite fills the sector with repeated commit frames. */
Test(transactions, repeated_commit_frames_are_commits_of_one_page)
{
        struct source_fixture f;
        char uri[600];
        _cleanup_(frames_release) struct frames base = {0};
        source_fixture_make(&f, "PRAGMA page_size=512; " TABLE);
        app_close(&f.app);
        snprintf(uri, sizeof uri, "file:%s?psow=0", f.path);
        app_open(&f.app, uri);
        app_run(&f.app, "PRAGMA synchronous=FULL; INSERT INTO t VALUES(1, 1)");
        source_fixture_attach(&f);
        struct summary s = read_log(&f, 1, &base);
        cr_expect_gt(s.transactions, 1, "this log has no repeated commit");
        struct database_header h = source_fixture_header(&f);
        for (uint32_t i = h.max_frame - s.transactions + 1; i <= h.max_frame; i++)
                cr_expect_eq(read_frame(&f, i).pgno, read_frame(&f, h.max_frame).pgno);
        check_state(&f, &base, s.page_count);
        source_fixture_close(&f);
}

/* ---- what cannot be ---- */

static int read_all(
        const struct source_fixture *f, const struct database_header *h, unsigned *ret_count)
{
        struct transactions log = {0};
        struct transaction t = {0};
        int r;
        *ret_count = 0;
        transactions_begin(&log, f->database, 1, h);
        while ((r = transactions_next(&log, &t)) == 1)
                ++*ret_count;
        cr_expect_eq(transactions_next(&log, &t), r, "the same again");
        transaction_release(&t);
        return r;
}

Test(transactions, an_end_without_a_commit_is_corrupt)
{
        struct source_fixture f;
        unsigned count;
        source_fixture_open(&f, "PRAGMA page_size=512; " TABLE);
        app_run(&f.app, "INSERT INTO t VALUES(1, 1)");
        app_run(&f.app, ROWS(20));
        struct database_header h = source_fixture_header(&f);
        uint32_t last = h.max_frame;
        cr_expect_eq(read_all(&f, &h, &count), 0);
        cr_expect_eq(count, 2);
        h.max_frame = last - 1;
        cr_expect_eq(read_all(&f, &h, &count), -EBADMSG);
        cr_expect_eq(count, 1, "what is whole comes first");
        h.max_frame = last + 1;
        cr_expect_eq(read_all(&f, &h, &count), -EBADMSG, "beyond the file");
        cr_expect_eq(count, 2);
        h.max_frame = 1000000;
        cr_expect_eq(read_all(&f, &h, &count), -EBADMSG, "far beyond the file");
        source_fixture_close(&f);
}

Test(transactions, a_frame_of_page_0_is_corrupt)
{
        struct source_fixture f;
        unsigned count;
        source_fixture_open(&f, "PRAGMA page_size=512; " TABLE);
        app_run(&f.app, "INSERT INTO t VALUES(1, 1); INSERT INTO t VALUES(2, 2)");
        struct run_result r = run("dd if=/dev/zero of=%s-wal bs=1 count=4 seek=%lu conv=notrunc",
                f.path, (unsigned long)walframe_offset(2, 512));
        cr_assert_eq(r.code, 0, "%s", r.text);
        run_release(&r);
        struct database_header h = source_fixture_header(&f);
        cr_expect_eq(read_all(&f, &h, &count), -EBADMSG);
        cr_expect_eq(count, 1);
        source_fixture_close(&f);
}

/* ---- everything at once ---- */

static void run_random_statement(struct source_fixture *f, struct prng *prng, unsigned *depth)
{
        unsigned a = 1 + prng_below(prng, 300), b = a + prng_below(prng, 200);
        switch (prng_below(prng, 7)) {
        case 0:
                app_send(&f->app, "INSERT INTO t SELECT NULL, b FROM t WHERE a < %u", b);
                break;
        case 1:
                app_send(&f->app, "DELETE FROM t WHERE a BETWEEN %u AND %u", a, b);
                break;
        case 2:
                app_send(&f->app, "UPDATE t SET b=zeroblob(%u) WHERE a=%u", 10 * b, a);
                break;
        case 3:
                app_send(&f->app, "SAVEPOINT s%u", (*depth)++);
                break;
        case 4:
                if (*depth > 0)
                        app_send(&f->app, "ROLLBACK TO s%u", prng_below(prng, *depth));
                break;
        default:
                app_send(&f->app, "UPDATE t SET b=printf('%%0100d', %u) WHERE a BETWEEN %u AND %u",
                        prng_below(prng, 1000), a, b);
        }
}

Test(transactions, random_ones_with_spills_and_savepoints_add_up)
{
        static const char *const formats[] = {"PRAGMA page_size=512; " TABLE,
                "PRAGMA page_size=1024; PRAGMA auto_vacuum=FULL; " TABLE};
        for (unsigned i = 0; i < 6; i++) {
                struct source_fixture f;
                struct prng prng = {1000 + i};
                _cleanup_(frames_release) struct frames base = {0};
                unsigned commits = 0;
                source_fixture_open(&f, formats[i % COUNT(formats)]);
                app_run(&f.app, ROWS(200) "; PRAGMA cache_size=%u", 5 + i);
                for (unsigned round = 0; round < 30; round++) {
                        unsigned depth = 0;
                        app_run(&f.app, "BEGIN");
                        for (unsigned k = prng_below(&prng, 8); k > 0; k--)
                                run_random_statement(&f, &prng, &depth);
                        app_run(&f.app, "INSERT OR REPLACE INTO t VALUES(0, %u)", round);
                        bool is_kept = prng_below(&prng, 5) != 0;
                        app_run(&f.app, "%s", is_kept ? "COMMIT" : "ROLLBACK");
                        commits += is_kept;
                }
                struct summary s = read_log(&f, 1, &base);
                cr_expect_eq(s.transactions, 1 + commits, "seed %u: %u, not %u", i, s.transactions,
                        1 + commits);
                check_state(&f, &base, s.page_count);
                source_fixture_close(&f);
        }
}
