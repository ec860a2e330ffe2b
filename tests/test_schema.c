/* SPDX-License-Identifier: MIT
 *
 * What the rows of sqlite_schema mean, compared with what SQLite does with the tables: where it
 * stores a column, how it converts a value, what an old row shows in a column that came later.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/btpage.h"
#include "bytes/record.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "prng.h"
#include "sample.h"
#include "source/schema.h"

#define _cleanup_schema_ _cleanup_(unref_schema)

static void unref_schema(struct schema **schema)
{
        schema_unref(*schema);
}

static struct schema *read_schema_as(sqlite3 *db, enum text_encoding encoding)
{
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        struct schema *schema = NULL;
        cr_assert_eq(schema_rows_read(db, &rows), 0);
        cr_assert_eq(schema_build(&rows, encoding, &schema), 0);
        return schema;
}

static struct schema *read_schema(const struct sample *sample)
{
        return read_schema_as(sample->db, TEXT_UTF8);
}

static void create_sample(struct sample *sample, const char *encoding)
{
        sample_create(sample, 4096, 0, encoding);
        sample_run(sample, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
}

static void open_sample(struct sample *sample, const char *sql)
{
        create_sample(sample, "UTF-8");
        sample_run(sample, sql);
}

static const struct schema_table *find(const struct schema *schema, const char *name)
{
        const struct schema_table *table = schema_find_table(schema, name);
        cr_assert(table, "no table %s", name);
        return table;
}

/* The first column of the first row as text; the caller frees it. */
static char *ask(const struct sample *sample, const char *sql)
{
        sqlite3_stmt *stmt = sample_prepare(sample, sql);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW, "%s", sql);
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        char *copy = strdup(text ? text : "NULL");
        sqlite3_finalize(stmt);
        return copy;
}

/* ---- the rowid and the key ---- */

Test(schema, the_rowid_has_the_name_that_sqlite_gives_it)
{
        static const struct {
                const char *columns;
                int rowid_column;
        } cases[] = {
                {"k INTEGER PRIMARY KEY, b", 0},
                {"a, k INTEGER PRIMARY KEY", 1},
                {"k integer primary key, b", 0},
                {"k \"INTEGER\" PRIMARY KEY, b", 0},
                {"k [INTEGER] PRIMARY KEY, b", 0},
                {"k 'INTEGER' PRIMARY KEY, b", 0},
                {"k INTEGER PRIMARY KEY ASC, b", 0},
                {"k INTEGER PRIMARY KEY AUTOINCREMENT, b", 0},
                {"k INTEGER PRIMARY KEY ON CONFLICT REPLACE, b", 0},
                {"k INTEGER NOT NULL PRIMARY KEY, b", 0},
                {"k INTEGER CONSTRAINT x PRIMARY KEY, b", 0},
                {"k INTEGER PRIMARY KEY DESC, b", -1},
                {"k INT PRIMARY KEY, b", -1},
                {"k INTEGER(8) PRIMARY KEY, b", -1},
                {"k BIGINT PRIMARY KEY, b", -1},
                {"k INTEGER UNSIGNED PRIMARY KEY, b", -1},
                {"k PRIMARY KEY, b", -1},
                {"k TEXT PRIMARY KEY, b", -1},
                {"k INTEGER UNIQUE, b", -1},
                {"k INTEGER, b", -1},
                {"a, k INTEGER, PRIMARY KEY(k)", 1},
                {"a, k INTEGER, PRIMARY KEY(K)", 1},
                {"a, k INTEGER, PRIMARY KEY(\"k\")", 1},
                {"a, k INTEGER, PRIMARY KEY(k ASC)", 1},
                {"a, k INTEGER, PRIMARY KEY(k DESC)", 1}, /* as SQLite's quirk has it */
                {"a, k INTEGER, PRIMARY KEY(k AUTOINCREMENT)", 1},
                {"a, k INTEGER, PRIMARY KEY(k COLLATE NOCASE)", 1},
                {"a, k INTEGER, PRIMARY KEY(k, a)", -1},
                {"a, k INTEGER, PRIMARY KEY(a, k)", -1},
                {"a, k INTEGER, UNIQUE(k)", -1},
                {"a AS (1), k INTEGER PRIMARY KEY", 1},
                {"k INTEGER PRIMARY KEY, b UNIQUE, c UNIQUE", 0},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct sample sample;
                char sql[200];
                snprintf(sql, sizeof sql, "CREATE TABLE t(%s)", cases[i].columns);
                open_sample(&sample, sql);
                sample_run(&sample, "INSERT INTO t(k) VALUES(77)");
                bool is_alias = sample_number(&sample, "SELECT rowid FROM t") == 77;
                cr_expect_eq(is_alias, cases[i].rowid_column >= 0, "%s: the test is wrong",
                        cases[i].columns);
                _cleanup_schema_ struct schema *schema = read_schema(&sample);
                const struct schema_table *t = find(schema, "t");
                cr_expect(t->is_parsed, "%s", cases[i].columns);
                cr_expect_eq(t->rowid_column, cases[i].rowid_column, "%s: %d", cases[i].columns,
                        t->rowid_column);
                sample_release(&sample);
        }
}

Test(schema, a_table_without_rowid_has_no_rowid_column)
{
        struct sample sample;
        open_sample(&sample, "CREATE TABLE t(a, k INTEGER PRIMARY KEY) WITHOUT ROWID");
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        cr_expect_eq(find(schema, "t")->rowid_column, -1);
        cr_expect(find(schema, "t")->is_without_rowid);
        sample_release(&sample);
}

