/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "store_fixture.h"

static const char *const table = "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c)";

/* The only instance there is; the caller releases the list. */
static const struct instance *load(struct store_fixture *f, struct instances *instances)
{
        cr_assert_eq(instances_load(f->store, instances), 0);
        cr_assert_geq(instances->count, 1);
        return &instances->items[0];
}

Test(instances, a_new_store_has_none)
{
        struct store_fixture f;
        struct instances instances;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(instances_load(f.store, &instances), 0);
        cr_expect_eq(instances.count, 0);
        cr_expect_null(instances_find(&instances, "x"));
        instances_release(&instances);
        store_fixture_close(&f);
}

Test(instances, they_are_found_by_their_exact_name_and_by_number)
{
        struct store_fixture f;
        struct instances instances;
        char name[32];
        store_fixture_open(&f, TEXT_UTF16LE);
        for (int i = 0; i < 9; i++) {
                char sql[64];
                snprintf(sql, sizeof sql, "CREATE TABLE t%d(a, b)", i);
                snprintf(name, sizeof name, "t%d", i);
                store_fixture_enable(&f, sql, name, NULL);
        }
        cr_assert_eq(instances_load(f.store, &instances), 0);
        cr_expect_eq(instances.count, 9);
        for (int i = 0; i < 9; i++) {
                snprintf(name, sizeof name, "main_t%d", i);
                const struct instance *instance = instances_find(&instances, name);
                cr_assert_not_null(instance, "%s", name);
                cr_expect_eq(instances_find_object(&instances, instance->object_id), instance);
        }
        cr_expect_null(instances_find(&instances, "MAIN_T1"));
        cr_expect_null(instances_find(&instances, ""));
        cr_expect_null(instances_find_object(&instances, 12345));
        instances_release(&instances);
        store_fixture_close(&f);
}

Test(instances, recognition_sets_the_low_marks_and_a_later_one_leaves_the_databases)
{
        struct store_fixture f;
        struct instances instances;
        struct state state;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t first = store_fixture_enable(&f, table, "t", NULL);
        int64_t second = store_fixture_enable(&f, table, "t", "second");
        cr_expect_not(load(&f, &instances)->has_start);
        instances_release(&instances);
        store_fixture_begin(&f);
        cr_expect_eq(instances_recognise(f.store, first, lsn_make(1, 9, 1)), 0);
        cr_expect_eq(instances_recognise(f.store, second, lsn_make(1, 20, 1)), 0);
        cr_expect_eq(instances_recognise(f.store, 99, lsn_make(1, 20, 1)), -ENOENT);
        store_fixture_commit(&f);
        cr_assert_eq(instances_load(f.store, &instances), 0);
        cr_expect(instances.items[1].has_start);
        cr_expect_eq(lsn_frame(instances.items[0].start_lsn), 9);
        cr_expect_eq(lsn_frame(instances.items[1].start_lsn), 20);
        instances_release(&instances);
        cr_assert_eq(state_load(f.store, &state), 0);
        cr_expect_eq(lsn_frame(state.min_lsn), 9);
        state_release(&state);
        store_fixture_close(&f);
}

Test(instances, the_start_of_one_only_rises)
{
        struct store_fixture f;
        struct instances instances;
        static const uint32_t frames[] = {5, 3, 9}, marks[] = {5, 5, 9};
        store_fixture_open(&f, TEXT_UTF8);
        int64_t object_id = store_fixture_enable(&f, table, "t", NULL);
        cr_assert_eq(instances_recognise(f.store, object_id, lsn_make(1, 1, 1)), 0);
        for (size_t i = 0; i < COUNT(frames); i++) {
                cr_assert_eq(instances_set_start(f.store, object_id, lsn_make(1, frames[i], 1)), 0);
                cr_expect_eq(lsn_frame(load(&f, &instances)->start_lsn), marks[i], "%zu", i);
                instances_release(&instances);
        }
        store_fixture_close(&f);
}

Test(instances, errors_and_drops_are_kept_and_errors_can_be_lifted)
{
        struct store_fixture f;
        struct instances instances;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t object_id = store_fixture_enable(&f, table, "t", NULL);
        cr_assert_eq(instances_set_error(f.store, object_id, "it broke"), 0);
        cr_assert_eq(instances_set_dropped(f.store, object_id), 0);
        const struct instance *instance = load(&f, &instances);
        cr_expect_str_eq(instance->error, "it broke");
        cr_expect(instance->has_drop_pending);
        instances_release(&instances);
        cr_assert_eq(instances_set_error(f.store, object_id, NULL), 0);
        cr_expect_null(load(&f, &instances)->error);
        instances_release(&instances);
        cr_expect_eq(instances_set_error(f.store, 99, NULL), -ENOENT);
        cr_expect_eq(instances_set_dropped(f.store, 99), -ENOENT);
        store_fixture_close(&f);
}

