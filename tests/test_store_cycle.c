/* SPDX-License-Identifier: MIT
 *
 * A scan cycle is one store transaction over all rooms of this floor. Here a writer is killed at
 * every point of it, and what the next one finds must be whole cycles.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "memory/changetable.h"
#include "memory/history.h"
#include "memory/mapping.h"
#include "memory/segments.h"
#include "memory/sessions.h"
#include "store_fixture.h"

enum { ROWS = 5, CYCLES = 3, POINTS = 10 };

static const struct files_format formats[] = {{"csv", 1}, {"jsonl", 1}};
static const struct segments_limits limits = SEGMENTS_LIMITS_DEFAULT;

/* What a capture thread has in its hands. */
struct writer {
        struct store *store;
        struct state state;
        struct instances instances;
        struct segments *segments;
        struct sessions *sessions;
        unsigned cycle;
        unsigned die_in; /* the cycle and the point of it where the process ends */
        unsigned die_at;
};

static void check(int r)
{
        if (r < 0)
                _exit(1);
}

static void point(const struct writer *w, unsigned number)
{
        if (w->cycle == w->die_in && number == w->die_at)
                raise(SIGKILL);
}

static void append_rows(struct writer *w, struct lsn lsn)
{
        static const uint8_t mask[] = {1}, bytes[3000];
        const struct value value = {
                .type = VALUE_BLOB, .size = sizeof bytes, .bytes = bytes}; /* spills the cache */
        for (uint32_t i = 0; i < ROWS; i++) {
                struct change change = {.object_id = w->instances.items[0].object_id,
                        .operation = CHANGE_INSERT,
                        .columns = 1,
                        .after = &value,
                        .mask = mask};
                uint64_t number = w->state.next_change++;
                check(changetable_append(
                        w->store, &w->instances.items[0], &change, lsn, number, i + 1));
                segments_add(w->segments, &change, number, STORE_FIXTURE_NOW, STORE_FIXTURE_NOW);
                point(w, i == 2 ? 2 : 99);
        }
}

static void run_cycle(struct writer *w)
{
        struct lsn lsn = lsn_make(1, w->cycle * 10, 1);
        struct mapping_row row = {.start_lsn = lsn,
                .end_ns = STORE_FIXTURE_NOW,
                .tran_id = {1},
                .first_change = w->state.next_change,
                .change_count = ROWS};
        unsigned closed = 0;
        sessions_begin(w->sessions, STORE_FIXTURE_NOW);
        point(w, 0);
        check(store_begin(w->store));
        point(w, 1);
        append_rows(w, lsn);
        point(w, 3);
        check(mapping_append(w->store, &w->state, &row));
        point(w, 4);
        check(history_add_ddl(
                w->store, &(struct history_ddl){.object_id = 1, .command = "x", .lsn = lsn}));
        point(w, 5);
        check(segments_close(w->segments, w->store, &limits, lsn, SEGMENTS_ROTATE,
                w->state.next_change, STORE_FIXTURE_NOW, &closed));
        point(w, 6);
        sessions_end(w->sessions, &(struct sessions_counts){.tran_count = 1}, STORE_FIXTURE_NOW);
        check(sessions_flush(w->sessions, w->store));
        w->state.max_lsn = lsn;
        check(state_save(w->store, &w->state));
        point(w, 7);
        check(store_commit(w->store));
        point(w, 8);
        check(store_sync(w->store, NULL));
        point(w, 9);
}

/* Goes on where the store stands, until it dies or has done CYCLES cycles in all. */
static void run_writer(const char *path, unsigned die_in, unsigned die_at)
{
        struct writer w = {.sessions = sessions_new(), .die_in = die_in, .die_at = die_at};
        check(store_open(path, STORE_WRITE, NULL, &w.store));
        check(state_load(w.store, &w.state));
        check(instances_load(w.store, &w.instances));
        check(store_begin(w.store));
        check(segments_load(w.store, formats, COUNT(formats), &w.segments));
        check(store_commit(w.store));
        for (w.cycle = lsn_frame(w.state.max_lsn) / 10 + 1; w.cycle <= CYCLES; w.cycle++)
                run_cycle(&w);
        segments_free(w.segments);
        sessions_free(w.sessions);
        instances_release(&w.instances);
        state_release(&w.state);
        store_close(w.store);
}

static int in_child(const char *path, unsigned die_in, unsigned die_at)
{
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
                run_writer(path, die_in, die_at);
                _exit(0);
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        return status;
}

static void expect_whole_cycles(struct store_fixture *f, unsigned cycles, unsigned at)
{
        char expected[200];
        snprintf(expected, sizeof expected, "%u %u %u %u %u %u ok", cycles * ROWS, cycles, cycles,
                cycles * 2, cycles, cycles * ROWS + 1);
        _cleanup_free_ char *found =
                store_fixture_text(f, "SELECT (SELECT count(*) FROM main_t_CT) || ' ' ||"
                                      " (SELECT count(*) FROM lsn_time_mapping) || ' ' ||"
                                      " (SELECT count(*) FROM ddl_history) || ' ' ||"
                                      " (SELECT count(*) FROM cdcfs_files WHERE to_lsn IS NOT NULL"
                                      " AND object_id > 0) || ' ' ||"
                                      " (SELECT count(*) FROM cdcfs_segments) || ' ' ||"
                                      " (SELECT next_change FROM cdcfs_state) || ' ' ||"
                                      " (SELECT * FROM pragma_integrity_check)");
        cr_expect_str_eq(found, expected, "killed at %u: %s", at, found);
}

Test(store_cycle, a_writer_killed_anywhere_leaves_whole_cycles_and_the_next_goes_on)
{
        for (unsigned at = 0; at < POINTS; at++) {
                struct store_fixture f;
                store_fixture_open(&f, TEXT_UTF8);
                int64_t object_id = store_fixture_enable(&f, "CREATE TABLE t(a)", "t", NULL);
                cr_assert_eq(instances_recognise(f.store, object_id, lsn_make(1, 1, 1)), 0);
                store_close(f.store);
                f.store = NULL;

                int status = in_child(f.path, 2, at);
                cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%u: %x", at, status);
                cr_assert_eq(store_open(f.path, STORE_WRITE, NULL, &f.store), 0);
                expect_whole_cycles(&f, at >= 8 ? 2 : 1, at);
                store_close(f.store);
                f.store = NULL;

                status = in_child(f.path, 0, 0);
                cr_expect_eq(status, 0, "%u: %x", at, status);
                cr_assert_eq(store_open(f.path, STORE_WRITE, NULL, &f.store), 0);
                expect_whole_cycles(&f, CYCLES, at);
                cr_expect_eq(store_fixture_integer(&f,
                                     "SELECT count(*) = max(rowid) / 2 AND min(rowid) = 3"
                                     " FROM main_t_CT"),
                        1, "change numbers have no hole");
                store_fixture_close(&f);
        }
}
