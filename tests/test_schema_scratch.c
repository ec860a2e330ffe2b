/* SPDX-License-Identifier: MIT
 *
 * Rows of sqlite_schema made by hand, and texts that this SQLite cannot parse.
 */
#include "schema_fixture.h"

struct rows {
        struct schema_rows rows;
};

static void add_row(
        struct rows *rows, const char *type, const char *name, const char *table, const char *sql)
{
        struct schema_rows *r = &rows->rows;
        r->rows = realloc(r->rows, (r->count + 1) * sizeof(*r->rows));
        r->rows[r->count] = (struct schema_row){
                .rowid = (int64_t)r->count + 1,
                .type = type ? strdup(type) : NULL,
                .name = name ? strdup(name) : NULL,
                .table_name = table ? strdup(table) : NULL,
                .root = (uint32_t)(2 + r->count),
                .sql = sql ? strdup(sql) : NULL,
        };
        r->count++;
}

static void add_table(struct rows *rows, const char *name, const char *sql)
{
        add_row(rows, "table", name, name, sql);
}

static struct schema *build(struct rows *rows)
{
        struct schema *schema = NULL;
        cr_assert_eq(schema_build(&rows->rows, TEXT_UTF8, &schema), 0);
        schema_rows_release(&rows->rows);
        return schema;
}

Test(schema_scratch, a_text_that_cannot_be_parsed_hides_nothing_but_itself)
{
        static const char *const texts[] = {
                "CREATE TABLE bad(a, b) NEWER",
                "CREATE TABLE bad(a b c, d",
                "CREATE TABLE bad",
                "CREATE TABLE bad()",
                "CREATE TABLE bad(a, a)",
                "CREATE TABLE bad(a, PRIMARY KEY(missing))",
                "CREATE TABLE bad(a) STRICT",
                "CREATE TABLE bad(a) WITHOUT ROWID",
                "CREATE TABLE bad AS SELECT 1",
                "",
                "not SQL",
                "DROP TABLE good",
                "CREATE INDEX bad ON good(a)",
                "/* nothing */",
                "\xff\xfe",
                "CREATE TABLE bad(a AS (SELECT 1))",
                "INSERT INTO good VALUES(1)",
        };
        for (unsigned i = 0; i < COUNT(texts); i++) {
                struct rows rows = {0};
                add_table(&rows, "good", "CREATE TABLE good(a, b INTEGER PRIMARY KEY)");
                add_table(&rows, "bad", texts[i]);
                add_row(&rows, "index", "odd", "good", "CREATE INDEX odd ON good(a) NEWER");
                add_row(&rows, "index", "fine", "good", "CREATE INDEX fine ON good(b)");
                add_table(&rows, "better", "CREATE TABLE better(x, y, z)");
                _cleanup_schema_ struct schema *schema = build(&rows);
                cr_expect_eq(schema->table_count, 3, "%s", texts[i]);
                cr_expect(schema_fixture_find(schema, "good")->is_parsed, "%s", texts[i]);
                cr_expect_eq(schema_fixture_find(schema, "good")->column_count, 2, "%s", texts[i]);
                cr_expect_eq(schema_fixture_find(schema, "good")->rowid_column, 1, "%s", texts[i]);
                cr_expect(schema_fixture_find(schema, "better")->is_parsed, "%s", texts[i]);
                cr_expect_eq(
                        schema_fixture_find(schema, "better")->column_count, 3, "%s", texts[i]);
                cr_expect_not(schema_fixture_find(schema, "bad")->is_parsed, "%s", texts[i]);
                cr_expect_eq(schema_fixture_find(schema, "bad")->column_count, 0, "%s", texts[i]);
                cr_expect_eq(schema_fixture_find(schema, "bad")->key_count, 0, "%s", texts[i]);
                cr_expect_str_eq(schema_fixture_find(schema, "bad")->sql, texts[i]);
                cr_expect(schema_find_index(schema, "fine"), "%s", texts[i]);
                cr_expect_null(schema_find_index(schema, "odd"), "%s", texts[i]);
        }
}

Test(schema_scratch, rows_that_make_no_sense_do_no_harm)
{
        struct rows rows = {0};
        add_row(&rows, NULL, NULL, NULL, NULL);
        add_row(&rows, "table", NULL, "t", "CREATE TABLE t(a)");
        add_row(&rows, "table", "n", "n", NULL);
        add_row(&rows, NULL, "x", "x", "CREATE TABLE x(a)");
        add_row(&rows, "TABLE", "y", "y", "CREATE TABLE y(a)");
        add_row(&rows, "index", "i", NULL, "CREATE INDEX i ON t(a)");
        add_row(&rows, "index", NULL, "t", "CREATE INDEX i ON t(a)");
        add_row(&rows, "table", "t", "t", "CREATE TABLE t(a)");
        add_row(&rows, "table", "", "", "CREATE TABLE \"\"(a)");
        add_row(&rows, "table", "u", "u", "CREATE TABLE other_name(a)");
        add_row(&rows, "table", "v", "other", "CREATE TABLE v(a)");
        rows.rows.rows[7].root = 0xffffffff;
        rows.rows.rows[7].rowid = INT64_MIN;
        _cleanup_schema_ struct schema *schema = build(&rows);
        cr_expect_eq(schema->table_count, 4, "%zu", schema->table_count);
        cr_expect_eq(schema_fixture_find(schema, "t")->root, 0xffffffff);
        cr_expect(schema_fixture_find(schema, "t")->is_parsed);
        cr_expect_eq(schema_find_rowid(schema, INT64_MIN), schema_fixture_find(schema, "t"));
        cr_expect_not(schema_fixture_find(schema, "u")->is_parsed, "the text is of another table");
        cr_expect_not(schema_fixture_find(schema, "v")->is_parsed, "the row is of another table");

        struct rows none = {0};
        _cleanup_schema_ struct schema *empty = build(&none);
        cr_expect_eq(empty->table_count, 0);
        cr_expect_null(schema_find_table(empty, "t"));
}

