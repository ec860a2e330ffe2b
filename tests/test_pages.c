/* SPDX-License-Identifier: MIT
 *
 * Pages as of a commit: which image is taken, and whole states rebuilt from them against what
 * SQLite read at those states.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/walframe.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "prng.h"
#include "source/pages.h"
#include "source_fixture.h"

Test(pages, the_newest_image_up_to_the_state_is_taken)
{
        struct source_fixture f;
        size_t main_size, wal_size;
        _cleanup_(frames_release) struct frames base = {0}, changed = {0};
        uint8_t page[4096];
        source_fixture_open(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
        app_run(&f.app, "UPDATE t SET a=2; UPDATE t SET a=3");
        _cleanup_free_ char *file = source_fixture_copy(&f, "", &main_size);
        _cleanup_free_ char *log = source_fixture_copy(&f, "-wal", &wal_size);
        const char *images[] = {file + 4096, log + walframe_offset(1, 4096) + WALFRAME_HEADER,
                log + walframe_offset(2, 4096) + WALFRAME_HEADER};
        struct pages pages = {.database = f.database, .base = &base, .changed = &changed};

        cr_expect_eq(pages_read_frame(f.database, 1, page), 0);
        cr_expect_eq(memcmp(page, images[1], 4096), 0);
        cr_expect_eq(pages_read_main(f.database, 2, page), 0);
        cr_expect_eq(memcmp(page, images[0], 4096), 0);

        static const struct {
                uint32_t base, changed; /* frame of page 2 in either map */
                unsigned old_image, new_image;
        } cases[] = {{0, 0, 0, 0}, {0, 1, 0, 1}, {1, 0, 1, 1}, {1, 2, 1, 2}, {2, 0, 2, 2}};
        for (unsigned i = 0; i < COUNT(cases); i++) {
                frames_clear(&base);
                frames_clear(&changed);
                cr_assert_eq(frames_put(&base, 1000, 77), 0, "another page");
                if (cases[i].base)
                        cr_assert_eq(frames_put(&base, 2, cases[i].base), 0);
                if (cases[i].changed)
                        cr_assert_eq(frames_put(&changed, 2, cases[i].changed), 0);
                cr_assert_eq(pages_read_old(&pages, 2, page), 0, "case %u", i);
                cr_expect_eq(memcmp(page, images[cases[i].old_image], 4096), 0, "case %u, old", i);
                cr_assert_eq(pages_read_new(&pages, 2, page), 0, "case %u", i);
                cr_expect_eq(memcmp(page, images[cases[i].new_image], 4096), 0, "case %u, new", i);
                cr_expect_eq(pages_read_old(&pages, 1, page), 0);
                cr_expect_eq(memcmp(page, file, 4096), 0, "page 1 is in no log");
        }
        source_fixture_close(&f);
}

Test(pages, what_lies_behind_the_files_is_an_error)
{
        struct source_fixture f;
        _cleanup_(frames_release) struct frames base = {0}, changed = {0};
        uint8_t page[4096];
        source_fixture_open(&f, "CREATE TABLE t(a)");
        app_run(&f.app, "INSERT INTO t VALUES(1)");
        struct pages pages = {.database = f.database, .base = &base, .changed = &changed};
        static const uint32_t numbers[] = {3, 4, 1000000, 0x80000000, UINT32_MAX, 0};
        for (unsigned i = 0; i < COUNT(numbers); i++) {
                cr_expect_eq(
                        pages_read_main(f.database, numbers[i], page), -EBADMSG, "%u", numbers[i]);
                cr_expect_eq(pages_read_old(&pages, numbers[i], page), -EBADMSG, "%u", numbers[i]);
                cr_expect_eq(pages_read_new(&pages, numbers[i], page), -EBADMSG, "%u", numbers[i]);
                if (numbers[i] > 1)
                        cr_expect_eq(pages_read_frame(f.database, numbers[i], page), -EBADMSG, "%u",
                                numbers[i]);
        }
        cr_assert_eq(frames_put(&changed, 2, 5), 0);
        cr_expect_eq(pages_read_new(&pages, 2, page), -EBADMSG);
        cr_expect_eq(pages_read_old(&pages, 2, page), 0);
        source_fixture_close(&f);
}