Test(schema, the_key_is_in_the_order_of_its_declaration)
{
        static const struct {
                const char *sql;
                unsigned count, key[4];
        } cases[] = {
                {"CREATE TABLE t(a, b, c)", 0, {0}},
                {"CREATE TABLE t(a, b UNIQUE, c)", 0, {0}},
                {"CREATE TABLE t(a, b PRIMARY KEY, c)", 1, {1}},
                {"CREATE TABLE t(a, b, c, PRIMARY KEY(c, a))", 2, {2, 0}},
                {"CREATE TABLE t(a, b, c, PRIMARY KEY(c DESC, B COLLATE NOCASE, a))", 3, {2, 1, 0}},
                {"CREATE TABLE t(a, b INTEGER PRIMARY KEY)", 1, {1}},
                {"CREATE TABLE t(a, b, c, PRIMARY KEY(c, a)) WITHOUT ROWID", 2, {2, 0}},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct sample sample;
                open_sample(&sample, cases[i].sql);
                _cleanup_schema_ struct schema *schema = read_schema(&sample);
                const struct schema_table *t = find(schema, "t");
                cr_assert_eq(t->key_count, cases[i].count, "%s: %u", cases[i].sql, t->key_count);
                for (unsigned k = 0; k < t->key_count; k++)
                        cr_expect_eq(t->key[k], cases[i].key[k], "%s", cases[i].sql);
                sample_release(&sample);
        }
}

Test(schema, flags_of_tables_and_columns_are_read)
{
        static const struct {
                const char *sql;
                bool is_without_rowid, is_strict, is_not_null;
        } cases[] = {
                {"CREATE TABLE t(a TEXT PRIMARY KEY, b)", false, false, false},
                {"CREATE TABLE t(a TEXT NOT NULL, b)", false, false, true},
                {"CREATE TABLE t(a TEXT PRIMARY KEY, b) WITHOUT ROWID", true, false, true},
                {"CREATE TABLE t(a TEXT, b ANY) STRICT", false, true, false},
                {"CREATE TABLE t(a TEXT PRIMARY KEY, b ANY) STRICT, WITHOUT ROWID", true, true,
                        true},
                {"CREATE TABLE t(a TEXT PRIMARY KEY, b ANY) WITHOUT ROWID, STRICT", true, true,
                        true},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct sample sample;
                open_sample(&sample, cases[i].sql);
                _cleanup_schema_ struct schema *schema = read_schema(&sample);
                const struct schema_table *t = find(schema, "t");
                cr_expect_eq(t->kind, SCHEMA_TABLE);
                cr_expect_eq(t->is_without_rowid, cases[i].is_without_rowid, "%s", cases[i].sql);
                cr_expect_eq(t->is_strict, cases[i].is_strict, "%s", cases[i].sql);
                cr_expect_eq(t->columns[0].is_not_null, cases[i].is_not_null, "%s", cases[i].sql);
                cr_expect_str_eq(t->sql, cases[i].sql);
                cr_expect_eq(t->root, sample_number(&sample, "SELECT rootpage FROM sqlite_schema"));
                cr_expect_eq(t->rowid, sample_number(&sample, "SELECT rowid FROM sqlite_schema"));
                sample_release(&sample);
        }
}

/* ---- affinity ---- */

/* SQLite tells it where it makes a table from a query. */
static char affinity_by_sqlite(struct sample *sample, const char *type)
{
        char sql[300];
        snprintf(sql, sizeof sql,
                "DROP TABLE IF EXISTS s; DROP TABLE IF EXISTS t; CREATE TABLE t(c %s); "
                "CREATE TABLE s AS SELECT c FROM t",
                type);
        sample_run(sample, sql);
        _cleanup_free_ char *name = ask(sample, "SELECT type FROM pragma_table_info('s')");
        sample_run(sample, "DROP TABLE s");
        static const struct {
                const char *name;
                char affinity;
        } names[] = {{"", 'A'}, {"TEXT", 'B'}, {"NUM", 'C'}, {"INT", 'D'}, {"REAL", 'E'}};
        for (unsigned i = 0; i < COUNT(names); i++)
                if (strcmp(name, names[i].name) == 0)
                        return names[i].affinity;
        cr_assert_fail("%s gives %s", type, name);
        return 0;
}

static void check_affinity(struct sample *sample, const char *type)
{
        char want = affinity_by_sqlite(sample, type);
        _cleanup_schema_ struct schema *schema = read_schema(sample);
        const struct schema_table *t = find(schema, "t");
        cr_assert(t->is_parsed, "%s", type);
        cr_expect_eq(t->columns[0].affinity, want, "'%s': %c, not %c", type, t->columns[0].affinity,
                want);
        _cleanup_free_ char *declared = ask(sample, "SELECT type FROM pragma_table_info('t')");
        cr_expect_str_eq(t->columns[0].declared_type, declared);
}

