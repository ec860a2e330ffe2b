/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/changetable.h"
#include "memory/files.h"
#include "memory/history.h"
#include "memory/mapping.h"
#include "store_fixture.h"

static const char *const table = "CREATE TABLE t(a INTEGER PRIMARY KEY, b)";

/* Recognises the instance and leaves something in every table that knows instances. */
static void fill(struct store_fixture *f, int64_t object_id)
{
        static const struct files_format csv = {"csv", 1};
        struct state state;
        uint64_t ino = 0;
        int64_t gap = 0;
        struct lsn lsn = lsn_make(1, 1, 1);
        store_fixture_begin(f);
        cr_assert_eq(state_load(f->store, &state), 0);
        state.max_lsn = lsn;
        cr_assert_eq(instances_recognise(f->store, object_id, lsn), 0);
        cr_assert_eq(mapping_append(f->store, &state,
                             &(struct mapping_row){.start_lsn = lsn, .is_dummy = true}),
                0);
        cr_assert_eq(files_open(f->store, object_id, &csv, lsn, 1, &ino), 0);
        cr_assert_eq(history_add_ddl(f->store,
                             &(struct history_ddl){.object_id = object_id, .command = "DDL"}),
                0);
        cr_assert_eq(history_add_gap(f->store,
                             &(struct history_gap){
                                     .object_id = object_id, .is_open = true, .cause = "x"},
                             &gap),
                0);
        cr_assert_eq(state_save(f->store, &state), 0);
        store_fixture_commit(f);
        state_release(&state);
}

static int disable(struct store_fixture *f, const char *name)
{
        struct instances instances;
        cr_assert_eq(instances_load(f->store, &instances), 0);
        const struct instance *instance = instances_find(&instances, name);
        cr_assert_not_null(instance);
        store_fixture_begin(f);
        int r = instances_disable(f->store, instance);
        if (r == 0)
                r = instances_disable(f->store, instance) == -ENOENT ? 0 : -1;
        store_fixture_commit(f);
        instances_release(&instances);
        return r;
}

Test(disable, everything_of_the_instance_goes_and_nothing_of_another)
{
        static const char *const tables[] = {"change_tables", "captured_columns", "index_columns",
                "ddl_history", "cdcfs_instances", "cdcfs_files", "cdcfs_gaps"};
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t first = store_fixture_enable(&f, table, "t", "it's \"first\"");
        int64_t second = store_fixture_enable(&f, table, "t", "second");
        fill(&f, first);
        fill(&f, second);
        cr_expect_eq(disable(&f, "it's \"first\""), 0);
        for (size_t i = 0; i < COUNT(tables); i++) {
                char sql[100];
                snprintf(sql, sizeof sql,
                        "SELECT count(*) > 0 AND min(object_id) = %d AND max(object_id) = %d FROM "
                        "%s",
                        (int)second, (int)second, tables[i]);
                cr_expect_eq(store_fixture_integer(&f, sql), 1, "%s", tables[i]);
        }
        cr_expect_eq(
                store_fixture_integer(&f,
                        "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%\\_CT' ESCAPE '\\'"),
                1);
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM cdcfs_source_tables"), 1);
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM cdc_jobs"), 2);
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM lsn_time_mapping"), 1);
        store_fixture_close(&f);
}

Test(disable, with_the_last_one_jobs_and_mapping_go_and_the_database_marks_stay)
{
        struct store_fixture f;
        struct state state;
        store_fixture_open(&f, TEXT_UTF8);
        fill(&f, store_fixture_enable(&f, table, "t", "only"));
        cr_expect_eq(disable(&f, "only"), 0);
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM cdc_jobs"), 0);
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM lsn_time_mapping"), 0);
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM cdcfs_source_tables"), 0);
        cr_assert_eq(state_load(f.store, &state), 0);
        cr_expect(state.has_min_lsn);
        cr_expect_not(lsn_is_zero(state.max_lsn));
        state_release(&state);

        cr_expect_gt(store_fixture_enable(&f, table, "t", "only"), 1, "numbers are not reused");
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM cdc_jobs"), 2);
        store_fixture_close(&f);
}
