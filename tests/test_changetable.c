/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/changetable.h"
#include "store_fixture.h"

#define TEXT(text)                                                                                 \
        {                                                                                          \
                .type = VALUE_TEXT, .size = sizeof(text) - 1, .bytes = (const uint8_t *)text       \
        }

static const struct value before[] = {
        {.type = VALUE_INTEGER, .integer = 1}, TEXT("old"), {.type = VALUE_NULL}};
static const struct value after[] = {
        {.type = VALUE_INTEGER, .integer = 1}, TEXT("new"), {.type = VALUE_REAL, .real = 1.5}};
static const uint8_t mask[] = {6};

static struct change make_change(enum change_operation operation)
{
        return (struct change){.operation = operation,
                .columns = 3,
                .before = operation == CHANGE_INSERT ? NULL : before,
                .after = operation == CHANGE_DELETE ? NULL : after,
                .mask = mask};
}

static const struct instance *enable(
        struct store_fixture *f, const char *sql, struct instances *instances)
{
        store_fixture_enable(f, sql, "t", NULL);
        cr_assert_eq(instances_load(f->store, instances), 0);
        return &instances->items[0];
}

/* All rows, one a line. */
static char *dump(struct store_fixture *f, const char *rowid)
{
        char sql[600];
        snprintf(sql, sizeof sql,
                "SELECT group_concat(line, char(10)) FROM (SELECT %s || ' ' ||"
                " hex(\"__$start_lsn\") || ' ' || coalesce(\"__$end_lsn\", '-') || ' ' ||"
                " hex(\"__$seqval\") || ' ' || \"__$operation\" || ' ' || hex(\"__$update_mask\") "
                "||"
                " ' ' || quote(a) || ' ' || quote(b) || ' ' || quote(c) || ' ' ||"
                " \"__$command_id\" AS line FROM main_t_CT ORDER BY %s)",
                rowid, rowid);
        return store_fixture_text(f, sql);
}

Test(changetable, deletes_and_inserts_are_one_row_and_updates_two)
{
        static const struct {
                const char *sql, *rowid;
        } tables[] = {
                {"CREATE TABLE t(a PRIMARY KEY, b, c)", "_rowid_"},
                {"CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c TEXT)", "_rowid_"},
        };
        for (size_t i = 0; i < COUNT(tables); i++) {
                struct store_fixture f;
                struct instances instances;
                struct lsn lsn = lsn_make(1, 2, 1);
                const struct change delete = make_change(CHANGE_DELETE);
                const struct change insert = make_change(CHANGE_INSERT);
                const struct change update = make_change(CHANGE_UPDATE);
                store_fixture_open(&f, TEXT_UTF8);
                const struct instance *instance = enable(&f, tables[i].sql, &instances);
                store_fixture_begin(&f);
                cr_expect_eq(changetable_append(f.store, instance, &delete, lsn, 7, 1), 0);
                cr_expect_eq(changetable_append(f.store, instance, &update, lsn, 8, 2), 0);
                cr_expect_eq(changetable_append(f.store, instance, &insert, lsn, 9, 3), 0);
                store_fixture_commit(&f);
                _cleanup_free_ char *rows = dump(&f, tables[i].rowid);
                cr_expect_str_eq(rows,
                        "15 00000001000000020001 - 00000000000000000007 1 06 1 'old' NULL 1\n"
                        "16 00000001000000020001 - 00000000000000000008 3 06 1 'old' NULL 2\n"
                        "17 00000001000000020001 - 00000000000000000008 4 06 1 'new' 1.5 2\n"
                        "19 00000001000000020001 - 00000000000000000009 2 06 1 'new' 1.5 3");
                instances_release(&instances);
                store_fixture_close(&f);
        }
}

Test(changetable, wrong_shapes_and_used_numbers_are_refused)
{
        struct store_fixture f;
        struct instances instances;
        struct change change = make_change(CHANGE_INSERT);
        store_fixture_open(&f, TEXT_UTF8);
        const struct instance *instance = enable(&f, "CREATE TABLE t(a, b, c)", &instances);
        cr_expect_eq(changetable_append(f.store, instance, &change, lsn_make(1, 1, 1), 1, 1), 0);
        cr_expect_eq(
                changetable_append(f.store, instance, &change, lsn_make(1, 1, 1), 1, 1), -EEXIST);
        change.columns = 2;
        cr_expect_eq(
                changetable_append(f.store, instance, &change, lsn_make(1, 1, 1), 2, 1), -EINVAL);
        instances_release(&instances);
        store_fixture_close(&f);
}

