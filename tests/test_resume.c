/* SPDX-License-Identifier: MIT
 *
 * The decision alone: a position, then what became of the log.
 */
#include <criterion/criterion.h>

#include "app.h"
#include "bytes/walframe.h"
#include "desk/resume.h"
#include "ground/cleanup.h"
#include "ground/hash.h"
#include "source/pages.h"

struct fixture {
        struct tmp tmp;
        char path[600];
        struct app app;
        struct identity identity;
        struct database *database;
        struct state state;
};

static void look(struct fixture *x)
{
        tmp_check(identity_claim(x->path, &x->identity, NULL) == 0, "identity_claim");
        tmp_check(database_open(x->path, &x->database, NULL) == 0, "database_open");
}

static void look_away(struct fixture *x)
{
        database_close(x->database);
        identity_release(&x->identity);
        x->database = NULL;
}

static void setup(struct fixture *x)
{
        memset(x, 0, sizeof *x);
        tmp_open(&x->tmp);
        snprintf(x->path, sizeof x->path, "%s/app.db", x->tmp.directory);
        app_open(&x->app, x->path);
        free(app_ask(&x->app, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0"));
        app_run(&x->app, "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES(1, 1)");
}

static void teardown(struct fixture *x)
{
        app_close(&x->app);
        tmp_close(&x->tmp);
}

/* Notes the end of the log as the captured position. */
static void note(struct fixture *x, bool is_backfilled)
{
        struct database_header h;
        struct resume_file file;
        look(x);
        cr_assert_eq(database_header(x->database, &h), 0);
        _cleanup_free_ uint8_t *page = malloc(x->database->page_size);
        struct state *s = &x->state;
        s->generation = 1;
        s->page_size = x->database->page_size;
        s->source_inode = x->identity.inode;
        s->wal_frame = h.max_frame;
        memcpy(s->wal_salt, h.salt, sizeof s->wal_salt);
        if (h.max_frame > 0) {
                uint64_t offset = walframe_offset(h.max_frame, s->page_size);
                cr_assert_eq(database_read_wal(x->database, offset, s->wal_frame_header, 24), 0);
                cr_assert_eq(pages_read_frame(x->database, h.max_frame, page), 0);
                s->wal_frame_hash = hash_bytes64(page, s->page_size);
        }
        cr_assert_eq(resume_look(x->database, &x->identity, &file), 0);
        s->is_backfilled = is_backfilled;
        s->source_size = file.size;
        s->source_mtime_ns = file.mtime_ns;
        s->source_change_counter = file.change_counter;
        look_away(x);
}

static enum resume_verdict decide(struct fixture *x, bool is_held, const char **ret_cause)
{
        struct database_header h;
        enum resume_verdict verdict;
        *ret_cause = "";
        look(x);
        cr_assert_eq(database_header(x->database, &h), 0);
        cr_assert_eq(resume_decide(x->database, &x->identity, &h, &x->state, is_held, &verdict,
                             ret_cause),
                0);
        look_away(x);
        return verdict;
}

Test(resume, goes_on_exactly_or_names_the_gap)
{
        static const struct {
                const char *name;
                const char *before; /* the position is noted */
                bool is_backfilled;
                const char *meanwhile;
                enum resume_verdict verdict;
                const char *cause;
        } cases[] = {
                {"nothing", "", false, "", RESUME_EXACT, NULL},
                {"commits", "", false, "UPDATE t SET v = 2; INSERT INTO t VALUES(2, 2)",
                        RESUME_EXACT, NULL},
                {"a page written unchanged",
                        "CREATE TABLE u(a); PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO u "
                        "VALUES(0)",
                        false,
                        "BEGIN; SAVEPOINT s; UPDATE t SET v = 5; ROLLBACK TO s; INSERT INTO u "
                        "VALUES(1); COMMIT",
                        RESUME_EXACT, NULL},
                {"copied up to the position", "", false, "PRAGMA wal_checkpoint", RESUME_EXACT,
                        NULL},
                {"copied beyond", "", false, "UPDATE t SET v = 2; PRAGMA wal_checkpoint",
                        RESUME_GAP, "went past"},
                {"restarted", "", false, "PRAGMA wal_checkpoint(RESTART); UPDATE t SET v = 2",
                        RESUME_GAP, "restarted"},
                {"truncated", "", false, "PRAGMA wal_checkpoint(TRUNCATE)", RESUME_GAP,
                        "restarted"},
                {"restarted behind a whole file", "PRAGMA wal_checkpoint(PASSIVE)", true,
                        "UPDATE t SET v = 2", RESUME_EXACT, NULL},
                {"restarted and copied", "PRAGMA wal_checkpoint(PASSIVE)", true,
                        "UPDATE t SET v = 2; PRAGMA wal_checkpoint(PASSIVE)", RESUME_GAP,
                        "restarted"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct fixture x;
                const char *cause;
                setup(&x);
                free(app_ask(&x.app, "%s", cases[i].before));
                note(&x, cases[i].is_backfilled);
                usleep(10000); /* a write has a later mtime */
                free(app_ask(&x.app, "%s", cases[i].meanwhile));
                cr_expect_eq(decide(&x, false, &cause), cases[i].verdict, "%s: %s", cases[i].name,
                        cause);
                if (cases[i].cause)
                        cr_expect_not_null(
                                strstr(cause, cases[i].cause), "%s: %s", cases[i].name, cause);
                teardown(&x);
        }
}

/* The pin of this process proves what otherwise only the note of the file does. */
Test(resume, a_log_that_was_held_is_restarted_only_behind_the_position)
{
        static const struct {
                const char *before, *meanwhile;
                enum resume_verdict verdict;
        } cases[] = {
                {"PRAGMA wal_checkpoint(PASSIVE)", "UPDATE t SET v = 2", RESUME_EXACT},
                {"PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(TRUNCATE)", RESUME_EXACT},
                {"", "UPDATE t SET v = 2", RESUME_EXACT},
                {"", "UPDATE t SET v = 2; PRAGMA wal_checkpoint", RESUME_GAP},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct fixture x;
                const char *cause;
                setup(&x);
                free(app_ask(&x.app, "%s", cases[i].before));
                note(&x, false);
                free(app_ask(&x.app, "%s", cases[i].meanwhile));
                cr_expect_eq(decide(&x, true, &cause), cases[i].verdict, "%zu: %s", i, cause);
                teardown(&x);
        }
}

Test(resume, a_store_without_a_position_is_fresh)
{
        struct fixture x;
        const char *cause;
        setup(&x);
        cr_expect_eq(decide(&x, false, &cause), RESUME_FRESH);
        teardown(&x);
}

/* Commits that SQLite itself lost in a crash: the log ends before the position, or holds others. */
Test(resume, commits_that_were_taken_back_are_a_gap)
{
        struct fixture x;
        const char *cause;
        setup(&x);
        note(&x, false);
        x.state.wal_frame += 5;
        cr_expect_eq(decide(&x, false, &cause), RESUME_GAP);
        cr_expect_not_null(strstr(cause, "took commits back"), "%s", cause);
        x.state.wal_frame -= 5;
        x.state.wal_frame_hash++;
        cr_expect_eq(decide(&x, false, &cause), RESUME_GAP);
        cr_expect_not_null(strstr(cause, "took commits back"), "%s", cause);
        teardown(&x);
}

Test(resume, another_file_is_a_gap)
{
        struct fixture x;
        const char *cause;
        setup(&x);
        note(&x, false);
        x.state.source_inode++;
        cr_expect_eq(decide(&x, false, &cause), RESUME_GAP);
        cr_expect_not_null(strstr(cause, "replaced"), "%s", cause);
        teardown(&x);
}

/* After a recovery the index says that nothing was copied, whatever was. */
Test(resume, a_recovery_hides_no_copied_page)
{
        struct fixture x;
        const char *cause;
        char shm[620];
        setup(&x);
        note(&x, false);
        free(app_ask(&x.app, "CREATE TABLE u(a); INSERT INTO u VALUES(1); PRAGMA wal_checkpoint"));
        app_kill(&x.app);
        snprintf(shm, sizeof shm, "%s-shm", x.path);
        unlink(shm);
        app_open(&x.app, x.path);
        free(app_ask(&x.app, "SELECT count(*) FROM t"));
        cr_expect_eq(decide(&x, false, &cause), RESUME_GAP);
        cr_expect_not_null(strstr(cause, "went past"), "%s", cause);
        teardown(&x);
}