Test(schema, affinities_are_those_of_sqlite)
{
        static const char *const types[] = {"", "INT", "INTEGER", "TINYINT", "UNSIGNED BIG INT",
                "INT8", "CHARACTER(20)", "VARCHAR(255)", "NATIVE CHARACTER(70)", "TEXT", "CLOB",
                "BLOB", "REAL", "DOUBLE", "DOUBLE PRECISION", "FLOAT", "NUMERIC", "DECIMAL(10,5)",
                "BOOLEAN", "DATE", "DATETIME", "FLOATING POINT", "CHARINT", "STRING", "ANY", "any",
                "POINT", "BLOBTEXT", "TEXTBLOB", "REALBLOB", "BLOBREAL", "DOUBLOB", "CHARBLOB",
                "XINTX", "inT", "teXt", "bLoB", "fLoAt", "\"INTEGER\"", "\"no type\"", "[BLOB]",
                "\"\xc3\xa4\xc3\xb6 INT\"", "\"in\"\"t\"", "REAL INT", "GENERATED", "INT_",
                "DEC(1)", "CLO", "BLO", "FLO", "DOU", "TEX", "CHA", "JSON", "UUID", "CURRENCY",
                "\"a\nINT\"", "NUMBER(1,-2)", "TEXT(+3)"};
        struct sample sample;
        create_sample(&sample, "UTF-8");
        for (unsigned i = 0; i < COUNT(types); i++)
                check_affinity(&sample, types[i]);
        sample_release(&sample);
}

Test(schema, affinities_of_random_types_are_those_of_sqlite)
{
        static const char *const parts[] = {"INT", "CHAR", "CLOB", "TEXT", "BLOB", "REAL", "FLOA",
                "DOUB", "i", "n", "t", "b", "l", "o", "x", " ", "_"};
        struct sample sample;
        struct prng prng = {17};
        create_sample(&sample, "UTF-8");
        for (unsigned i = 0; i < 300; i++) {
                char type[64] = "\"";
                for (unsigned k = 1 + prng_below(&prng, 5); k > 0; k--)
                        strcat(type, parts[prng_below(&prng, COUNT(parts))]);
                check_affinity(&sample, strcat(type, "\""));
        }
        sample_release(&sample);
}

/* In STRICT tables ANY converts nothing. */
Test(schema, any_has_no_affinity_in_strict_tables)
{
        struct sample sample;
        open_sample(&sample, "CREATE TABLE t(a ANY, b any, c INT, d TEXT, e REAL, f BLOB, "
                             "g INTEGER) STRICT; INSERT INTO t(a) VALUES('1.0')");
        _cleanup_free_ char *type = ask(&sample, "SELECT typeof(a) FROM t");
        cr_expect_str_eq(type, "text");
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        const struct schema_table *t = find(schema, "t");
        for (unsigned i = 0; i < t->column_count; i++)
                cr_expect_eq(t->columns[i].affinity, "AADBEAD"[i], "%s", t->columns[i].name);
        sample_release(&sample);
}

/* ---- where values stand in the record ---- */

/* Reads the only row of t from its page and holds each stored column against SQL. */
static void check_storage(struct sample *sample, const char *name)
{
        _cleanup_schema_ struct schema *schema = read_schema(sample);
        const struct schema_table *t = find(schema, "t");
        struct btpage page;
        struct btcell cell;
        struct value values[64];
        size_t count = 0;
        cr_assert(t->is_parsed, "%s", name);
        sample_read(sample);
        cr_assert_eq(btpage_open(sample_image(sample, t->root), sample->usable, t->root, &page), 0);
        cr_assert_eq(page.cells, 1, "%s", name);
        cr_assert_eq(btpage_cell(&page, 0, &cell), 0);
        cr_assert_eq(record_decode(cell.local, cell.local_size, values, COUNT(values), &count), 0);
        sqlite3_stmt *stmt = sample_prepare(sample, "SELECT * FROM t");
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
        unsigned stored = 0;
        for (unsigned i = 0; i < t->column_count; i++) {
                const struct schema_column *c = &t->columns[i];
                cr_expect_eq(c->is_virtual, c->storage < 0, "%s: %s", name, c->name);
                if (c->storage < 0)
                        continue;
                stored++;
                cr_assert_lt((size_t)c->storage, count, "%s: %s", name, c->name);
                struct value want = sample_column(stmt, (int)i, false);
                if ((int)i == t->rowid_column)
                        want = (struct value){.type = VALUE_NULL};
                cr_expect(value_equal(&values[c->storage], &want), "%s: %s at %d", name, c->name,
                        c->storage);
        }
        cr_expect_leq(stored, count, "%s", name);
        sqlite3_finalize(stmt);
}

Test(schema, storage_positions_are_those_in_the_record)
{
        static const struct {
                const char *sql, *columns; /* columns that get the values 11, 12 … as text */
        } cases[] = {
                {"CREATE TABLE t(a, b, c)", "a,b,c"},
                {"CREATE TABLE t(a, b INTEGER PRIMARY KEY, c)", "a,c"},
                {"CREATE TABLE t(a, v AS (a || 'v'), c)", "a,c"},
                {"CREATE TABLE t(v AS (a || 'v') VIRTUAL, a, s AS (a || 's') STORED, c)", "a,c"},
                {"CREATE TABLE t(s AS (c || 's') STORED, v AS (s || 'v'), w AS (v || 'w'), c, d)",
                        "c,d"},
                {"CREATE TABLE t(a, v GENERATED ALWAYS AS (a), k INTEGER PRIMARY KEY, s TEXT "
                 "GENERATED ALWAYS AS (a || k) STORED, z)",
                        "a,z"},
                {"CREATE TABLE t(a, b, k, PRIMARY KEY(k)) WITHOUT ROWID", "a,b,k"},
                {"CREATE TABLE t(a, b, c, d, PRIMARY KEY(d, b)) WITHOUT ROWID", "a,b,c,d"},
                {"CREATE TABLE t(a, b, c, PRIMARY KEY(c DESC, a)) WITHOUT ROWID", "a,b,c"},
                {"CREATE TABLE t(a, b, c, PRIMARY KEY(c, a, c)) WITHOUT ROWID", "a,b,c"},
                {"CREATE TABLE t(a, b, c, PRIMARY KEY(c, c COLLATE NOCASE, a)) WITHOUT ROWID",
                        "a,b,c"},
                {"CREATE TABLE t(v AS (a || 'v'), a, s AS (a || 's') STORED, k, w AS (k || 'w'), "
                 "PRIMARY KEY(k)) WITHOUT ROWID",
                        "a,k"},
                {"CREATE TABLE t(a INTEGER PRIMARY KEY, b) WITHOUT ROWID", "a,b"},
                {"CREATE TABLE t(a ANY, b TEXT AS (a) STORED, c ANY) STRICT", "a,c"},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct sample sample;
                char sql[300];
                unsigned count = 1;
                open_sample(&sample, cases[i].sql);
                for (const char *p = cases[i].columns; *p; p++)
                        count += *p == ',';
                snprintf(sql, sizeof sql, "INSERT INTO t(%s) VALUES(%.*s)", cases[i].columns,
                        (int)count * 5 - 1, "'11','12','13','14','15'");
                sample_run(&sample, sql);
                check_storage(&sample, cases[i].sql);
                sample_release(&sample);
        }
}

