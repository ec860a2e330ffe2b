/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/history.h"
#include "store_fixture.h"

static int64_t add_gap(struct store_fixture *f, int64_t object_id, uint32_t from, uint32_t to)
{
        int64_t gap = 0;
        cr_assert_eq(history_add_gap(f->store,
                             &(struct history_gap){.object_id = object_id,
                                     .from = lsn_make(1, from, 1),
                                     .to = lsn_make(1, to, 1),
                                     .is_open = to == 0,
                                     .time_ns = STORE_FIXTURE_NOW,
                                     .cause = "lost"},
                             &gap),
                0);
        return gap;
}

Test(history, ddl_is_kept_as_sql_servers_view_shows_it)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(history_add_ddl(f.store, &(struct history_ddl){.source_object_id = 3,
                                                      .object_id = 4,
                                                      .required_column_update = true,
                                                      .command = "ALTER TABLE \"t\" ADD COLUMN x",
                                                      .lsn = lsn_make(1, 2, 1),
                                                      .time_ns = STORE_FIXTURE_NOW}),
                0);
        _cleanup_free_ char *row = store_fixture_text(&f,
                "SELECT source_object_id || ' ' || object_id || ' ' || required_column_update ||"
                " ' ' || ddl_command || ' ' || hex(ddl_lsn) || ' ' || ddl_time FROM ddl_history");
        cr_expect_str_eq(row, "3 4 1 ALTER TABLE \"t\" ADD COLUMN x 00000001000000020001 "
                              "2026-11-30T10:00:00.000000Z");
        store_fixture_close(&f);
}

Test(history, a_range_finds_the_first_gap_that_it_touches)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t whole = add_gap(&f, 0, 10, 20);
        int64_t own = add_gap(&f, 7, 15, 30);
        int64_t open = add_gap(&f, 8, 100, 0);
        const struct {
                int64_t object_id;
                uint32_t from, to;
                int64_t gap; /* 0 = none */
        } cases[] = {
                {7, 1, 9, 0},
                {7, 1, 10, whole},
                {7, 20, 25, whole},
                {7, 21, 25, own},
                {7, 30, 99, own},
                {7, 31, 99, 0},
                {7, 100, 200, 0},
                {9, 21, 99, 0},
                {9, 12, 13, whole},
                {8, 21, 99, 0},
                {8, 21, 100, open},
                {8, 5000, 6000, open},
                {0, 21, 6000, 0},
                {0, 1, 6000, whole},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct history_gap gap = {0};
                int r = history_find_gap(store_db(f.store), cases[i].object_id,
                        lsn_make(1, cases[i].from, 1), lsn_make(1, cases[i].to, 1), &gap);
                cr_expect_eq(r, cases[i].gap > 0, "%zu", i);
                cr_expect_eq(gap.gap, cases[i].gap, "%zu", i);
                if (r > 0)
                        cr_expect_str_eq(gap.cause, "lost");
                history_gap_release(&gap);
        }
        store_fixture_close(&f);
}

Test(history, the_gaps_of_an_instance_come_with_those_of_the_database)
{
        struct store_fixture f;
        struct history_gaps gaps;
        static const struct {
                int64_t object_id;
                size_t count;
        } cases[] = {{0, 3}, {7, 2}, {8, 2}, {9, 1}};
        store_fixture_open(&f, TEXT_UTF8);
        add_gap(&f, 0, 10, 20);
        add_gap(&f, 7, 15, 30);
        add_gap(&f, 8, 100, 0);
        for (size_t i = 0; i < COUNT(cases); i++) {
                cr_assert_eq(history_load_gaps(store_db(f.store), cases[i].object_id, &gaps), 0);
                cr_expect_eq(gaps.count, cases[i].count, "%zu", i);
                cr_expect_eq(gaps.items[0].object_id, 0);
                cr_expect_eq(gaps.items[0].time_ns, STORE_FIXTURE_NOW);
                cr_expect_eq(lsn_frame(gaps.items[0].to), 20);
                cr_expect_not(gaps.items[0].is_open);
                history_gaps_release(&gaps);
        }
        store_fixture_close(&f);
}

Test(history, an_open_gap_is_closed_once_and_no_gap_ends_before_it_begins)
{
        struct store_fixture f;
        struct history_gap gap = {.from = lsn_make(1, 5, 1), .to = lsn_make(1, 4, 1), .cause = "x"};
        int64_t number = 0;
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_eq(history_add_gap(f.store, &gap, &number), -EINVAL);
        int64_t open = add_gap(&f, 7, 100, 0);
        cr_expect_eq(history_close_gap(f.store, open, lsn_make(1, 200, 1)), 0);
        cr_expect_eq(history_close_gap(f.store, open, lsn_make(1, 300, 1)), -ENOENT);
        cr_expect_eq(history_find_gap(
                             store_db(f.store), 7, lsn_make(1, 201, 1), lsn_make(1, 400, 1), &gap),
                0);
        store_fixture_close(&f);
}