/* Every commit of a random workload, as the pages say and as SQLite said right after it. */
static void check_states(const char *format, unsigned seed)
{
        enum { COMMITS = 25, PINNED = 8, CHECKPOINT = 15 };
        struct source_fixture f;
        _cleanup_sqlite_ sqlite3 *pin = NULL;
        struct prng prng = {seed};
        char *dumps[COMMITS + 1];
        source_fixture_make(&f, format);
        app_run(&f.app, "CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE INDEX i ON t(b)");
        free(app_ask(&f.app, "PRAGMA wal_checkpoint(TRUNCATE)"));
        source_fixture_attach(&f);
        cr_assert_eq(database_connect(f.database, &pin), 0);
        for (unsigned i = 1; i <= COMMITS; i++) {
                unsigned key = prng_below(&prng, 40);
                unsigned size = 1 + prng_below(&prng, prng_below(&prng, 4) ? 300 : 9000);
                app_run(&f.app,
                        "BEGIN; INSERT OR REPLACE INTO t VALUES(%u, printf('%%0*d', %u, %u)); "
                        "DELETE FROM t WHERE a %% 7 = %u; "
                        "INSERT INTO t(b) SELECT b FROM t LIMIT %u; COMMIT",
                        key, size, i, prng_below(&prng, 7), prng_below(&prng, 30));
                dumps[i] = app_ask(&f.app, "SELECT * FROM t; PRAGMA page_count");
                if (i == PINNED)
                        cr_assert_eq(sqlite3_exec(pin, "BEGIN; SELECT * FROM t", NULL, NULL, NULL),
                                SQLITE_OK);
                if (i == CHECKPOINT)
                        free(app_ask(&f.app, "PRAGMA wal_checkpoint(PASSIVE)"));
        }

        /* The file holds the state of the pinned commit for good; later ones can be rebuilt. */
        struct database_header h = source_fixture_header(&f);
        struct transactions log = {0};
        struct transaction t = {0};
        _cleanup_(frames_release) struct frames base = {0};
        transactions_begin(&log, f.database, 1, &h);
        for (unsigned i = 1; i <= COMMITS; i++) {
                struct pages pages = {.database = f.database, .base = &base, .changed = &t.pages};
                _cleanup_free_ uint8_t *page = malloc(f.database->page_size);
                cr_assert_eq(transactions_next(&log, &t), 1, "%s, commit %u", format, i);
                cr_assert_eq(pages_read_new(&pages, 1, page), 0);
                cr_expect_eq(be32(page + 28), t.page_count, "%s, commit %u", format, i);
                cr_assert_eq(frames_merge(&base, &t.pages), 0);
                if (i >= PINNED) {
                        _cleanup_sqlite_ sqlite3 *db =
                                source_fixture_rebuild(&f, &base, t.page_count);
                        _cleanup_free_ char *is = source_fixture_dump(db,
                                "SELECT a || '|' || b FROM t UNION ALL SELECT page_count FROM "
                                "pragma_page_count");
                        _cleanup_free_ char *check =
                                source_fixture_dump(db, "PRAGMA integrity_check");
                        is[strlen(is) - 1] = '\0';
                        cr_expect_str_eq(is, dumps[i], "%s, commit %u", format, i);
                        cr_expect_str_eq(check, "ok\n", "%s, commit %u: %s", format, i, check);
                }
                free(dumps[i]);
        }
        cr_expect_eq(transactions_next(&log, &t), 0);
        cr_expect_gt(h.backfilled, 0);
        transaction_release(&t);
        sqlite3_close_v2(steal(pin));
        source_fixture_close(&f);
}

Test(pages, states_are_what_sqlite_read_at_them)
{
        static const char *const formats[] = {
                "PRAGMA page_size=512",
                "PRAGMA page_size=512; PRAGMA auto_vacuum=FULL",
                "PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL",
                "PRAGMA page_size=65536",
        };
        for (unsigned i = 0; i < COUNT(formats); i++)
                check_states(formats[i], 100 + i);
}