Test(schema, generated_columns_are_told_apart)
{
        struct sample sample;
        open_sample(&sample, "CREATE TABLE t(a, v AS (a+1), s AS (a+2) STORED, d DEFAULT 4)");
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        const struct schema_table *t = find(schema, "t");
        cr_assert_eq(t->column_count, 4);
        for (unsigned i = 0; i < 4; i++) {
                const struct schema_column *c = &t->columns[i];
                cr_expect_eq(c->is_generated, i == 1 || i == 2, "%s", c->name);
                cr_expect_eq(c->is_virtual, i == 1, "%s", c->name);
                cr_expect_eq(c->has_default, i == 3, "%s", c->name);
                cr_expect_eq(c->storage, ((int[]){0, -1, 1, 2})[i], "%s", c->name);
        }
        sample_release(&sample);
}

/* ---- defaults ---- */

static const struct encoding_case {
        const char *name;
        enum text_encoding encoding;
} encodings[] = {{"UTF-8", TEXT_UTF8}, {"UTF-16le", TEXT_UTF16LE}, {"UTF-16be", TEXT_UTF16BE}};

/* What a row shows that was there before the column came: SQLite's answer is the truth. */
static void check_default(struct sample *sample, const struct encoding_case *encoding,
        const char *table, const char *declaration)
{
        char sql[600];
        snprintf(sql, sizeof sql,
                "DROP TABLE IF EXISTS t; CREATE TABLE t%s; INSERT INTO t VALUES(1); "
                "ALTER TABLE t ADD COLUMN c %s",
                table, declaration);
        sample_run(sample, sql);
        _cleanup_schema_ struct schema *schema = read_schema_as(sample->db, encoding->encoding);
        const struct schema_table *t = find(schema, "t");
        cr_assert(t->is_parsed, "%s", declaration);
        const struct schema_column *c = &t->columns[1];
        cr_expect_eq(c->has_default, strstr(declaration, "DEFAULT") != NULL, "%s", declaration);

        sqlite3_stmt *stmt = sample_prepare(
                sample, "SELECT c, CASE typeof(c) WHEN 'text' THEN CAST(c AS BLOB) END FROM t");
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
        struct value want = sample_column(stmt, 0, false);
        if (want.type == VALUE_TEXT) { /* its bytes in the database's encoding */
                want = sample_column(stmt, 1, false);
                want.type = VALUE_TEXT;
        }
        cr_expect(value_equal(&c->default_value, &want), "%s, %s: type %d, not %d; size %u, not %u",
                encoding->name, declaration, c->default_value.type, want.type,
                c->default_value.size, want.size);
        sqlite3_finalize(stmt);
}

