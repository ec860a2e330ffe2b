/* SPDX-License-Identifier: MIT
 *
 * Names, size and life of what was read.
 */
#include "ground/clock.h"
#include "schema_fixture.h"

/* ---- names ---- */

Test(schema, every_name_is_kept)
{
        static const char *const names[] = {"plain", "with space", "it's", "double\"quote",
                "line\nbreak", "tab\there", "\xc3\xa4\xc3\xb6\xc3\xbc", "\xf0\x9f\x98\x80",
                "select", "1st", "a;b", "a--b", "a/*b", "%s%n", "back\\slash", "[x]", "`y`", "x.y",
                "main", "temp", "rowid", "", " ", "sqlitefiller", "defaults", "sqlite", "sqlite3_x",
                "pragma_table_x", "table_list", "\x01\x02", "one", "t_data"};
        for (unsigned i = 0; i < COUNT(names); i++) {
                struct sample sample;
                _cleanup_free_ char *index = NULL;
                _cleanup_(buf_release) struct buf sql = BUF_INIT;
                buf_append_string(&sql, "CREATE TABLE ");
                text_append_identifier(&sql, names[i]);
                buf_append_string(&sql, "(x, ");
                text_append_identifier(&sql, names[i]);
                buf_append_string(&sql, " DEFAULT 7 UNIQUE); CREATE INDEX ");
                cr_assert(asprintf(&index, "index of %s", names[i]) > 0);
                text_append_identifier(&sql, index);
                buf_append_string(&sql, " ON ");
                text_append_identifier(&sql, names[i]);
                buf_append_string(&sql, "(x)");
                schema_fixture_open(&sample, buf_string(&sql));
                _cleanup_schema_ struct schema *schema = schema_fixture_read(&sample);
                const struct schema_table *t = schema_fixture_find(schema, names[i]);
                cr_expect(t->is_parsed, "'%s'", names[i]);
                cr_expect_str_eq(t->name, names[i]);
                cr_expect_eq(schema_find_column(t, names[i]), 1, "'%s'", names[i]);
                cr_expect(t->column_count == 2 && t->columns[1].has_default, "'%s'", names[i]);
                const struct schema_index *found = schema_find_index(schema, index);
                cr_assert(found, "'%s'", names[i]);
                cr_expect_str_eq(found->table_name, names[i]);
                cr_expect_eq(schema->index_count, 2, "'%s'", names[i]);
                sample_release(&sample);
        }
}

Test(schema, names_are_found_without_regard_to_ascii_case)
{
        struct sample sample;
        schema_fixture_open(&sample,
                "CREATE TABLE Orders(Id, \"\xc3\x84\"); CREATE INDEX \"By Id\" ON "
                "oRDERS(iD)");
        _cleanup_schema_ struct schema *schema = schema_fixture_read(&sample);
        const struct schema_table *t = schema_find_table(schema, "ORDERS");
        cr_assert(t);
        cr_expect_str_eq(t->name, "Orders");
        cr_expect_eq(schema_find_table(schema, "orders"), t);
        cr_expect_null(schema_find_table(schema, "order"));
        cr_expect_null(schema_find_table(schema, ""));
        cr_expect_eq(schema_find_column(t, "ID"), 0);
        cr_expect_eq(schema_find_column(t, "\xc3\x84"), 1);
        cr_expect_eq(schema_find_column(t, "\xc3\xa4"), -1);
        cr_expect_eq(schema_find_column(t, "rowid"), -1);
        cr_expect(schema_find_index(schema, "by ID"));
        cr_expect_null(schema_find_index(schema, "Orders"));
        cr_expect_eq(schema_find_rowid(schema, t->rowid), t);
        cr_expect_null(schema_find_rowid(schema, 12345));
        sample_release(&sample);
}

/* ---- size ---- */

