/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "store_fixture.h"

Test(store_use, a_cached_statement_is_the_same_and_comes_reset)
{
        struct store_fixture f;
        sqlite3_stmt *first = NULL, *again = NULL;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(store_statement(f.store, "SELECT ?1", &first), 0);
        sqlite3_bind_int(first, 1, 5);
        cr_assert_eq(sql_next(first), 1);
        cr_assert_eq(store_statement(f.store, "SELECT ?1", &again), 0);
        cr_expect_eq(first, again);
        cr_assert_eq(sql_next(again), 1);
        cr_expect_eq(sqlite3_column_type(again, 0), SQLITE_NULL, "no binding is left");
        sql_done(again);
        store_fixture_close(&f);
}

Test(store_use, a_statement_that_cannot_be_prepared_is_not_kept)
{
        struct store_fixture f;
        sqlite3_stmt *stmt = NULL;
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_lt(store_statement(f.store, "SELECT * FROM nothing", &stmt), 0);
        cr_expect(strstr(store_error(f.store), "nothing"));
        cr_expect_null(store_statement_find(f.store, "SELECT * FROM nothing"));
        store_fixture_close(&f);
}

Test(store_use, named_statements_are_found_and_forgotten_one_by_one)
{
        struct store_fixture f;
        sqlite3_stmt *stmt = NULL;
        char name[32], sql[32];
        store_fixture_open(&f, TEXT_UTF8);
        for (int i = 0; i < 300; i++) {
                snprintf(name, sizeof name, "name %d", i);
                snprintf(sql, sizeof sql, "SELECT %d", i);
                cr_expect_null(store_statement_find(f.store, name), "%s", name);
                cr_assert_eq(store_statement_add(f.store, name, sql, &stmt), 0);
        }
        for (int i = 0; i < 300; i += 2) {
                snprintf(name, sizeof name, "name %d", i);
                store_statement_forget(f.store, name);
                store_statement_forget(f.store, name);
        }
        for (int i = 0; i < 300; i++) {
                snprintf(name, sizeof name, "name %d", i);
                stmt = store_statement_find(f.store, name);
                cr_assert_eq(stmt != NULL, i % 2 == 1, "%s", name);
                if (!stmt)
                        continue;
                cr_assert_eq(sql_next(stmt), 1);
                cr_expect_eq(sqlite3_column_int(stmt, 0), i);
                sql_done(stmt);
        }
        store_fixture_close(&f);
}

Test(store_use, a_transaction_is_all_or_nothing)
{
        struct store_fixture f;
        uint64_t version = 9;
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_not(store_in_transaction(f.store));
        store_fixture_begin(&f);
        cr_expect(store_in_transaction(f.store));
        cr_assert_eq(state_bump_catalog(f.store), 0);
        store_rollback(f.store);
        cr_expect_not(store_in_transaction(f.store));
        store_rollback(f.store);
        cr_assert_eq(state_catalog_version(f.store, &version), 0);
        cr_expect_eq(version, 0);
        store_fixture_begin(&f);
        cr_assert_eq(state_bump_catalog(f.store), 0);
        store_fixture_commit(&f);
        cr_assert_eq(state_catalog_version(f.store, &version), 0);
        cr_expect_eq(version, 1);
        store_fixture_close(&f);
}

Test(store_use, a_reading_transaction_stays_at_one_state)
{
        struct store_fixture f;
        struct store *reader = NULL;
        uint64_t version = 9;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(store_open(f.path, STORE_READ, NULL, &reader), 0);
        cr_assert_eq(store_begin_read(reader), 0);
        cr_assert_eq(state_catalog_version(reader, &version), 0);
        store_fixture_begin(&f);
        cr_assert_eq(state_bump_catalog(f.store), 0);
        store_fixture_commit(&f);
        cr_assert_eq(state_catalog_version(reader, &version), 0);
        cr_expect_eq(version, 0);
        cr_assert_eq(store_commit(reader), 0);
        cr_assert_eq(state_catalog_version(reader, &version), 0);
        cr_expect_eq(version, 1);
        store_close(reader);
        store_fixture_close(&f);
}

Test(store_use, a_second_writer_waits_for_the_first)
{
        struct store_fixture f;
        store_fixture_create(&f, TEXT_UTF8);
        int ready[2];
        cr_assert_eq(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
                if (store_open(f.path, STORE_WRITE, NULL, &f.store) < 0 || store_begin(f.store) < 0)
                        _exit(1);
                (void)!write(ready[1], "x", 1);
                usleep(150 * 1000);
                _exit(state_bump_catalog(f.store) < 0 || store_commit(f.store) < 0);
        }
        char byte;
        uint64_t version = 0;
        int status = 0;
        cr_assert_eq(read(ready[0], &byte, 1), 1);
        cr_assert_eq(store_open(f.path, STORE_WRITE, NULL, &f.store), 0);
        cr_expect_eq(store_begin(f.store), 0);
        cr_assert_eq(state_catalog_version(f.store, &version), 0);
        cr_expect_eq(version, 1);
        store_rollback(f.store);
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect_eq(status, 0);
        store_fixture_close(&f);
}

Test(store_use, syncing_works_before_and_after_writes_and_keeps_the_locks)
{
        struct store_fixture f;
        struct problem problem = {0};
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_eq(store_sync(f.store, &problem), 0, "%s", problem.message);
        store_fixture_begin(&f);
        cr_assert_eq(state_bump_catalog(f.store), 0);
        store_fixture_commit(&f);
        cr_expect_eq(store_sync(f.store, &problem), 0, "%s", problem.message);
        store_fixture_begin(&f);
        struct run_result result = run("sqlite3 '%s' 'BEGIN IMMEDIATE'", f.path);
        cr_expect_neq(result.code, 0, "another process finds the lock");
        run_release(&result);
        store_rollback(f.store);
        store_fixture_close(&f);
}

Test(store_use, values_are_deleted_without_a_trace)
{
        struct store_fixture f;
        store_fixture_open(&f, TEXT_UTF8);
        store_fixture_begin(&f);
        cr_assert_eq(sql_execute(store_db(f.store), "INSERT INTO cdcfs_requests(command, created)"
                                                    " VALUES('x', 'a secret' || ' value')"),
                0);
        store_fixture_commit(&f);
        store_fixture_begin(&f);
        cr_assert_eq(sql_execute(store_db(f.store), "DELETE FROM cdcfs_requests"), 0);
        store_fixture_commit(&f);
        store_close(f.store);
        f.store = NULL;
        struct run_result result = run("grep -c 'a secret value' '%s'", f.path);
        cr_expect_str_eq(result.text, "0\n");
        run_release(&result);
        store_fixture_close(&f);
}
