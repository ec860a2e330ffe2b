/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/changetable.h"
#include "memory/mapping.h"
#include "memory/segments.h"
#include "store_fixture.h"

static const struct files_format formats[] = {{"csv", 1}, {"jsonl", 1}, {"later", 2}};
static const struct segments_limits limits = SEGMENTS_LIMITS_DEFAULT;

#define TEXT(text)                                                                                 \
        {                                                                                          \
                .type = VALUE_TEXT, .size = sizeof(text) - 1, .bytes = (const uint8_t *)text       \
        }

/* Appends and counts `count` changes of the three kinds in turn, one in a transaction. */
static void append(struct store_fixture *f, struct segments *segments,
        const struct instance *instance, struct state *state, unsigned count)
{
        static const uint8_t mask[] = {3};
        static const struct value before[] = {{.type = VALUE_INTEGER, .integer = 17}, TEXT("old")};
        static const struct value after[] = {{.type = VALUE_INTEGER, .integer = 17}, TEXT("newer")};
        static const enum change_operation operations[] = {
                CHANGE_INSERT, CHANGE_UPDATE, CHANGE_DELETE};
        for (unsigned i = 0; i < count; i++) {
                uint64_t number = state->next_change++;
                struct change change = {.object_id = instance->object_id,
                        .operation = operations[number % 3],
                        .columns = 2,
                        .before = before,
                        .after = after,
                        .mask = mask};
                struct mapping_row row = {.start_lsn = lsn_make(1, 100 + (uint32_t)number, 1),
                        .end_ns = STORE_FIXTURE_NOW + (int64_t)number * 1000000,
                        .tran_id = {1},
                        .first_change = number,
                        .change_count = 1};
                cr_assert_eq(mapping_append(f->store, state, &row), 0);
                cr_assert_eq(
                        changetable_append(f->store, instance, &change, row.start_lsn, number, 1),
                        0);
                segments_add(segments, &change, number, row.end_ns, row.end_ns);
        }
}

Test(segments_load, counts_are_found_again_after_a_restart)
{
        struct store_fixture f;
        struct instances instances;
        struct state state;
        _cleanup_(segments_freep) struct segments *segments = NULL, *again = NULL;
        unsigned closed = 0;
        size_t count = 0;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t object_id = store_fixture_enable(&f, "CREATE TABLE t(a, b)", "t", NULL);
        store_fixture_enable(&f, "CREATE TABLE t(a, b)", "t", "pending");
        cr_assert_eq(instances_load(f.store, &instances), 0);
        cr_assert_eq(state_load(f.store, &state), 0);
        const struct instance *instance = &instances.items[0];
        cr_assert_eq(instances_recognise(f.store, object_id, lsn_make(1, 5, 1)), 0);
        cr_assert_eq(segments_load(f.store, formats, 2, &segments), 0);
        append(&f, segments, instance, &state, 7);
        cr_assert_eq(segments_close(segments, f.store, &limits, lsn_make(1, 107, 1),
                             SEGMENTS_ROTATE, state.next_change, STORE_FIXTURE_NOW, &closed),
                0);
        cr_expect_eq(closed, 2);
        append(&f, segments, instance, &state, 5);

        cr_assert_eq(segments_load(f.store, formats, 2, &again), 0);
        const struct segments_tally *old = segments_list(segments, &count);
        const struct segments_tally *new = segments_list(again, &count);
        cr_assert_eq(count, 1, "the pending one has no files");
        cr_expect_eq(new->object_id, old->object_id);
        cr_expect_eq(lsn_compare(new->from_lsn, lsn_make(1, 107, 2)), 0);
        cr_expect_eq(new->rows, old->rows);
        cr_expect_eq(new->inserts, old->inserts);
        cr_expect_eq(new->updates, old->updates);
        cr_expect_eq(new->deletes, old->deletes);
        cr_expect_eq(new->csv_bytes, old->csv_bytes);
        cr_expect_eq(new->first_change, old->first_change);
        cr_expect_eq(new->last_change, old->last_change);
        cr_expect_eq(new->first_time_ns, old->first_time_ns);
        cr_expect_eq(new->last_time_ns, old->last_time_ns);
        cr_expect_eq(new->first_seen_ns, old->first_time_ns);
        cr_expect_eq(
                store_fixture_integer(&f, "SELECT count(*) FROM cdcfs_files WHERE object_id > 0"),
                4);
        state_release(&state);
        instances_release(&instances);
        store_fixture_close(&f);
}

Test(segments_load, a_format_that_is_new_begins_where_the_open_files_do)
{
        struct store_fixture f;
        struct instances instances;
        struct state state;
        _cleanup_(segments_freep) struct segments *segments = NULL, *again = NULL;
        unsigned closed = 0;
        struct file_row file, csv;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t object_id = store_fixture_enable(&f, "CREATE TABLE t(a, b)", "t", NULL);
        cr_assert_eq(instances_load(f.store, &instances), 0);
        cr_assert_eq(state_load(f.store, &state), 0);
        cr_assert_eq(segments_load(f.store, formats, 2, &segments), 0);
        cr_assert_eq(instances_recognise(f.store, object_id, lsn_make(1, 5, 1)), 0);
        cr_assert_eq(segments_open(segments, f.store, object_id, lsn_make(1, 5, 1), 1), 0);
        append(&f, segments, &instances.items[0], &state, 3);
        cr_assert_eq(segments_close(segments, f.store, &limits, lsn_make(1, 103, 1),
                             SEGMENTS_ROTATE, state.next_change, STORE_FIXTURE_NOW, &closed),
                0);
        append(&f, segments, &instances.items[0], &state, 2);

        cr_assert_eq(segments_load(f.store, formats, 3, &again), 0);
        cr_assert_eq(files_find_live(store_db(f.store), object_id, "later", &file), 1);
        cr_expect_eq(file.ordinal, 1);
        cr_expect_eq(file.renderer_version, 2);
        cr_assert_eq(segments_close(again, f.store, &limits, lsn_make(1, 105, 1), SEGMENTS_ROTATE,
                             state.next_change, STORE_FIXTURE_NOW, &closed),
                0);
        cr_expect_eq(closed, 3);
        cr_assert_eq(files_find_ino(store_db(f.store), file.ino, &file), 1);
        cr_assert_eq(files_find_ino(store_db(f.store), file.ino - 1, &csv), 1);
        cr_expect_eq(lsn_frame(file.from_lsn), 103);
        cr_expect_eq(file.first_change, 4);
        cr_expect_eq(file.last_change, 5);
        state_release(&state);
        instances_release(&instances);
        store_fixture_close(&f);
}
