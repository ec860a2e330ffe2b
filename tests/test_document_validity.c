/* SPDX-License-Identifier: MIT
 *
 * document_validity: validity.json says what the store says, and null where nobody knows.
 */
#include "faces/document.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>

#include "changes_fixture.h"

static json_t *make(struct store_fixture *f, int64_t object_id, const struct document_pulse *pulse)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        cr_assert_eq(document_validity(store_db(f->store), object_id, pulse, &buf), 0);
        cr_assert_eq(buf.data[buf.size - 1], '\n');
        json_t *json = json_loadb((const char *)buf.data, buf.size, JSON_REJECT_DUPLICATES, NULL);
        cr_assert_not_null(json, "%s", buf_string(&buf));
        return json;
}

static const char *text(json_t *json, const char *key)
{
        json_t *value = json_object_get(json, key);
        cr_assert_not_null(value, "%s is missing", key);
        return json_is_null(value) ? "null" : json_string_value(value);
}

Test(document_validity, pending_before_recognition)
{
        static const char *const nulls[] = {
                "min_lsn", "max_lsn", "min_time", "max_time", "end_of_log", "as_of", "caught_up"};
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        const int64_t objects[] = {0, changes_fixture_enable(&f, "main_t")};
        for (unsigned i = 0; i < COUNT(objects); i++) {
                json_t *json = make(&f, objects[i], NULL);
                cr_expect_str_eq(text(json, "state"), "pending");
                for (unsigned k = 0; k < COUNT(nulls); k++)
                        cr_expect(json_is_null(json_object_get(json, nulls[k])), "%s", nulls[k]);
                cr_expect_eq(json_array_size(json_object_get(json, "gaps")), 0);
                cr_expect_eq(json_array_size(json_object_get(json, "resyncs")), 0);
                json_decref(json);
        }
        store_fixture_close(&f);
}

Test(document_validity, tells_the_interval_with_its_times)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF16LE);
        int64_t id = changes_fixture_enable(&f, "main_t");
        changes_fixture_recognise(&f, id, 10);
        changes_fixture_commit(&f, id, 15, "i1");
        json_t *json = make(&f, id, NULL);
        cr_expect_str_eq(text(json, "state"), "active");
        cr_expect_str_eq(text(json, "capture_instance"), "main_t");
        cr_expect_str_eq(text(json, "source_table"), "t");
        cr_expect(json_is_false(json_object_get(json, "has_drop_pending")));
        cr_expect_str_eq(text(json, "min_lsn"), "00000001:0000000a:0001");
        cr_expect_str_eq(text(json, "max_lsn"), "00000001:0000000f:0001");
        cr_expect_str_eq(text(json, "min_time"), "2026-11-30T10:00:10.000000Z");
        cr_expect_str_eq(text(json, "max_time"), "2026-11-30T10:00:15.000000Z");
        json_decref(json);
        store_fixture_close(&f);
}

Test(document_validity, tells_the_pulse_of_an_agent)
{
        const struct document_pulse pulse = {
                .end_of_log = changes_fixture_lsn(20),
                .as_of_ns = STORE_FIXTURE_NOW,
                .is_caught_up = true,
        };
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        json_t *json = make(&f, 0, &pulse);
        cr_expect_str_eq(text(json, "end_of_log"), "00000001:00000014:0001");
        cr_expect_str_eq(text(json, "as_of"), "2026-11-30T10:00:00.000000Z");
        cr_expect(json_is_true(json_object_get(json, "caught_up")));
        cr_expect_null(json_object_get(json, "capture_instance"));
        json_decref(json);
        store_fixture_close(&f);
}

Test(document_validity, lists_gaps_and_resyncs)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = changes_fixture_enable(&f, "main_t");
        changes_fixture_recognise(&f, id, 10);
        changes_fixture_commit(&f, id, 15, "i1");
        changes_fixture_gap(&f, 0, 5, 9); /* before this instance began */
        changes_fixture_gap(&f, 0, 11, 12);
        changes_fixture_gap(&f, id, 16, 0);
        store_fixture_check(
                sql_execute(store_db(f.store),
                        "UPDATE lsn_time_mapping SET cdcfs_resynced = 1 WHERE rowid = 2;"
                        "INSERT INTO cdcfs_segments(from_lsn, to_lsn, closed_ns, cause)"
                        " VALUES(x'00', x'00', 0, 'resync')"),
                "UPDATE");
        json_t *json = make(&f, id, NULL);
        json_t *gaps = json_object_get(json, "gaps");
        cr_assert_eq(json_array_size(gaps), 2);
        json_t *closed = json_array_get(gaps, 0), *open = json_array_get(gaps, 1);
        cr_expect_str_eq(text(closed, "from"), "00000001:0000000b:0001");
        cr_expect_str_eq(text(closed, "to"), "00000001:0000000c:0001");
        cr_expect_str_eq(text(closed, "cause"), "the log was reset");
        cr_expect_str_eq(text(closed, "time"), "2026-11-30T10:00:00.000000Z");
        cr_expect_str_eq(text(open, "to"), "null");
        json_t *resyncs = json_object_get(json, "resyncs");
        cr_assert_eq(json_array_size(resyncs), 1);
        cr_expect_str_eq(text(json_array_get(resyncs, 0), "lsn"), "00000001:0000000f:0001");
        json_decref(json);
        store_fixture_close(&f);
}

Test(document_validity, tells_that_the_table_was_dropped)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = changes_fixture_enable(&f, "main_t");
        changes_fixture_recognise(&f, id, 10);
        store_fixture_begin(&f);
        store_fixture_check(instances_set_dropped(f.store, id), "dropped");
        store_fixture_commit(&f);
        json_t *json = make(&f, id, NULL), *whole = make(&f, 0, NULL);
        cr_expect_str_eq(text(json, "state"), "dropped");
        cr_expect(json_is_true(json_object_get(json, "has_drop_pending")));
        cr_expect_str_eq(text(whole, "state"), "active");
        json_decref(json);
        json_decref(whole);
        store_fixture_close(&f);
}

Test(document_validity, tells_what_stopped)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = changes_fixture_enable(&f, "main_t");
        changes_fixture_recognise(&f, id, 10);
        store_fixture_begin(&f);
        store_fixture_check(instances_set_error(f.store, id, "cannot go on"), "error");
        store_fixture_check(instances_set_dropped(f.store, id), "dropped");
        store_fixture_check(state_set_capture_stopped(f.store, true), "stopped");
        store_fixture_commit(&f);
        const int64_t objects[] = {0, id};
        for (unsigned i = 0; i < COUNT(objects); i++) {
                json_t *json = make(&f, objects[i], NULL);
                cr_expect_str_eq(text(json, "state"), "stopped");
                if (objects[i] != 0)
                        cr_expect(json_is_true(json_object_get(json, "has_drop_pending")));
                json_decref(json);
        }
        store_fixture_close(&f);
}

Test(document_validity, is_json_whatever_a_name_is_made_of)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t id = store_fixture_enable(
                &f, "CREATE TABLE \"a\"\"\x01\xff\"(x)", "a\"\x01\xff", "main_x");
        json_t *json = make(&f, id, NULL);
        cr_expect_str_eq(text(json, "source_table"), "\\X612201ff");
        json_decref(json);
        store_fixture_close(&f);
}

Test(document_validity, knows_no_instance_that_is_not_there)
{
        struct store_fixture f;
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_eq(document_validity(store_db(f.store), 99, NULL, &buf), -ENOENT);
        store_fixture_close(&f);
}
