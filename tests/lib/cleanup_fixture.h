/* SPDX-License-Identifier: MIT
 *
 * cleanup_fixture: steps of cleanup on a store that files_fixture has filled: commit N has LSN
 * 1:N:1 and was made N seconds after the fixture's begin.
 */
#ifndef CDC_TEST_CLEANUP_FIXTURE_H
#define CDC_TEST_CLEANUP_FIXTURE_H

#include <criterion/criterion.h>

#include "files_fixture.h"
#include "memory/cleanup.h"

#define SECOND INT64_C(1000000000)

static inline struct lsn cleanup_lsn(uint32_t frame)
{
        return lsn_make(1, frame, LSN_SLOT_COMMIT);
}

/* What is published was listed at this running time. */
static inline void cleanup_note(struct files_fixture *f, int64_t running_ns)
{
        store_fixture_begin(&f->base);
        cr_assert_eq(cleanup_note_listed(f->base.store, running_ns), 0);
        store_fixture_commit(&f->base);
}

/* How many marks the job raised. */
static inline unsigned cleanup_job(
        struct files_fixture *f, int64_t retention_ns, int64_t running_ns)
{
        struct cleanup_now now = {.wall_ns = f->now_ns, .running_ns = running_ns};
        struct problem problem = {0};
        unsigned raised = 0;
        store_fixture_begin(&f->base);
        cr_assert_eq(cleanup_raise_all(f->base.store, &now, retention_ns, &raised, &problem), 0,
                "%s", problem.message);
        store_fixture_commit(&f->base);
        return raised;
}

/* The result of cleanup_raise; the number of its refusal. */
static inline int cleanup_by_hand(struct files_fixture *f, int64_t object_id, struct lsn mark,
        int64_t running_ns, int *ret_number)
{
        struct cleanup_now now = {.wall_ns = f->now_ns, .running_ns = running_ns};
        struct problem problem = {0};
        store_fixture_begin(&f->base);
        int r = cleanup_raise(f->base.store, &now, object_id, mark, &problem);
        *ret_number = problem.number;
        if (r < 0)
                store_rollback(f->base.store);
        else
                store_fixture_commit(&f->base);
        return r;
}

/* Purges to the end; the first number of an instance's failure, or 0. */
static inline int cleanup_purge_all(struct files_fixture *f, int64_t linger_ns, int64_t threshold,
        int64_t running_ns, struct cleanup_purge *ret_purge)
{
        struct cleanup_now now = {.wall_ns = f->now_ns, .running_ns = running_ns};
        struct cleanup_limits limits = {linger_ns, threshold};
        struct cleanup_purge purge = {0};
        int r, number = 0;
        do {
                struct problem problem = {0};
                r = cleanup_purge(f->base.store, &now, &limits, &purge, &problem);
                number = number ? number : problem.number;
        } while (r > 0);
        cr_assert_eq(r, 0);
        *ret_purge = purge;
        return number;
}

/* `FROM-TO` of the listed csv files of an instance, as frames and slots, and of its open file. */
static inline char *cleanup_listing(struct files_fixture *f, int64_t object_id)
{
        char sql[512];
        snprintf(sql, sizeof sql,
                "SELECT group_concat(hex(substr(from_lsn, 8)) || '-' ||"
                "  coalesce(hex(substr(to_lsn, 8)), ''), ' ') FROM (SELECT * FROM cdcfs_files"
                " WHERE object_id = %lld AND format = 'csv' AND NOT is_withdrawn ORDER BY ordinal)",
                (long long)object_id);
        return store_fixture_text(&f->base, sql);
}

static inline char *cleanup_mark(struct files_fixture *f, int64_t object_id)
{
        char sql[200];
        snprintf(sql, sizeof sql,
                "SELECT hex(substr(start_lsn, 8)) FROM change_tables WHERE object_id = %lld",
                (long long)object_id);
        return store_fixture_text(&f->base, sql);
}

#define EXPECT_LISTING(f, id, mark, text)                                                          \
        do {                                                                                       \
                _cleanup_free_ char *is_mark = cleanup_mark(f, id);                                \
                _cleanup_free_ char *is_listing = cleanup_listing(f, id);                          \
                cr_expect_str_eq(is_mark, mark, "mark %s", is_mark);                               \
                cr_expect_str_eq(is_listing, text, "files %s", is_listing);                        \
        } while (0)

#endif
