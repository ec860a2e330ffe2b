/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/segments.h"
#include "store_fixture.h"

static const struct files_format formats[] = {{"csv", 1}, {"jsonl", 1}};
static const struct segments_limits limits = {.size = 1000, .age_ns = 300, .small = 100};

struct segments_fixture {
        struct store_fixture f;
        struct segments *segments;
        uint64_t next_change;
};

/* Three recognised instances, 1 to 3, from LSN (1, 1) on. */
static void open_all(struct segments_fixture *s)
{
        s->next_change = 1;
        store_fixture_open(&s->f, TEXT_UTF8);
        cr_assert_eq(segments_load(s->f.store, formats, COUNT(formats), &s->segments), 0);
        static const int64_t ids[] = {2, 1, 3};
        for (size_t i = 0; i < COUNT(ids); i++)
                cr_assert_eq(
                        segments_open(s->segments, s->f.store, ids[i], lsn_make(1, 1, 1), 1), 0);
}

static void close_all(struct segments_fixture *s)
{
        segments_free(s->segments);
        store_fixture_close(&s->f);
}

/* Counts an insert with a text of `size` bytes. */
static void add(struct segments_fixture *s, int64_t object_id, uint32_t size, int64_t now_ns)
{
        static const uint8_t mask[] = {1}, bytes[5000];
        struct value value = {.type = VALUE_TEXT, .size = size, .bytes = bytes};
        struct change change = {.object_id = object_id,
                .operation = CHANGE_INSERT,
                .columns = 1,
                .after = &value,
                .mask = mask};
        segments_add(s->segments, &change, s->next_change++, now_ns, now_ns);
}

static unsigned border(
        struct segments_fixture *s, uint32_t to, enum segments_cause cause, int64_t now_ns)
{
        unsigned closed = 99;
        int r = segments_close(s->segments, s->f.store, &limits, lsn_make(1, to, 1), cause,
                s->next_change, now_ns, &closed);
        cr_expect_eq(r, 0, "%d", r);
        return closed;
}

/* Object, ordinal, FROM and TO (frame:slot), changes and rows of all CSV files. */
static char *list(struct segments_fixture *s)
{
        return store_fixture_text(&s->f,
                "SELECT group_concat(line, ' ') FROM (SELECT object_id || '.' || ordinal || '=' ||"
                "  ltrim(substr(hex(from_lsn), 9), '0') || '-' ||"
                "  iif(to_lsn IS NULL, 'open', ltrim(substr(hex(to_lsn), 9), '0')) || '/' || "
                "first_change ||"
                "  '-' || coalesce(last_change, '') || '/' || coalesce(row_count, '') AS line"
                " FROM cdcfs_files WHERE format = 'csv' AND object_id > 0 ORDER BY object_id, "
                "ordinal)");
}

Test(segments, every_instance_has_one_open_file_in_each_format)
{
        struct segments_fixture s;
        size_t count = 0;
        open_all(&s);
        const struct segments_tally *tallies = segments_list(s.segments, &count);
        cr_assert_eq(count, 3);
        for (size_t i = 0; i < count; i++)
                cr_expect_eq(tallies[i].object_id, (int64_t)i + 1);
        cr_expect_eq(
                store_fixture_integer(&s.f, "SELECT count(*) FROM cdcfs_files WHERE object_id > 0"),
                6);
        cr_expect_eq(segments_open(s.segments, s.f.store, 2, lsn_make(1, 1, 1), 1), -EEXIST);
        close_all(&s);
}

Test(segments, counts_follow_the_changes)
{
        static const uint8_t mask[] = {1};
        static const struct value value = {.type = VALUE_NULL};
        struct segments_fixture s;
        size_t count = 0;
        struct change change = {
                .object_id = 2, .columns = 1, .before = &value, .after = &value, .mask = mask};
        static const enum change_operation operations[] = {
                CHANGE_INSERT, CHANGE_UPDATE, CHANGE_UPDATE, CHANGE_DELETE};
        open_all(&s);
        for (size_t i = 0; i < COUNT(operations); i++) {
                change.operation = operations[i];
                segments_add(s.segments, &change, 10 + i, 100 + (int64_t)i, 200 + (int64_t)i);
        }
        change.object_id = 77;
        segments_add(s.segments, &change, 20, 1, 1);
        const struct segments_tally *tally = &segments_list(s.segments, &count)[1];
        cr_expect_eq(tally->rows, 6);
        cr_expect_eq(tally->inserts, 1);
        cr_expect_eq(tally->updates, 2);
        cr_expect_eq(tally->deletes, 1);
        cr_expect_eq(tally->first_change, 10);
        cr_expect_eq(tally->last_change, 13);
        cr_expect_eq(tally->first_time_ns, 100);
        cr_expect_eq(tally->last_time_ns, 103);
        cr_expect_eq(tally->first_seen_ns, 200);
        close_all(&s);
}

Test(segments, ranges_touch_and_files_without_rows_stay_open)
{
        struct segments_fixture s;
        open_all(&s);
        add(&s, 1, 10, 0);
        add(&s, 3, 10, 0);
        cr_expect_eq(border(&s, 5, SEGMENTS_ROTATE, 0), 4, "two instances in two formats");
        add(&s, 1, 10, 0);
        add(&s, 2, 10, 0);
        cr_expect_eq(border(&s, 9, SEGMENTS_ROTATE, 0), 4);
        cr_expect_eq(border(&s, 12, SEGMENTS_ROTATE, 0), 0, "nothing to close");
        _cleanup_free_ char *files = list(&s);
        cr_expect_str_eq(files,
                "1.1=10001-50001/1-1/1 1.2=50002-90001/3-3/1 1.3=90002-open/5-/ "
                "2.1=10001-90001/4-4/1 2.2=90002-open/5-/ "
                "3.1=10001-50001/2-2/1 3.2=50002-open/3-/",
                "%s", files);
        _cleanup_free_ char *segments = store_fixture_text(&s.f,
                "SELECT group_concat(segment || hex(from_lsn) || hex(to_lsn) || cause, ' ')"
                " FROM cdcfs_segments");
        cr_expect_str_eq(segments, "10000000100000001000100000001000000050001rotate "
                                   "20000000100000001000100000001000000090001rotate");
        close_all(&s);
}