Test(schema, defaults_are_what_rows_show_that_are_older_than_the_column)
{
        static const char *const declarations[] = {
                "",
                "TEXT",
                "DEFAULT NULL",
                "INT DEFAULT NULL",
                "DEFAULT 5",
                "DEFAULT -5",
                "DEFAULT +5",
                "DEFAULT - 5",
                "DEFAULT (5)",
                "DEFAULT (-5)",
                "DEFAULT ((5))",
                "DEFAULT 9223372036854775807",
                "DEFAULT -9223372036854775808",
                "DEFAULT 9223372036854775808",
                "DEFAULT 0x10",
                "DEFAULT -0x10",
                "DEFAULT 1.5",
                "DEFAULT -1.5",
                "DEFAULT 1e300",
                "DEFAULT 1e999",
                "DEFAULT 3.0",
                "DEFAULT TRUE",
                "DEFAULT false",
                "DEFAULT (TRUE)",
                "DEFAULT ''",
                "DEFAULT 'text'",
                "DEFAULT 'it''s'",
                "DEFAULT \"quoted\"",
                "DEFAULT bare",
                "DEFAULT [brackets]",
                "DEFAULT `ticks`",
                "DEFAULT 'line\nbreak'",
                "DEFAULT '-- no comment'",
                "DEFAULT ('a' /* comment */)",
                "DEFAULT ('a' -- comment\n)",
                "DEFAULT '\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'",
                "DEFAULT 'a fairly long text, longer than anything that is kept in place, or so'",
                "DEFAULT x''",
                "DEFAULT x'00ff'",
                "DEFAULT X'6162'",
                "INTEGER DEFAULT '12'",
                "INTEGER DEFAULT '12abc'",
                "INTEGER DEFAULT 3.0",
                "INTEGER DEFAULT 3.5",
                "INTEGER DEFAULT '3.0'",
                "INTEGER DEFAULT '1e3'",
                "INTEGER DEFAULT TRUE",
                "INTEGER DEFAULT x'3132'",
                "NUMERIC DEFAULT '3.0'",
                "NUMERIC DEFAULT 1e3",
                "NUMERIC DEFAULT '0x10'",
                "NUMERIC DEFAULT 'abc'",
                "REAL DEFAULT 3",
                "REAL DEFAULT -3",
                "REAL DEFAULT '3'",
                "REAL DEFAULT 'abc'",
                "REAL DEFAULT 9007199254740993",
                "TEXT DEFAULT 3",
                "TEXT DEFAULT -3",
                "TEXT DEFAULT 3.0",
                "TEXT DEFAULT 1.50",
                "TEXT DEFAULT -1.50",
                "TEXT DEFAULT 1e3",
                "TEXT DEFAULT 0x10",
                "TEXT DEFAULT 007",
                "TEXT DEFAULT TRUE",
                "TEXT DEFAULT x'6162'",
                "TEXT DEFAULT bare",
                "BLOB DEFAULT 3",
                "BLOB DEFAULT 'abc'",
                "BLOB DEFAULT 1.50",
                "DEFAULT 'x' NOT NULL",
                "DEFAULT 'x' CHECK (c <> 'y')",
                "DEFAULT 'x' COLLATE NOCASE",
                "NOT NULL DEFAULT 7",
                "DEFAULT (CAST('7' AS INTEGER))",
        };
        for (unsigned e = 0; e < COUNT(encodings); e++) {
                struct sample sample;
                create_sample(&sample, encodings[e].name);
                for (unsigned i = 0; i < COUNT(declarations); i++) {
                        check_default(&sample, &encodings[e], "(a)", declarations[i]);
                        check_default(
                                &sample, &encodings[e], "(a INTEGER PRIMARY KEY)", declarations[i]);
                        check_default(&sample, &encodings[e], "(a PRIMARY KEY) WITHOUT ROWID",
                                declarations[i]);
                }
                sample_release(&sample);
        }
}

/* SQLite would rather read an index that has the column; the default is the rows' all the same. */
Test(schema, defaults_are_known_whatever_indexes_have_the_column)
{
        static const char *const tables[] = {
                "(a, k INTEGER PRIMARY KEY, c TEXT DEFAULT 'x')",
                "(a, k, c TEXT DEFAULT 'x', PRIMARY KEY(k))",
                "(a, k, c TEXT DEFAULT 'x', PRIMARY KEY(k)) WITHOUT ROWID",
                "(a, k, c TEXT DEFAULT 'x' UNIQUE, PRIMARY KEY(k)) WITHOUT ROWID",
                "(c TEXT UNIQUE DEFAULT 'x', k PRIMARY KEY, a UNIQUE) WITHOUT ROWID",
                "(a, k, c TEXT DEFAULT 'x', UNIQUE(c, a), PRIMARY KEY(k, a)) WITHOUT ROWID",
                "(a, k, c TEXT DEFAULT 'x', UNIQUE(a, c, k), PRIMARY KEY(k, k COLLATE NOCASE)) "
                "WITHOUT ROWID",
        };
        static const char *const indexes[] = {
                "",
                "CREATE INDEX i ON t(a)",
                "CREATE INDEX i ON t(c)",
                "CREATE INDEX i ON t(a); CREATE INDEX j ON t(c)",
                "CREATE INDEX i ON t(c); CREATE UNIQUE INDEX j ON t(c, a, k)",
                "CREATE INDEX i ON t(a, c) WHERE c > 'a'; CREATE INDEX j ON t(c) WHERE c = 'x'",
                "CREATE INDEX i ON t(c || a); CREATE INDEX j ON t(c COLLATE NOCASE DESC)",
        };
        for (unsigned i = 0; i < COUNT(tables) * COUNT(indexes); i++) {
                struct sample sample;
                char sql[400];
                snprintf(sql, sizeof sql, "CREATE TABLE t%s; %s", tables[i / COUNT(indexes)],
                        indexes[i % COUNT(indexes)]);
                open_sample(&sample, sql);
                _cleanup_schema_ struct schema *schema = read_schema(&sample);
                const struct schema_table *t = find(schema, "t");
                const struct schema_column *c = &t->columns[schema_find_column(t, "c")];
                cr_expect(t->is_parsed, "%s", sql);
                cr_expect_eq(c->default_value.type == VALUE_TEXT, c->storage > 0, "%s", sql);
                sample_release(&sample);
        }
}

/* Such a column cannot be added to a table with rows, so no row is without its value. */
Test(schema, a_default_that_is_no_constant_is_null_in_older_rows)
{
        static const char *const defaults[] = {"CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME",
                "(random())", "(1+2)", "(abs(-1))", "(unknown_function(1))", "(strftime('%s'))",
                "(1 IS NULL)", "(NULL IS NOT NULL)", "('a' || 'b')"};
        struct sample sample;
        create_sample(&sample, "UTF-8");
        for (unsigned i = 0; i < COUNT(defaults); i++) {
                char sql[200];
                snprintf(sql, sizeof sql,
                        "DROP TABLE IF EXISTS t; CREATE TABLE t(a, c TEXT DEFAULT %s, d)",
                        defaults[i]);
                sample_run(&sample, sql);
                _cleanup_schema_ struct schema *schema = read_schema(&sample);
                const struct schema_table *t = find(schema, "t");
                cr_expect(t->is_parsed, "%s", defaults[i]);
                cr_expect_eq(t->column_count, 3, "%s", defaults[i]);
                cr_expect_eq(t->columns[1].default_value.type, VALUE_NULL, "%s", defaults[i]);
        }
        sample_release(&sample);
}