/* The application's SQLite has functions, collations and modules that ours has not. */
Test(schema_scratch, unknown_functions_collations_and_modules_do_no_harm)
{
        struct rows rows = {0};
        add_table(&rows, "t",
                "CREATE TABLE t(a COLLATE klingon PRIMARY KEY, b CHECK (is_good(b)), "
                "c AS (mangle(a, b)), d TEXT COLLATE klingon UNIQUE, e AS (crc(a)) STORED, "
                "f DEFAULT (make_id()), CHECK (check_all(a, b)))");
        add_row(&rows, "index", "sqlite_autoindex_t_1", "t", NULL);
        add_row(&rows, "index", "sqlite_autoindex_t_2", "t", NULL);
        add_row(&rows, "index", "i1", "t", "CREATE INDEX i1 ON t(mangle(b, 1), b)");
        add_row(&rows, "index", "i2", "t",
                "CREATE UNIQUE INDEX i2 ON t(b COLLATE vulcan, d) WHERE is_good(d)");
        add_table(&rows, "w",
                "CREATE TABLE w(k TEXT COLLATE klingon, v, PRIMARY KEY(k)) WITHOUT ROWID");
        add_table(&rows, "m", "CREATE VIRTUAL TABLE m USING vec0(embedding float[3])");
        add_table(&rows, "m_chunks", "CREATE TABLE m_chunks(a)");
        add_table(&rows, "m_vector_chunks00", "CREATE TABLE m_vector_chunks00(a)");
        add_table(&rows, "m_other", "CREATE TABLE m_other(a)");
        _cleanup_schema_ struct schema *schema = build(&rows);
        const struct schema_table *t = schema_fixture_find(schema, "t");
        cr_assert(t->is_parsed);
        cr_expect_eq(t->column_count, 6);
        cr_expect_eq(t->key_count, 1);
        cr_expect_eq(t->columns[2].storage, -1);
        cr_expect_eq(t->columns[4].storage, 3);
        cr_expect_eq(t->columns[5].storage, 4);
        cr_expect_eq(t->columns[5].default_value.type, VALUE_NULL);
        const struct schema_index *i1 = schema_find_index(schema, "i1");
        cr_assert(i1);
        cr_expect(i1->has_expression);
        cr_expect_eq(i1->column_count, 1);
        const struct schema_index *i2 = schema_find_index(schema, "i2");
        cr_assert(i2);
        cr_expect(i2->is_unique && i2->is_partial && !i2->has_expression);
        cr_expect_eq(i2->column_count, 2);
        cr_expect(schema_fixture_find(schema, "w")->is_parsed);
        cr_expect_eq(schema_fixture_find(schema, "w")->columns[1].storage, 1);
        cr_expect_eq(schema_fixture_find(schema, "m")->kind, SCHEMA_VIRTUAL);
        cr_expect_eq(schema_fixture_find(schema, "m_chunks")->kind, SCHEMA_SHADOW);
        cr_expect_eq(schema_fixture_find(schema, "m_vector_chunks00")->kind, SCHEMA_SHADOW);
        cr_expect_eq(schema_fixture_find(schema, "m_other")->kind, SCHEMA_TABLE);
}

/* Old databases have texts with quoted strings where newer builds demand names. */
Test(schema_scratch, double_quoted_strings_are_taken_as_the_application_took_them)
{
        struct rows rows = {0};
        add_table(&rows, "t", "CREATE TABLE t(a, b CHECK (b <> \"none\"), c AS (a || \"x\"))");
        add_row(&rows, "index", "i", "t", "CREATE INDEX i ON t(a) WHERE b = \"some\"");
        add_row(&rows, "index", "j", "t", "CREATE INDEX j ON t(\"a\", \"not a column\")");
        _cleanup_schema_ struct schema *schema = build(&rows);
        cr_expect(schema_fixture_find(schema, "t")->is_parsed);
        cr_expect_eq(schema_fixture_find(schema, "t")->column_count, 3);
        cr_expect(schema_find_index(schema, "i"));
        cr_expect(schema_find_index(schema, "j"));
}
