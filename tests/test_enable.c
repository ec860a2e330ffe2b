/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/jobs.h"
#include "store_fixture.h"

#define CUSTOMERS "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, \"odd \"\" one\" REAL)"

Test(enable, an_instance_comes_with_its_rows_and_its_change_table)
{
        struct store_fixture f;
        struct instances instances;
        store_fixture_open(&f, TEXT_UTF8);
        int64_t object_id = store_fixture_enable(&f, CUSTOMERS, "CUSTOMERS", NULL);
        cr_assert_eq(instances_load(f.store, &instances), 0);
        cr_assert_eq(instances.count, 1);
        const struct instance *instance = instances_find(&instances, "main_customers");
        cr_assert_not_null(instance);
        cr_expect_eq(instance->object_id, object_id);
        cr_expect_str_eq(instance->source_table, "customers");
        cr_expect_str_eq(instance->source_sql, CUSTOMERS);
        cr_expect_str_eq(instance->change_table, "main_customers_CT");
        cr_expect_not(instance->has_start);
        cr_expect(instance->supports_net_changes);
        cr_expect_eq(instance->create_time_ns, STORE_FIXTURE_NOW);
        cr_assert_eq(instance->column_count, 3);
        cr_expect_str_eq(instance->columns[2].name, "odd \" one");
        cr_expect_str_eq(instance->columns[2].declared_type, "REAL");
        cr_expect_eq(instance->columns[2].affinity, 'E');
        cr_expect_eq(instance->columns[2].column_id, 3);
        cr_expect_eq(instance->columns[2].position, 2);
        cr_assert_eq(instance->key_count, 1);
        cr_expect_eq(instance->key[0], 1);
        instances_release(&instances);

        static const struct {
                const char *sql, *answer;
        } asked[] = {
                {"SELECT group_concat(name || ':' || type, '|') FROM"
                 " pragma_table_info('main_customers_CT')",
                        "__$start_lsn:|__$end_lsn:|__$seqval:|__$operation:|__$update_mask:|id:|"
                        "name:|odd \" one:|__$command_id:"},
                {"SELECT group_concat(job_type) FROM cdc_jobs", "capture,cleanup"},
                {"SELECT create_date FROM change_tables", "2026-11-30T10:00:00.000000Z"},
                {"SELECT catalog_version FROM cdcfs_state", "1"},
                {"SELECT start_lsn IS NULL AND end_lsn IS NULL FROM change_tables", "1"},
        };
        for (size_t i = 0; i < COUNT(asked); i++) {
                _cleanup_free_ char *answer = store_fixture_text(&f, asked[i].sql);
                cr_expect_str_eq(answer, asked[i].answer, "%s: %s", asked[i].sql, answer);
        }
        store_fixture_close(&f);
}