Test(instances, a_table_made_anew_after_a_drop_is_another_source)
{
        struct store_fixture f;
        struct problem problem = {0};
        int64_t object_id = 0;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t first = store_fixture_enable(&f, table, "t", "one");
        store_fixture_enable(&f, table, "t", "two");
        cr_assert_eq(instances_set_dropped(f.store, first), 0);
        struct instances_request request = {.name = "three", .supports_net = -1};
        cr_expect_eq(store_fixture_try(&f, table, "t", request, &problem, &object_id), 0, "%s",
                problem.message);
        cr_expect_eq(store_fixture_integer(
                             &f, "SELECT count(DISTINCT source_object_id) FROM change_tables"),
                2);
        store_fixture_close(&f);
}

Test(instances, binding_follows_the_source_and_leaves_names_and_ids)
{
        struct store_fixture f;
        struct instances instances;
        static const int positions[] = {1, -1, 0};
        store_fixture_open(&f, TEXT_UTF8);
        int64_t object_id = store_fixture_enable(&f, table, "t", NULL);
        cr_assert_eq(instances_bind(f.store, load(&f, &instances), "renamed", 77,
                             "CREATE TABLE renamed(c, a)", positions),
                0);
        instances_release(&instances);
        cr_assert_eq(instances_set_type(f.store, object_id, 3, "BLOB"), 0);
        cr_expect_eq(instances_set_type(f.store, object_id, 4, "BLOB"), -ENOENT);
        const struct instance *instance = load(&f, &instances);
        cr_expect_str_eq(instance->name, "main_t");
        cr_expect_str_eq(instance->source_table, "renamed");
        cr_expect_str_eq(instance->source_sql, "CREATE TABLE renamed(c, a)");
        cr_expect_eq(instance->source_rowid, 77);
        for (unsigned i = 0; i < 3; i++) {
                cr_expect_eq(instance->columns[i].position, positions[i], "%u", i);
                cr_expect_eq(instance->columns[i].column_id, i + 1, "%u", i);
        }
        cr_expect_str_eq(instance->columns[1].declared_type, "TEXT");
        cr_expect_str_eq(instance->columns[2].declared_type, "BLOB");
        instances_release(&instances);
        store_fixture_close(&f);
}

Test(instances, every_change_raises_the_catalogs_version)
{
        struct store_fixture f;
        struct instances instances;
        static const int positions[] = {0, 1, 2};
        store_fixture_open(&f, TEXT_UTF8);
        int64_t object_id = store_fixture_enable(&f, table, "t", NULL);
        const struct instance *instance = load(&f, &instances);
        uint64_t version = 1;
        cr_assert_eq(instances_recognise(f.store, object_id, lsn_make(1, 1, 1)), 0);
        cr_assert_eq(instances_set_start(f.store, object_id, lsn_make(1, 2, 1)), 0);
        cr_assert_eq(instances_set_dropped(f.store, object_id), 0);
        cr_assert_eq(instances_set_error(f.store, object_id, "x"), 0);
        cr_assert_eq(instances_set_type(f.store, object_id, 1, "x"), 0);
        cr_assert_eq(instances_bind(f.store, instance, "t", 1, "x", positions), 0);
        cr_assert_eq(state_catalog_version(f.store, &version), 0);
        cr_expect_eq(version, 7);
        instances_release(&instances);
        store_fixture_close(&f);
}

Test(instances, damaged_rows_are_found)
{
        static const char *const damages[] = {
                "UPDATE captured_columns SET column_ordinal = 9 WHERE column_ordinal = 2",
                "DELETE FROM captured_columns WHERE column_ordinal = 1",
        };
        for (size_t i = 0; i < COUNT(damages); i++) {
                struct store_fixture f;
                struct instances instances;
                store_fixture_open(&f, TEXT_UTF8);
                store_fixture_enable(&f, table, "t", NULL);
                cr_assert_eq(sql_execute(store_db(f.store), damages[i]), 0);
                cr_expect_eq(instances_load(f.store, &instances), -EBADMSG, "%s", damages[i]);
                store_fixture_close(&f);
        }
}
