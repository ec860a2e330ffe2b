/* SPDX-License-Identifier: MIT
 *
 * changes_fixture: source transactions written into a store as the capture thread writes them, for
 * tests of what reads it.
 *
 *      struct store_fixture f;
 *      store_fixture_open(&f, TEXT_UTF8);
 *      int64_t id = changes_fixture_enable(&f, "main_t");           t(id INTEGER PRIMARY KEY, x)
 *      changes_fixture_recognise(&f, id, 1);
 *      changes_fixture_commit(&f, id, 2, "i1 u1 d1");               one row change a word
 *
 * LSNs are those of generation 1, commit frame as given. What cannot be set up aborts.
 */
#ifndef CDC_TEST_CHANGES_FIXTURE_H
#define CDC_TEST_CHANGES_FIXTURE_H

#include "ground/lsn.h"
#include "memory/changetable.h"
#include "memory/history.h"
#include "memory/mapping.h"
#include "store_fixture.h"

static inline struct lsn changes_fixture_lsn(uint32_t frame)
{
        return lsn_make(1, frame, LSN_SLOT_COMMIT);
}

static inline int64_t changes_fixture_enable(struct store_fixture *f, const char *name)
{
        return store_fixture_enable(f, "CREATE TABLE t(id INTEGER PRIMARY KEY, x)", "t", name);
}

/* Adds a mapping row at the frame and moves the position there; one second a frame. */
static inline void changes_fixture_map(
        struct store_fixture *f, struct state *state, uint32_t frame, uint64_t first)
{
        struct mapping_row row = {
                .start_lsn = changes_fixture_lsn(frame),
                .end_ns = STORE_FIXTURE_NOW + frame * INT64_C(1000000000),
                .is_dummy = state->next_change == first,
                .begin_lsn = changes_fixture_lsn(frame),
                .first_change = first,
                .change_count = state->next_change - first,
        };
        state->generation = 1;
        state->wal_frame = frame;
        state->max_lsn = row.start_lsn;
        store_fixture_check(mapping_append(f->store, state, &row), "mapping_append");
        store_fixture_check(state_save(f->store, state), "state_save");
}

/* The instance is captured from this frame on. */
static inline void changes_fixture_recognise(
        struct store_fixture *f, int64_t object_id, uint32_t frame)
{
        _cleanup_(state_release) struct state state = {0};
        store_fixture_begin(f);
        store_fixture_check(state_load(f->store, &state), "state_load");
        store_fixture_check(instances_recognise(f->store, object_id, changes_fixture_lsn(frame)),
                "instances_recognise");
        changes_fixture_map(f, &state, frame, state.next_change);
        store_fixture_commit(f);
}

/* One row change: i, u or d and a key. The value of x is the word, with `-` for what it was. */
static inline void changes_fixture_append(struct store_fixture *f, const struct instance *instance,
        const char *word, uint32_t frame, uint64_t number, uint32_t command_id)
{
        uint8_t mask = word[0] == 'u' ? 2 : 3;
        char old[32];
        snprintf(old, sizeof old, "-%s", word);
        struct value key = {.type = VALUE_INTEGER, .integer = strtoll(word + 1, NULL, 10)};
        struct value before[] = {
                key, {VALUE_TEXT, (uint32_t)strlen(old), {.bytes = (const uint8_t *)old}}};
        struct value after[] = {
                key, {VALUE_TEXT, (uint32_t)strlen(word), {.bytes = (const uint8_t *)word}}};
        struct change change = {
                .object_id = instance->object_id,
                .operation = word[0] == 'i'   ? CHANGE_INSERT
                             : word[0] == 'u' ? CHANGE_UPDATE
                                              : CHANGE_DELETE,
                .columns = 2,
                .before = word[0] == 'i' ? NULL : before,
                .after = word[0] == 'd' ? NULL : after,
                .mask = &mask,
        };
        store_fixture_check(changetable_append(f->store, instance, &change,
                                    changes_fixture_lsn(frame), number, command_id),
                "changetable_append");
}

/* A transaction. No words: one that touched nothing captured. */
static inline void changes_fixture_commit(
        struct store_fixture *f, int64_t object_id, uint32_t frame, const char *words)
{
        _cleanup_(state_release) struct state state = {0};
        _cleanup_(instances_release) struct instances instances = {0};
        char word[16];
        int size = 0;
        store_fixture_begin(f);
        store_fixture_check(state_load(f->store, &state), "state_load");
        store_fixture_check(instances_load(f->store, &instances), "instances_load");
        const struct instance *instance = instances_find_object(&instances, object_id);
        uint64_t first = state.next_change;
        for (uint32_t id = 1; sscanf(words, "%15s%n", word, &size) == 1; id++, words += size)
                changes_fixture_append(f, instance, word, frame, state.next_change++, id);
        changes_fixture_map(f, &state, frame, first);
        store_fixture_commit(f);
}

/* Frames from to to (0 = open) are lost; object_id 0: of the whole database. */
static inline void changes_fixture_gap(
        struct store_fixture *f, int64_t object_id, uint32_t from, uint32_t to)
{
        char cause[] = "the log was reset";
        int64_t number;
        struct history_gap gap = {
                .object_id = object_id,
                .from = changes_fixture_lsn(from),
                .to = changes_fixture_lsn(to),
                .is_open = to == 0,
                .time_ns = STORE_FIXTURE_NOW,
                .cause = cause,
        };
        store_fixture_begin(f);
        store_fixture_check(history_add_gap(f->store, &gap, &number), "history_add_gap");
        store_fixture_commit(f);
}

#endif
