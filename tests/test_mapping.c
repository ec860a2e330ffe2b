/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/mapping.h"
#include "store_fixture.h"

static const int64_t second = INT64_C(1000000000);

/* Frames 10, 20, 30 … of generation 1, with one change number each; times as given. */
static void append(struct store_fixture *f, const int64_t *times, size_t count)
{
        struct state state;
        cr_assert_eq(state_load(f->store, &state), 0);
        store_fixture_begin(f);
        for (size_t i = 0; i < count; i++) {
                struct mapping_row row = {
                        .start_lsn = lsn_make(1, (uint32_t)(10 * (i + 1)), 1),
                        .end_ns = STORE_FIXTURE_NOW + times[i] * second,
                        .tran_id = {1},
                        .first_change = i + 1,
                        .change_count = 1,
                };
                cr_assert_eq(mapping_append(f->store, &state, &row), 0, "%zu", i);
        }
        cr_assert_eq(state_save(f->store, &state), 0);
        store_fixture_commit(f);
        state_release(&state);
}

Test(mapping, a_row_comes_back_as_it_was_appended)
{
        struct store_fixture f;
        struct state state;
        struct mapping_row row = {
                .start_lsn = lsn_make(3, 4, 1),
                .begin_ns = STORE_FIXTURE_NOW,
                .end_ns = STORE_FIXTURE_NOW + 1000,
                .tran_id = {9, 8, 7},
                .begin_lsn = lsn_make(3, 2, 1),
                .first_change = 17,
                .change_count = 5,
                .is_resync = true,
        };
        struct mapping_row got;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(state_load(f.store, &state), 0);
        cr_assert_eq(mapping_append(f.store, &state, &row), 0);
        cr_expect_eq(state.last_commit_time_ns, row.end_ns);
        cr_assert_eq(mapping_find_lsn(store_db(f.store), row.start_lsn, &got), 1);
        cr_expect_eq(lsn_compare(got.start_lsn, row.start_lsn), 0);
        cr_expect_eq(lsn_compare(got.begin_lsn, row.begin_lsn), 0);
        cr_expect_eq(got.begin_ns, row.begin_ns);
        cr_expect_eq(got.end_ns, row.end_ns);
        cr_expect_not(got.is_dummy);
        cr_expect_eq(memcmp(got.tran_id, row.tran_id, MAPPING_ID_SIZE), 0);
        cr_expect_eq(got.first_change, 17);
        cr_expect_eq(got.change_count, 5);
        cr_expect(got.is_resync);
        cr_assert_eq(mapping_last(store_db(f.store), &got), 1);
        cr_expect_eq(lsn_compare(got.start_lsn, row.start_lsn), 0);
        state_release(&state);
        store_fixture_close(&f);
}

Test(mapping, lsns_rise_and_a_dummy_at_the_last_one_is_left_out)
{
        struct store_fixture f;
        struct state state;
        struct mapping_row dummy = {.start_lsn = lsn_make(1, 10, 1), .is_dummy = true};
        struct mapping_row real = {.start_lsn = lsn_make(1, 10, 1), .tran_id = {1}};
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(state_load(f.store, &state), 0);
        cr_expect_eq(mapping_append(f.store, &state, &dummy), 0);
        cr_expect_eq(mapping_append(f.store, &state, &dummy), 0);
        cr_expect_eq(mapping_append(f.store, &state, &real), -EINVAL);
        dummy.start_lsn = lsn_make(1, 9, 1);
        cr_expect_eq(mapping_append(f.store, &state, &dummy), -EINVAL);
        real.start_lsn = lsn_make(1, 11, 1);
        cr_expect_eq(mapping_append(f.store, &state, &real), 0);
        _cleanup_free_ char *ids =
                store_fixture_text(&f, "SELECT group_concat(hex(tran_id)) FROM lsn_time_mapping");
        cr_expect_str_eq(ids, "00,01000000000000000000");
        state_release(&state);
        store_fixture_close(&f);
}

Test(mapping, times_never_fall_though_the_clock_does)
{
        static const int64_t times[] = {0, 5, 3, -100, 5, 9};
        static const int64_t kept[] = {0, 5, 5, 5, 5, 9};
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        append(&f, times, COUNT(times));
        for (size_t i = 0; i < COUNT(kept); i++) {
                struct mapping_row row;
                struct lsn lsn = lsn_make(1, (uint32_t)(10 * (i + 1)), 1);
                cr_assert_eq(mapping_find_lsn(store_db(f.store), lsn, &row), 1);
                cr_expect_eq(row.end_ns, STORE_FIXTURE_NOW + kept[i] * second, "%zu", i);
                cr_expect_leq(row.begin_ns, row.end_ns, "%zu", i);
        }
        store_fixture_close(&f);
}