Test(segments, small_young_files_wait_at_a_border_by_size)
{
        struct segments_fixture s;
        open_all(&s);
        add(&s, 1, 2000, 100); /* due */
        add(&s, 2, 1, 100);    /* small and young */
        add(&s, 3, 200, 100);  /* large enough */
        cr_expect_eq(border(&s, 5, SEGMENTS_SIZE, 200), 4);
        add(&s, 1, 1, 390);
        cr_expect_eq(border(&s, 6, SEGMENTS_AGE, 400), 2, "only the old one");
        _cleanup_free_ char *files = list(&s);
        cr_expect_str_eq(files,
                "1.1=10001-50001/1-1/1 1.2=50002-open/4-/ 2.1=10001-60001/2-2/1 "
                "2.2=60002-open/5-/ 3.1=10001-50001/3-3/1 3.2=50002-open/4-/",
                "%s", files);
        close_all(&s);
}

Test(segments, no_file_spans_a_gap)
{
        struct segments_fixture s;
        open_all(&s);
        add(&s, 1, 1, 0);
        cr_expect_eq(segments_skip(s.segments, s.f.store, 0, lsn_make(2, 7, 1)), -EINVAL,
                "there are rows before it");
        cr_expect_eq(border(&s, 5, SEGMENTS_GAP, 0), 2);
        cr_expect_eq(segments_skip(s.segments, s.f.store, 3, lsn_make(1, 6, 1)), 0);
        cr_expect_eq(segments_skip(s.segments, s.f.store, 0, lsn_make(1, 5, 1)), 0,
                "nothing moves back");
        _cleanup_free_ char *files = list(&s);
        cr_expect_str_eq(files,
                "1.1=10001-50001/1-1/1 1.2=50002-open/2-/ 2.1=50002-open/1-/ 3.1=60002-open/1-/",
                "%s", files);
        close_all(&s);
}

Test(segments, a_border_before_a_file_begins_is_refused)
{
        struct segments_fixture s;
        unsigned closed = 0;
        open_all(&s);
        add(&s, 1, 1, 0);
        cr_expect_eq(segments_close(s.segments, s.f.store, &limits, lsn_make(1, 0, 1),
                             SEGMENTS_ROTATE, 2, 0, &closed),
                -EINVAL);
        cr_expect_eq(closed, 0);
        close_all(&s);
}

Test(segments, a_forgotten_instance_takes_no_part)
{
        struct segments_fixture s;
        size_t count = 0;
        open_all(&s);
        add(&s, 1, 1, 0);
        add(&s, 2, 1, 0);
        segments_forget(s.segments, 1);
        segments_forget(s.segments, 1);
        segments_list(s.segments, &count);
        cr_expect_eq(count, 2);
        cr_expect_eq(border(&s, 5, SEGMENTS_ROTATE, 0), 2);
        for (int64_t id = 10; id < 20; id++)
                cr_expect_eq(segments_open(s.segments, s.f.store, id, lsn_make(1, 6, 1), 9), 0);
        segments_list(s.segments, &count);
        cr_expect_eq(count, 12);
        close_all(&s);
}

/* Net changes have files where the instance supports them, with the ranges of the others. */
Test(segments, has_net_files_where_they_are_supported)
{
        static const struct files_format all[] = {{"csv", 1}, {"net-csv", 1, .is_net = true}};
        static const char tables[] = "CREATE TABLE k(a INTEGER PRIMARY KEY); CREATE TABLE nk(a);"
                                     "CREATE TABLE k2(a INTEGER PRIMARY KEY)";
        struct segments_fixture s = {.next_change = 1};
        store_fixture_open(&s.f, TEXT_UTF8);
        int64_t key = store_fixture_enable(&s.f, tables, "k", "main_k");
        int64_t none = store_fixture_enable(&s.f, tables, "nk", "main_nk");
        int64_t later = store_fixture_enable(&s.f, tables, "k2", "main_k2");
        cr_assert_eq(instances_recognise(s.f.store, key, lsn_make(1, 1, 1)), 0);
        cr_assert_eq(instances_recognise(s.f.store, none, lsn_make(1, 1, 1)), 0);
        cr_assert_eq(segments_load(s.f.store, all, COUNT(all), &s.segments), 0);
        cr_assert_eq(segments_open(s.segments, s.f.store, later, lsn_make(1, 1, 1), 1), 0);
        add(&s, key, 500, 1);
        add(&s, none, 500, 1);
        cr_expect_eq(border(&s, 5, SEGMENTS_ROTATE, 2), 3);
        _cleanup_free_ char *files = store_fixture_text(&s.f,
                "SELECT group_concat(object_id || format || ordinal || (to_lsn IS NULL), ' ') FROM"
                " (SELECT * FROM cdcfs_files WHERE object_id > 0 ORDER BY object_id, format, "
                "ordinal)");
        cr_expect_str_eq(files,
                "1csv10 1csv21 1net-csv10 1net-csv21 2csv10 2csv21 3csv11 3net-csv11", "%s", files);
        cr_expect_eq(store_fixture_integer(&s.f,
                             "SELECT count(DISTINCT from_lsn || coalesce(to_lsn, '')) FROM "
                             "cdcfs_files WHERE object_id = 1"),
                2);
        close_all(&s);
}