Test(enable, only_ordinary_tables_can_be_captured)
{
        static const struct {
                const char *sql, *table, *words;
        } cases[] = {
                {"CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t", "v", "view"},
                {"CREATE VIRTUAL TABLE f USING fts5(a)", "f", "virtual"},
                {"CREATE VIRTUAL TABLE f USING fts5(a)", "f_data", "virtual table"},
                {"CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT)", "sqlite_sequence",
                        "SQLite's own"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct store_fixture f;
                struct problem problem = {.number = -1};
                int64_t object_id = 0;
                struct instances_request request = {.supports_net = -1};
                store_fixture_open(&f, TEXT_UTF8);
                cr_expect_eq(store_fixture_try(&f, cases[i].sql, cases[i].table, request, &problem,
                                     &object_id),
                        -EINVAL, "%s", cases[i].table);
                cr_expect_eq(problem.number, 0);
                cr_expect(strstr(problem.message, cases[i].words), "%s", problem.message);
                store_fixture_close(&f);
        }
}

Test(enable, a_table_has_two_instances_and_no_third)
{
        struct store_fixture f;
        struct problem problem = {0};
        int64_t object_id = 0;
        struct instances_request request = {.supports_net = -1};
        store_fixture_open(&f, TEXT_UTF8);
        int64_t first = store_fixture_enable(&f, CUSTOMERS, "customers", NULL);
        cr_expect_eq(store_fixture_try(&f, CUSTOMERS, "customers", request, &problem, &object_id),
                -EEXIST);
        cr_expect_eq(problem.number, 22926, "the default name is used");
        int64_t second = store_fixture_enable(&f, CUSTOMERS, "customers", "second");
        cr_expect_gt(second, first);
        request.name = "third";
        cr_expect_eq(store_fixture_try(&f, CUSTOMERS, "customers", request, &problem, &object_id),
                -EINVAL);
        cr_expect_eq(problem.number, 22962);
        cr_expect_eq(store_fixture_integer(
                             &f, "SELECT count(DISTINCT source_object_id) FROM change_tables"),
                1);
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM change_tables"), 2);
        store_fixture_close(&f);
}

Test(enable, a_refused_or_rolled_back_one_leaves_nothing)
{
        struct store_fixture f;
        struct problem problem = {0};
        int64_t object_id = 0;
        struct instances_request request = {.supports_net = 1};
        store_fixture_open(&f, TEXT_UTF8);
        _cleanup_free_ char *before = store_fixture_text(&f,
                "SELECT group_concat(name) || (SELECT next_ino FROM cdcfs_state) FROM"
                " (SELECT name FROM sqlite_schema ORDER BY name)");
        cr_expect_lt(
                store_fixture_try(&f, "CREATE TABLE t(a)", "t", request, &problem, &object_id), 0);
        _cleanup_free_ char *after = store_fixture_text(&f,
                "SELECT group_concat(name) || (SELECT next_ino FROM cdcfs_state) FROM"
                " (SELECT name FROM sqlite_schema ORDER BY name)");
        cr_expect_str_eq(before, after);
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM cdc_jobs"), 0);
        store_fixture_close(&f);
}

Test(enable, roles_are_trimmed_and_must_not_be_empty)
{
        static const struct {
                const char *role;
                int number;
                const char *kept;
        } cases[] = {{NULL, 0, "NULL"}, {"readers", 0, "readers"}, {"readers  ", 0, "readers"},
                {"", 22907, NULL}, {"  ", 22907, NULL}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct store_fixture f;
                struct problem problem = {0};
                int64_t object_id = 0;
                struct instances_request request = {.role = cases[i].role, .supports_net = -1};
                store_fixture_open(&f, TEXT_UTF8);
                int r = store_fixture_try(
                        &f, CUSTOMERS, "customers", request, &problem, &object_id);
                cr_expect_eq(r < 0 ? problem.number : 0, cases[i].number, "'%s'", cases[i].role);
                _cleanup_free_ char *role =
                        store_fixture_text(&f, "SELECT role_name FROM change_tables");
                cr_expect_str_eq(role, cases[i].kept ? cases[i].kept : "NULL");
                store_fixture_close(&f);
        }
}

Test(enable, the_rowid_goes_by_a_name_that_no_captured_column_has)
{
        static const struct {
                const char *sql, *list, *name;
        } cases[] = {
                {"CREATE TABLE t(a)", NULL, "_rowid_"},
                {"CREATE TABLE t(a, _ROWID_)", NULL, "rowid"},
                {"CREATE TABLE t(a, rowid, _rowid_)", NULL, "oid"},
                {"CREATE TABLE t(a, rowid, _rowid_, oid)", "a,rowid,oid", "_rowid_"},
                {"CREATE TABLE t(a, rowid, _rowid_, oid)", NULL, NULL},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct store_fixture f;
                struct problem problem = {.number = -1};
                int64_t object_id = 0;
                struct instances_request request = {.columns = cases[i].list, .supports_net = -1};
                store_fixture_open(&f, TEXT_UTF8);
                int r = store_fixture_try(&f, cases[i].sql, "t", request, &problem, &object_id);
                _cleanup_free_ char *name =
                        store_fixture_text(&f, "SELECT rowid_name FROM cdcfs_instances");
                cr_expect_eq(r, cases[i].name ? 0 : -EINVAL, "%s", cases[i].sql);
                cr_expect_str_eq(name, cases[i].name ? cases[i].name : "NULL");
                cr_expect(r == 0 || strstr(problem.message, "rowid"), "%s", problem.message);
                store_fixture_close(&f);
        }
}

Test(enable, the_jobs_are_written_by_the_first_one_only)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        store_fixture_enable(&f, CUSTOMERS, "customers", NULL);
        store_fixture_begin(&f);
        cr_assert_eq(jobs_drop(f.store, JOBS_CLEANUP), 0);
        store_fixture_commit(&f);
        store_fixture_enable(&f, CUSTOMERS, "customers", "second");
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM cdc_jobs"), 1);
        store_fixture_close(&f);
}