Test(changetable, a_captured_column_may_have_any_name)
{
        struct store_fixture f;
        struct instances instances;
        const struct change change = make_change(CHANGE_UPDATE);
        store_fixture_open(&f, TEXT_UTF8);
        const struct instance *instance =
                enable(&f, "CREATE TABLE t(_rowid_, \"a\"\"b\", \"x\ny\")", &instances);
        store_fixture_begin(&f);
        cr_expect_eq(changetable_append(f.store, instance, &change, lsn_make(1, 1, 1), 5, 1), 0);
        store_fixture_commit(&f);
        cr_expect_eq(
                store_fixture_integer(&f, "SELECT count(*) FROM main_t_CT WHERE rowid IN (10, 11)"),
                2);
        cr_expect_eq(store_fixture_integer(
                             &f, "SELECT \"a\"\"b\" = 'new' FROM main_t_CT WHERE rowid = 11"),
                1);
        instances_release(&instances);
        store_fixture_close(&f);
}

Test(changetable, text_stays_byte_for_byte_in_the_encoding_of_the_source)
{
        static const struct value odd[] = {TEXT("\xff\xfe\x00\xd8"), TEXT("1\0"), TEXT("\xfe\xff")};
        for (enum text_encoding e = TEXT_UTF8; e <= TEXT_UTF16BE; e++) {
                struct store_fixture f;
                struct instances instances;
                _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
                const struct change change = {
                        .operation = CHANGE_INSERT, .columns = 3, .after = odd, .mask = mask};
                store_fixture_open(&f, e);
                const struct instance *instance =
                        enable(&f, "CREATE TABLE t(a INTEGER, b REAL, c)", &instances);
                cr_assert_eq(
                        changetable_append(f.store, instance, &change, lsn_make(1, 1, 1), 1, 1), 0);
                cr_assert_eq(sqlite3_prepare_v2(store_db(f.store), "SELECT a, b, c FROM main_t_CT",
                                     -1, &stmt, NULL),
                        SQLITE_OK);
                cr_assert_eq(sql_next(stmt), 1);
                for (int i = 0; i < 3; i++) {
                        struct value got;
                        sql_column_value(stmt, i, &got);
                        cr_expect(value_equal(&got, &odd[i]), "encoding %d, column %d", e, i);
                }
                sqlite3_finalize(steal(stmt));
                instances_release(&instances);
                store_fixture_close(&f);
        }
}

Test(changetable, appending_goes_on_after_another_table_was_made_or_dropped)
{
        struct store_fixture f;
        struct instances instances;
        const struct change change = make_change(CHANGE_UPDATE);
        store_fixture_open(&f, TEXT_UTF8);
        const struct instance *instance = enable(&f, "CREATE TABLE t(a, b, c)", &instances);
        struct run_result result = run("sqlite3 '%s' 'SELECT 1'", f.path);
        run_release(&result);
        for (uint64_t i = 1; i <= 4; i++) {
                store_fixture_begin(&f);
                cr_expect_eq(
                        changetable_append(f.store, instance, &change, lsn_make(1, 1, 1), i, 1), 0);
                cr_assert_eq(sql_execute(store_db(f.store),
                                     i % 2 ? "CREATE TABLE extra(a)" : "DROP TABLE extra"),
                        0);
                store_fixture_commit(&f);
        }
        cr_expect_eq(store_fixture_integer(&f, "SELECT count(*) FROM main_t_CT"), 8);
        instances_release(&instances);
        store_fixture_close(&f);
}

Test(changetable, dropping_removes_the_table_and_its_statement)
{
        struct store_fixture f;
        struct instances instances;
        const struct change change = make_change(CHANGE_INSERT);
        store_fixture_open(&f, TEXT_UTF8);
        const struct instance *instance = enable(&f, "CREATE TABLE t(a, b, c)", &instances);
        cr_assert_eq(changetable_append(f.store, instance, &change, lsn_make(1, 1, 1), 1, 1), 0);
        cr_expect_not_null(store_statement_find(f.store, instance->statement));
        cr_expect_eq(changetable_drop(f.store, instance), 0);
        cr_expect_null(store_statement_find(f.store, instance->statement));
        cr_expect_lt(changetable_append(f.store, instance, &change, lsn_make(1, 1, 1), 2, 1), 0);
        instances_release(&instances);
        store_fixture_close(&f);
}