Test(mapping, times_are_found_by_sql_servers_operators_and_tie_rules)
{
        /* Frames 10 … 60 at these seconds. */
        static const int64_t times[] = {1, 2, 2, 2, 5, 5};
        static const struct {
                int64_t at;
                uint32_t frames[4]; /* <, <=, >, >=; 0 = none */
        } cases[] = {
                {0, {0, 0, 10, 10}},
                {1, {0, 10, 20, 10}},
                {2, {10, 40, 50, 20}},
                {3, {40, 40, 50, 50}},
                {5, {40, 60, 0, 50}},
                {6, {60, 60, 0, 0}},
        };
        static const char *const names[] = {"largest less than", "Largest LESS than or equal",
                "smallest greater than", "smallest greater than or equal"};
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        append(&f, times, COUNT(times));
        for (size_t i = 0; i < COUNT(cases); i++) {
                for (size_t j = 0; j < 4; j++) {
                        enum mapping_operator operator;
                        struct mapping_row row = {0};
                        cr_assert_eq(mapping_parse_operator(names[j], &operator), 0);
                        int r = mapping_find_time(store_db(f.store), operator,
                                STORE_FIXTURE_NOW + cases[i].at * second, &row);
                        cr_expect_eq(r, cases[i].frames[j] > 0, "%s %lld", names[j],
                                (long long)cases[i].at);
                        cr_expect_eq(lsn_frame(row.start_lsn), cases[i].frames[j], "%s %lld",
                                names[j], (long long)cases[i].at);
                }
        }
        enum mapping_operator operator;
        cr_expect_eq(mapping_parse_operator("largest", &operator), -EINVAL);
        store_fixture_close(&f);
}

Test(mapping, a_range_of_lsns_becomes_a_range_of_change_numbers)
{
        static const struct {
                uint32_t from, to;
                uint64_t first, last; /* 0 = nothing */
        } cases[] = {
                {10, 30, 1, 3},
                {10, 10, 1, 1},
                {11, 29, 2, 2},
                {0, 99, 1, 3},
                {11, 19, 0, 0},
                {31, 99, 0, 0},
                {0, 9, 0, 0},
                {30, 10, 0, 0},
        };
        static const int64_t times[] = {1, 2, 3};
        struct store_fixture f;
        uint64_t first = 0, last = 0;
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_eq(mapping_find_changes(store_db(f.store), lsn_make(0, 0, 0), lsn_make(9, 0, 0),
                             &first, &last),
                0);
        append(&f, times, COUNT(times));
        for (size_t i = 0; i < COUNT(cases); i++) {
                first = last = 0;
                int r = mapping_find_changes(store_db(f.store), lsn_make(1, cases[i].from, 1),
                        lsn_make(1, cases[i].to, 1), &first, &last);
                cr_expect_eq(r, cases[i].first > 0, "%u %u", cases[i].from, cases[i].to);
                cr_expect_eq(first, cases[i].first, "%u %u", cases[i].from, cases[i].to);
                cr_expect_eq(last, cases[i].last, "%u %u", cases[i].from, cases[i].to);
        }
        store_fixture_close(&f);
}

Test(mapping, dummies_alone_have_no_changes)
{
        struct store_fixture f;
        struct state state;
        uint64_t first = 0, last = 0;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(state_load(f.store, &state), 0);
        for (uint32_t frame = 1; frame <= 3; frame++) {
                struct mapping_row row = {
                        .start_lsn = lsn_make(1, frame, 1), .is_dummy = true, .first_change = 1};
                cr_assert_eq(mapping_append(f.store, &state, &row), 0);
        }
        cr_expect_eq(mapping_find_changes(store_db(f.store), lsn_make(1, 1, 1), lsn_make(1, 3, 1),
                             &first, &last),
                0);
        state_release(&state);
        store_fixture_close(&f);
}

Test(mapping, every_row_is_found_also_after_the_oldest_were_deleted)
{
        enum { ROWS = 500, DELETED = 123 };
        int64_t times[ROWS];
        struct store_fixture f;
        for (int i = 0; i < ROWS; i++)
                times[i] = i / 3;
        store_fixture_open(&f, TEXT_UTF8);
        append(&f, times, ROWS);
        cr_assert_eq(
                sql_execute(store_db(f.store), "DELETE FROM lsn_time_mapping WHERE rowid <= 123"),
                0);
        for (uint32_t i = 0; i < ROWS; i++) {
                struct mapping_row row;
                int r = mapping_find_lsn(store_db(f.store), lsn_make(1, 10 * (i + 1), 1), &row);
                cr_expect_eq(r, i >= DELETED, "%u", i);
                r = mapping_find_lsn(store_db(f.store), lsn_make(1, 10 * (i + 1) + 1, 1), &row);
                cr_expect_eq(r, 0, "%u", i);
        }
        store_fixture_close(&f);
}