Test(schema, defaults_of_many_columns_do_not_mix)
{
        struct sample sample;
        struct buf sql = BUF_INIT;
        buf_append_string(&sql, "CREATE TABLE t(a");
        for (unsigned i = 0; i < 50; i++)
                buf_append_format(
                        &sql, ", c%u %s DEFAULT %u", i, i % 3 ? "INTEGER" : "TEXT", 1000 + i);
        buf_append_string(&sql, ", z DEFAULT (random()), zz DEFAULT 'end')");
        open_sample(&sample, buf_string(&sql));
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        const struct schema_table *t = find(schema, "t");
        cr_assert_eq(t->column_count, 53);
        for (unsigned i = 0; i < 50; i++) {
                const struct value *v = &t->columns[1 + i].default_value;
                char text[16];
                snprintf(text, sizeof text, "%u", 1000 + i);
                if (i % 3)
                        cr_expect(v->type == VALUE_INTEGER && v->integer == 1000 + i, "c%u", i);
                else
                        cr_expect(v->type == VALUE_TEXT && v->size == 4 &&
                                          memcmp(v->bytes, text, 4) == 0,
                                "c%u", i);
        }
        cr_expect_eq(t->columns[52].default_value.size, 3);
        buf_release(&sql);
        sample_release(&sample);
}

/* ---- what kind of table ---- */

static void check_kinds(const struct schema *schema, const char *names, enum schema_kind kind)
{
        char *copy = strdup(names), *rest = NULL;
        for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
                const struct schema_table *t = find(schema, name);
                cr_expect_eq(t->kind, kind, "%s is %d, not %d", name, t->kind, kind);
                bool has_columns = kind == SCHEMA_TABLE || kind == SCHEMA_SHADOW;
                cr_expect_eq(t->is_parsed, has_columns, "%s", name);
                cr_expect_eq(t->column_count > 0, has_columns, "%s", name);
        }
        free(copy);
}

Test(schema, views_virtual_shadow_and_internal_tables_are_told_apart)
{
        struct sample sample;
        open_sample(&sample,
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
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        check_kinds(schema, "t t_data data _data x_content f_info f_datum f_node r_data r_stat",
                SCHEMA_TABLE);
        check_kinds(schema, "v bad", SCHEMA_VIEW);
        check_kinds(schema, "f F3 r", SCHEMA_VIRTUAL);
        check_kinds(schema,
                "f_data f_idx f_content f_docsize f_config F3_content F3_segments F3_segdir "
                "F3_docsize F3_stat r_node r_parent r_rowid",
                SCHEMA_SHADOW);
        cr_expect_eq(find(schema, "f 2_data")->kind, SCHEMA_SHADOW);
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
                cr_expect_str_eq(types[find(schema, name)->kind], type, "%s", name);
        }
        sqlite3_finalize(stmt);
        sample_release(&sample);
}

/* ---- hand-made rows ---- */

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

Test(schema, a_text_that_cannot_be_parsed_hides_nothing_but_itself)
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
                cr_expect(find(schema, "good")->is_parsed, "%s", texts[i]);
                cr_expect_eq(find(schema, "good")->column_count, 2, "%s", texts[i]);
                cr_expect_eq(find(schema, "good")->rowid_column, 1, "%s", texts[i]);
                cr_expect(find(schema, "better")->is_parsed, "%s", texts[i]);
                cr_expect_eq(find(schema, "better")->column_count, 3, "%s", texts[i]);
                cr_expect_not(find(schema, "bad")->is_parsed, "%s", texts[i]);
                cr_expect_eq(find(schema, "bad")->column_count, 0, "%s", texts[i]);
                cr_expect_eq(find(schema, "bad")->key_count, 0, "%s", texts[i]);
                cr_expect_str_eq(find(schema, "bad")->sql, texts[i]);
                cr_expect(schema_find_index(schema, "fine"), "%s", texts[i]);
                cr_expect_null(schema_find_index(schema, "odd"), "%s", texts[i]);
        }
}

Test(schema, rows_that_make_no_sense_do_no_harm)
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
        cr_expect_eq(find(schema, "t")->root, 0xffffffff);
        cr_expect(find(schema, "t")->is_parsed);
        cr_expect_eq(schema_find_rowid(schema, INT64_MIN), find(schema, "t"));
        cr_expect_not(find(schema, "u")->is_parsed, "the text is of another table");
        cr_expect_not(find(schema, "v")->is_parsed, "the row is of another table");

        struct rows none = {0};
        _cleanup_schema_ struct schema *empty = build(&none);
        cr_expect_eq(empty->table_count, 0);
        cr_expect_null(schema_find_table(empty, "t"));
}

