/* SPDX-License-Identifier: MIT */
#include "schema_fixture.h"

static void check_kinds(const struct schema *schema, const char *names, enum schema_kind kind)
{
        char *copy = strdup(names), *rest = NULL;
        for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
                const struct schema_table *t = schema_fixture_find(schema, name);
                cr_expect_eq(t->kind, kind, "%s is %d, not %d", name, t->kind, kind);
                bool has_columns = kind == SCHEMA_TABLE || kind == SCHEMA_SHADOW;
                cr_expect_eq(t->is_parsed, has_columns, "%s", name);
                cr_expect_eq(t->column_count > 0, has_columns, "%s", name);
        }
        free(copy);
}

Test(schema_kind, views_virtual_shadow_and_internal_tables_are_told_apart)
{
        struct sample sample;
        schema_fixture_open(&sample,
                "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b); CREATE INDEX i ON t(b);"
                "CREATE TABLE t_data(a); CREATE TABLE data(a); CREATE TABLE _data(a);"
                "CREATE TABLE x_content(a);"
                "INSERT INTO t VALUES(1, 2); ANALYZE;"
                "CREATE VIEW v AS SELECT * FROM t;"
                "CREATE VIEW bad AS SELECT * FROM missing;"
                "CREATE VIRTUAL TABLE f USING fts5(x, y);"
                "CREATE VIRTUAL TABLE \"f 2\" USING fts5(x);"
                "CREATE VIRTUAL TABLE F3 USING fts4(x);"
                "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);"
                "CREATE TABLE f_info(a); CREATE TABLE f_datum(a); CREATE TABLE f_node(a);"
                "CREATE TABLE r_data(a); CREATE TABLE r_stat(a);"
                "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END");
        _cleanup_schema_ struct schema *schema = schema_fixture_read(&sample);
        check_kinds(schema, "t t_data data _data x_content f_info f_datum f_node r_data r_stat",
                SCHEMA_TABLE);
        check_kinds(schema, "v bad", SCHEMA_VIEW);
        check_kinds(schema, "f F3 r", SCHEMA_VIRTUAL);
        check_kinds(schema,
                "f_data f_idx f_content f_docsize f_config F3_content F3_segments F3_segdir "
                "F3_docsize F3_stat r_node r_parent r_rowid",
                SCHEMA_SHADOW);
        cr_expect_eq(schema_fixture_find(schema, "f 2_data")->kind, SCHEMA_SHADOW);
        check_kinds(schema, "sqlite_sequence sqlite_stat1", SCHEMA_INTERNAL);
        cr_expect_null(schema_find_table(schema, "g"), "a trigger is no table");
        cr_expect_null(schema_find_table(schema, "i"), "an index is no table");

        /* SQLite's own opinion, where it has the module. */
        sqlite3_stmt *stmt = sample_prepare(&sample,
                "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND "
                "name NOT LIKE 'sqlite_%'");
        while (sqlite3_step(stmt) == SQLITE_ROW) {
                const char *name = (const char *)sqlite3_column_text(stmt, 0);
                const char *type = (const char *)sqlite3_column_text(stmt, 1);
                static const char *const types[] = {"table", "view", "virtual", "shadow"};
                cr_expect_str_eq(types[schema_fixture_find(schema, name)->kind], type, "%s", name);
        }
        sqlite3_finalize(stmt);
        sample_release(&sample);
}
