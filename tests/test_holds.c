/* SPDX-License-Identifier: MIT
 *
 * holds: which hold is the lowest, when it ends, and which one yields.
 */
#include "memory/holds.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "changes_fixture.h"

static void set(struct store_fixture *f, int64_t object_id, const char *name, uint32_t frame,
        int64_t expires_ns)
{
        struct hold hold = {.object_id = object_id,
                .name = name,
                .lsn = changes_fixture_lsn(frame),
                .created_ns = STORE_FIXTURE_NOW,
                .expires_ns = expires_ns};
        store_fixture_begin(f);
        cr_assert_eq(holds_set(f->store, &hold), 0);
        store_fixture_commit(f);
}

/* The commit frame of the lowest hold; 0 = none. */
static uint32_t lowest(struct store_fixture *f, int64_t object_id, int64_t now_ns)
{
        struct lsn lsn;
        _cleanup_free_ char *name = NULL;
        int r = holds_find_lowest(store_db(f->store), object_id, now_ns, &lsn, &name);
        cr_assert_geq(r, 0);
        return r > 0 ? lsn_frame(lsn) : 0;
}

Test(holds, the_lowest_live_one_counts_and_a_consumer_moves_on)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = changes_fixture_enable(&f, "main_t"), now = STORE_FIXTURE_NOW;
        int64_t other = changes_fixture_enable(&f, "other");
        cr_expect_eq(lowest(&f, id, now), 0);
        set(&f, id, "a", 5, 0);
        set(&f, id, "b", 3, now + 1000000);
        set(&f, other, "a", 1, 0);
        cr_expect_eq(lowest(&f, id, now), 3);
        cr_expect_eq(lowest(&f, id, now + 1000000), 5, "b is over");
        set(&f, id, "b", 9, 0);
        cr_expect_eq(lowest(&f, id, now), 5);
        store_fixture_begin(&f);
        cr_expect_eq(holds_remove(f.store, id, "a"), 0);
        cr_expect_eq(holds_remove(f.store, id, "a"), -ENOENT);
        store_fixture_commit(&f);
        cr_expect_eq(lowest(&f, id, now), 9);
        store_fixture_close(&f);
}

Test(holds, the_lowest_of_all_yields_and_stays_on_record)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = changes_fixture_enable(&f, "main_t"), now = STORE_FIXTURE_NOW;
        set(&f, id, "slow", 3, 0);
        set(&f, id, "fast", 5, 0);
        _cleanup_free_ char *line = NULL, *second = NULL, *third = NULL;
        store_fixture_begin(&f);
        cr_assert_eq(holds_yield(f.store, now, &line), 1);
        cr_expect_not_null(strstr(line, "'slow' on main_t"), "%s", line);
        store_fixture_commit(&f);
        cr_expect_eq(lowest(&f, id, now), 5);
        cr_expect_eq(store_fixture_integer(&f,
                             "SELECT count(*) FROM cdcfs_holds WHERE name = 'slow' AND yielded "
                             "= '2026-11-30T10:00:00.000000Z'"),
                1);
        store_fixture_begin(&f);
        cr_expect_eq(holds_yield(f.store, now, &second), 1);
        cr_expect_eq(holds_yield(f.store, now, &third), 0);
        store_fixture_commit(&f);
        set(&f, id, "slow", 7, 0);
        cr_expect_eq(lowest(&f, id, now), 7, "set anew it holds again");
        store_fixture_close(&f);
}