/* The application's SQLite has functions, collations and modules that ours has not. */
Test(schema, unknown_functions_collations_and_modules_do_no_harm)
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
        const struct schema_table *t = find(schema, "t");
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
        cr_expect(find(schema, "w")->is_parsed);
        cr_expect_eq(find(schema, "w")->columns[1].storage, 1);
        cr_expect_eq(find(schema, "m")->kind, SCHEMA_VIRTUAL);
        cr_expect_eq(find(schema, "m_chunks")->kind, SCHEMA_SHADOW);
        cr_expect_eq(find(schema, "m_vector_chunks00")->kind, SCHEMA_SHADOW);
        cr_expect_eq(find(schema, "m_other")->kind, SCHEMA_TABLE);
}

/* Old databases have texts with quoted strings where newer builds demand names. */
Test(schema, double_quoted_strings_are_taken_as_the_application_took_them)
{
        struct rows rows = {0};
        add_table(&rows, "t", "CREATE TABLE t(a, b CHECK (b <> \"none\"), c AS (a || \"x\"))");
        add_row(&rows, "index", "i", "t", "CREATE INDEX i ON t(a) WHERE b = \"some\"");
        add_row(&rows, "index", "j", "t", "CREATE INDEX j ON t(\"a\", \"not a column\")");
        _cleanup_schema_ struct schema *schema = build(&rows);
        cr_expect(find(schema, "t")->is_parsed);
        cr_expect_eq(find(schema, "t")->column_count, 3);
        cr_expect(schema_find_index(schema, "i"));
        cr_expect(schema_find_index(schema, "j"));
}

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
                open_sample(&sample, buf_string(&sql));
                _cleanup_schema_ struct schema *schema = read_schema(&sample);
                const struct schema_table *t = find(schema, names[i]);
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
        open_sample(&sample, "CREATE TABLE Orders(Id, \"\xc3\x84\"); CREATE INDEX \"By Id\" ON "
                             "oRDERS(iD)");
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
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

Test(schema, databases_in_utf16_give_names_in_utf8)
{
        for (unsigned e = 0; e < COUNT(encodings); e++) {
                struct sample sample;
                create_sample(&sample, encodings[e].name);
                sample_run(&sample, "CREATE TABLE \"t\xc3\xa4\xf0\x9f\x98\x80\"(k INTEGER "
                                    "PRIMARY KEY, \"c\xe2\x82\xac\" TEXT DEFAULT '\xe2\x82\xac')");
                _cleanup_schema_ struct schema *schema =
                        read_schema_as(sample.db, encodings[e].encoding);
                const struct schema_table *t = find(schema, "t\xc3\xa4\xf0\x9f\x98\x80");
                static const struct {
                        uint32_t size;
                        const char *bytes;
                } euro[] = {{3, "\xe2\x82\xac"}, {2, "\xac\x20"}, {2, "\x20\xac"}};
                cr_expect_eq(schema_find_column(t, "c\xe2\x82\xac"), 1, "%s", encodings[e].name);
                cr_expect_eq(t->rowid_column, 0);
                const struct value *v = &t->columns[1].default_value;
                cr_expect_eq(v->type, VALUE_TEXT);
                cr_assert_eq(v->size, euro[e].size, "%s: %u", encodings[e].name, v->size);
                cr_expect_eq(memcmp(v->bytes, euro[e].bytes, v->size), 0, "%s", encodings[e].name);
                sample_release(&sample);
        }
}

/* ---- indexes and foreign keys ---- */

Test(schema, indexes_are_described_in_full)
{
        struct sample sample;
        open_sample(&sample, "CREATE TABLE t(a PRIMARY KEY, b UNIQUE, c, d INTEGER, UNIQUE(d, c));"
                             "CREATE INDEX plain ON t(c);"
                             "CREATE UNIQUE INDEX uniq ON t(c DESC, a COLLATE NOCASE);"
                             "CREATE INDEX part ON t(b) WHERE b IS NOT NULL;"
                             "CREATE UNIQUE INDEX upart ON t(b, d) WHERE c > 0;"
                             "CREATE INDEX expr ON t(lower(a), c, a || b);"
                             "CREATE TABLE u(k INTEGER PRIMARY KEY, v);"
                             "CREATE INDEX alias ON u(v, k);"
                             "CREATE TABLE w(p, q, r, PRIMARY KEY(q, p)) WITHOUT ROWID;"
                             "CREATE INDEX wr ON w(r)");
        static const struct {
                const char *name, *table;
                bool is_unique, is_partial, has_expression, has_sql;
                unsigned count, columns[3];
        } cases[] = {
                {"sqlite_autoindex_t_1", "t", true, false, false, false, 1, {0}},
                {"sqlite_autoindex_t_2", "t", true, false, false, false, 1, {1}},
                {"sqlite_autoindex_t_3", "t", true, false, false, false, 2, {3, 2}},
                {"plain", "t", false, false, false, true, 1, {2}},
                {"uniq", "t", true, false, false, true, 2, {2, 0}},
                {"part", "t", false, true, false, true, 1, {1}},
                {"upart", "t", true, true, false, true, 2, {1, 3}},
                {"expr", "t", false, false, true, true, 1, {2}},
                {"alias", "u", false, false, false, true, 2, {1, 0}},
                {"sqlite_autoindex_w_1", "w", true, false, false, false, 2, {1, 0}},
                {"wr", "w", false, false, false, true, 1, {2}},
        };
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        cr_expect_eq(schema->index_count, COUNT(cases), "%zu", schema->index_count);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                const struct schema_index *x = schema_find_index(schema, cases[i].name);
                char sql[200];
                cr_assert(x, "%s", cases[i].name);
                cr_expect_str_eq(x->table_name, cases[i].table, "%s", cases[i].name);
                cr_expect_eq(x->is_unique, cases[i].is_unique, "%s", cases[i].name);
                cr_expect_eq(x->is_partial, cases[i].is_partial, "%s", cases[i].name);
                cr_expect_eq(x->has_expression, cases[i].has_expression, "%s", cases[i].name);
                cr_expect_eq(x->sql != NULL, cases[i].has_sql, "%s", cases[i].name);
                cr_assert_eq(
                        x->column_count, cases[i].count, "%s: %u", cases[i].name, x->column_count);
                for (unsigned k = 0; k < x->column_count; k++)
                        cr_expect_eq(x->columns[k], cases[i].columns[k], "%s", cases[i].name);
                snprintf(sql, sizeof sql,
                        "SELECT ifnull(max(rowid), 0) FROM sqlite_schema WHERE "
                        "name = '%s'",
                        cases[i].name);
                cr_expect_eq(
                        x->rowid, sample_number(&sample, sql), "%s: %ld", cases[i].name, x->rowid);
        }
        sample_release(&sample);
}

