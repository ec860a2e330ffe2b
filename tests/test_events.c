/* SPDX-License-Identifier: MIT */
#include "faces/events.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "changes_fixture.h"

static struct events *open_all(struct store_fixture *f, int64_t object_id)
{
        struct events *events = NULL;
        struct changes_range range = {1, UINT64_MAX};
        cr_assert_eq(events_open(store_db(f->store), object_id, range, &events), 0);
        return events;
}

static int64_t make(struct store_fixture *f)
{
        store_fixture_open(f, TEXT_UTF8);
        int64_t id = changes_fixture_enable(f, "main_t");
        changes_fixture_recognise(f, id, 1);
        return id;
}

Test(events, give_each_row_its_commit)
{
        struct store_fixture f;
        int64_t id = make(&f);
        changes_fixture_commit(&f, id, 2, "i1 i2");
        changes_fixture_commit(&f, id, 5, "");
        changes_fixture_commit(&f, id, 7, "u1 d2");
        changes_fixture_commit(&f, id, 8, "i3");
        static const struct {
                uint32_t frame;
                int64_t operation;
                uint64_t number;
        } rows[] = {{2, 2, 1}, {2, 2, 2}, {7, 3, 3}, {7, 4, 3}, {7, 1, 4}, {8, 2, 5}};
        _cleanup_events_ struct events *events = open_all(&f, id);
        const struct value *row;
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct lsn lsn = changes_fixture_lsn(rows[i].frame);
                cr_assert_eq(events_next(events, &row), 1);
                cr_expect_eq(memcmp(row[EVENTS_START_LSN].bytes, lsn.bytes, LSN_SIZE), 0);
                cr_expect_eq(row[EVENTS_OPERATION].integer, rows[i].operation);
                cr_expect_eq(events_number(events), rows[i].number);
                cr_expect_eq(row[EVENTS_TIME].integer,
                        STORE_FIXTURE_NOW + rows[i].frame * INT64_C(1000000000));
                cr_expect_eq(row[EVENTS_TRANSACTION].size, MAPPING_ID_SIZE);
        }
        cr_expect_eq(events_next(events, &row), 0);
        store_fixture_close(&f);
}

Test(events, begin_at_any_change)
{
        struct store_fixture f;
        int64_t id = make(&f);
        for (uint32_t frame = 2; frame < 40; frame++)
                changes_fixture_commit(&f, id, frame, "i1 d1");
        for (uint64_t first = 1; first <= 76; first += 5) {
                _cleanup_events_ struct events *events = NULL;
                const struct value *row;
                struct changes_range range = {first, 76};
                uint64_t number = first;
                cr_assert_eq(events_open(store_db(f.store), id, range, &events), 0);
                for (; events_next(events, &row) == 1; number++) {
                        uint32_t frame = 2 + (uint32_t)(number - 1) / 2;
                        cr_expect_eq(events_number(events), number);
                        cr_expect_eq(row[EVENTS_TIME].integer,
                                STORE_FIXTURE_NOW + frame * INT64_C(1000000000));
                }
                cr_expect_eq(number, 77);
        }
        store_fixture_close(&f);
}

Test(events, know_table_database_and_key)
{
        struct store_fixture f;
        int64_t id = make(&f);
        /* A later name of the table is not in what was written before. */
        store_fixture_check(
                sql_execute(store_db(f.store), "UPDATE cdcfs_source_tables SET name = 'u'"),
                "UPDATE");
        _cleanup_events_ struct events *events = open_all(&f, id);
        const struct result_shape *shape = events_shape(events);
        cr_assert_eq(shape->count, EVENTS_METADATA + 2);
        cr_expect_str_eq(shape->table, "t");
        cr_expect(shape->columns[EVENTS_METADATA].is_key);
        cr_expect_not(shape->columns[EVENTS_METADATA + 1].is_key);
        cr_expect_str_eq(shape->columns[EVENTS_METADATA + 1].name, "x");
        store_fixture_close(&f);
}

Test(events, name_the_database_by_its_file)
{
        static const struct {
                const char *path, *name;
        } cases[] = {{"/srv/app.db", "app"}, {"app", "app"}, {"/a.b/shop", "shop"},
                {"/x/shop.v2.sqlite", "shop.v2"}, {"/x/.hidden", ".hidden"}};
        struct store_fixture f;
        (void)make(&f);
        for (size_t i = 0; i < COUNT(cases); i++) {
                char sql[128];
                _cleanup_free_ char *name = NULL;
                snprintf(sql, sizeof sql, "UPDATE cdcfs_state SET source_path = '%s'",
                        cases[i].path);
                store_fixture_check(sql_execute(store_db(f.store), sql), "UPDATE");
                cr_assert_eq(events_read_database(store_db(f.store), &name), 0);
                cr_expect_str_eq(name, cases[i].name);
        }
        store_fixture_close(&f);
}

Test(events, refuse_what_is_not_there)
{
        struct store_fixture f;
        int64_t id = make(&f);
        struct events *none = NULL;
        struct changes_range range = {1, UINT64_MAX};
        cr_expect_eq(events_open(store_db(f.store), 99, range, &none), -ENOENT);
        changes_fixture_commit(&f, id, 2, "i1");
        changes_fixture_commit(&f, id, 3, "i2");
        store_fixture_check(
                sql_execute(store_db(f.store), "DELETE FROM lsn_time_mapping WHERE rowid ="
                                               " (SELECT max(rowid) FROM lsn_time_mapping)"),
                "DELETE");
        _cleanup_events_ struct events *events = open_all(&f, id);
        const struct value *row;
        cr_expect_eq(events_next(events, &row), 1);
        cr_expect_eq(events_next(events, &row), -EBADMSG, "a change without a commit");
        store_fixture_close(&f);
}