Test(schema, as_many_columns_as_sqlite_allows_are_read)
{
        struct sample sample;
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        buf_append_string(&sql, "CREATE TABLE t(c0");
        for (unsigned i = 1; i < 2000; i++)
                buf_append_format(&sql, ", c%u", i);
        buf_append_string(&sql, ", PRIMARY KEY(c1999");
        for (unsigned i = 1998; i > 1000; i--)
                buf_append_format(&sql, ", c%u", i);
        buf_append_string(&sql, "))");
        schema_fixture_open(&sample, buf_string(&sql));
        _cleanup_schema_ struct schema *schema = schema_fixture_read(&sample);
        const struct schema_table *t = schema_fixture_find(schema, "t");
        cr_assert_eq(t->column_count, 2000);
        cr_expect_eq(t->key_count, 999);
        cr_expect_eq(t->key[0], 1999);
        cr_expect_eq(t->key[998], 1001);
        cr_expect_eq(t->columns[1999].storage, 1999);
        sample_release(&sample);
}

Test(schema, many_indexes_of_a_table_are_read)
{
        enum { INDEXES = 400 };
        struct sample sample;
        schema_fixture_open(&sample, "CREATE TABLE t(a, b UNIQUE)");
        for (unsigned i = 0; i < INDEXES; i++) {
                char sql[100];
                snprintf(sql, sizeof sql, "CREATE %s INDEX i%u ON t(a, b)", i % 2 ? "UNIQUE" : "",
                        i);
                sample_run(&sample, sql);
        }
        _cleanup_schema_ struct schema *schema = schema_fixture_read(&sample);
        cr_expect(schema_fixture_find(schema, "t")->is_parsed);
        cr_expect_eq(schema->index_count, INDEXES + 1, "%zu", schema->index_count);
        cr_expect(schema_find_index(schema, "i399"));
        sample_release(&sample);
}

Test(schema, five_hundred_tables_are_read)
{
        enum { TABLES = 500 };
        struct sample sample;
        schema_fixture_create(&sample, "UTF-8");
        sample_run(&sample, "BEGIN");
        for (unsigned i = 0; i < TABLES; i++) {
                char sql[300];
                snprintf(sql, sizeof sql,
                        "CREATE TABLE t%u(a INTEGER PRIMARY KEY, b TEXT NOT NULL, c REAL DEFAULT "
                        "0, d TEXT DEFAULT 'none', e REFERENCES t%u, f, g, h); "
                        "CREATE INDEX i%u ON t%u(b); CREATE UNIQUE INDEX j%u ON t%u(c, d)",
                        i, i / 2, i, i, i, i);
                sample_run(&sample, sql);
        }
        sample_run(&sample, "COMMIT");
        int64_t start = clock_monotonic(NULL);
        _cleanup_schema_ struct schema *schema = schema_fixture_read(&sample);
        fprintf(stderr, "# %d tables in %ld ms\n", TABLES,
                (long)((clock_monotonic(NULL) - start) / 1000000));
        cr_expect_eq(schema->table_count, TABLES);
        cr_expect_eq(schema->index_count, 2 * TABLES);
        for (unsigned i = 0; i < TABLES; i++)
                cr_expect(schema->tables[i].is_parsed && schema->tables[i].column_count == 8);
        sample_release(&sample);
}

/* ---- the life of a schema ---- */

Test(schema, a_reference_keeps_it)
{
        struct sample sample;
        schema_fixture_open(&sample, "CREATE TABLE t(a, b DEFAULT 'text')");
        struct schema *schema = schema_fixture_read(&sample);
        struct schema *again = schema_ref(schema);
        cr_expect_eq(again, schema);
        schema_unref(schema);
        cr_expect_str_eq(schema_fixture_find(again, "t")->columns[0].name, "a");
        cr_expect_eq(
                memcmp(schema_fixture_find(again, "t")->columns[1].default_value.bytes, "text", 4),
                0);
        schema_unref(again);
        schema_unref(NULL);
        sample_release(&sample);
}