Test(schema, indexes_follow_a_renamed_table)
{
        struct sample sample;
        open_sample(&sample, "CREATE TABLE t(a PRIMARY KEY, b UNIQUE); CREATE INDEX i ON t(b);"
                             "ALTER TABLE t RENAME TO \"new name\"; "
                             "ALTER TABLE \"new name\" RENAME COLUMN b TO c");
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        cr_expect(find(schema, "new name")->is_parsed);
        cr_assert(schema_find_index(schema, "sqlite_autoindex_new name_2"));
        cr_expect_neq(schema_find_index(schema, "sqlite_autoindex_new name_2")->rowid, 0);
        cr_expect_str_eq(schema_find_index(schema, "i")->table_name, "new name");
        sample_release(&sample);
}

Test(schema, parents_are_the_tables_that_foreign_keys_name)
{
        struct sample sample;
        open_sample(&sample,
                "CREATE TABLE p(a PRIMARY KEY); CREATE TABLE \"p 2\"(a PRIMARY KEY);"
                "CREATE TABLE c(a REFERENCES p, b REFERENCES \"p 2\"(a) ON DELETE CASCADE, "
                "c REFERENCES p(a), d, e, FOREIGN KEY(d, e) REFERENCES missing(x, y));"
                "CREATE TABLE self(a PRIMARY KEY, b REFERENCES self)");
        static const char *const parents[] = {"p", "p 2", "missing"};
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        const struct schema_table *c = find(schema, "c");
        cr_expect_eq(find(schema, "p")->parent_count, 0);
        cr_expect_eq(c->parent_count, 3, "%u", c->parent_count);
        for (unsigned i = 0; i < COUNT(parents); i++) {
                unsigned found = 0;
                for (unsigned k = 0; k < c->parent_count; k++)
                        found += strcmp(c->parents[k], parents[i]) == 0;
                cr_expect_eq(found, 1, "%s: %u", parents[i], found);
        }
        cr_assert_eq(find(schema, "self")->parent_count, 1);
        cr_expect_str_eq(find(schema, "self")->parents[0], "self");
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
        open_sample(&sample, buf_string(&sql));
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        const struct schema_table *t = find(schema, "t");
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
        open_sample(&sample, "CREATE TABLE t(a, b UNIQUE)");
        for (unsigned i = 0; i < INDEXES; i++) {
                char sql[100];
                snprintf(sql, sizeof sql, "CREATE %s INDEX i%u ON t(a, b)", i % 2 ? "UNIQUE" : "",
                        i);
                sample_run(&sample, sql);
        }
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
        cr_expect(find(schema, "t")->is_parsed);
        cr_expect_eq(schema->index_count, INDEXES + 1, "%zu", schema->index_count);
        cr_expect(schema_find_index(schema, "i399"));
        sample_release(&sample);
}

Test(schema, five_hundred_tables_are_read)
{
        enum { TABLES = 500 };
        struct sample sample;
        create_sample(&sample, "UTF-8");
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
        _cleanup_schema_ struct schema *schema = read_schema(&sample);
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
        open_sample(&sample, "CREATE TABLE t(a, b DEFAULT 'text')");
        struct schema *schema = read_schema(&sample);
        struct schema *again = schema_ref(schema);
        cr_expect_eq(again, schema);
        schema_unref(schema);
        cr_expect_str_eq(find(again, "t")->columns[0].name, "a");
        cr_expect_eq(memcmp(find(again, "t")->columns[1].default_value.bytes, "text", 4), 0);
        schema_unref(again);
        schema_unref(NULL);
        sample_release(&sample);
}

Test(schema, rows_come_in_the_order_of_their_rowids)
{
        struct sample sample;
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        open_sample(&sample,
                "CREATE TABLE a(x); CREATE TABLE b(y UNIQUE); CREATE VIEW c AS SELECT 1;"
                "DROP TABLE a; CREATE TABLE d(z)");
        cr_assert_eq(schema_rows_read(sample.db, &rows), 0);
        cr_expect_eq(rows.count, 4);
        for (size_t i = 0; i < rows.count; i++) {
                cr_expect(i == 0 || rows.rows[i].rowid > rows.rows[i - 1].rowid);
                bool is_automatic = strncmp(rows.rows[i].name, "sqlite_auto", 11) == 0;
                cr_expect_eq(rows.rows[i].sql == NULL, is_automatic, "%s", rows.rows[i].name);
        }
        schema_rows_release(&rows);
        schema_rows_release(&rows);
        sample_release(&sample);
}
