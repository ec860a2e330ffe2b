/* SPDX-License-Identifier: MIT
 *
 * SQLite makes the texts: a schema before, statements, a schema after.
 */
#include <string.h>

#include "ground/buf.h"
#include "meaning/ddl.h"
#include "schema_of.h"

static void append_text(struct buf *buf, const struct ddl_change *change)
{
        static const char *const names[] = {"same", "changed", "dropped", "stopped"};
        buf_append_string(buf, names[change->verdict]);
        for (unsigned i = 0; i < change->count; i++)
                buf_append_format(buf, "; %s", change->statements[i]);
        if (change->reason)
                buf_append_format(buf, "; %s", change->reason);
}

/* "verdict; statement; statement", or "stopped; reason". */
static void compare(const char *before, const char *sql, struct buf *ret_text)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        struct ddl_change change;
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        schema_run(db, before);
        struct schema *old = schema_of_db(db);
        schema_run(db, sql);
        struct schema *new = schema_of_db(db);
        const struct schema_table *table = schema_find_table(old, "t");
        cr_assert_eq(ddl_compare(old, table, new, &change), 0, "%s", sql);
        append_text(ret_text, &change);
        bool goes_on = change.verdict == DDL_SAME || change.verdict == DDL_CHANGED;
        cr_expect_eq(change.table != NULL, goes_on, "%s", sql);
        ddl_change_release(&change);
        schema_unref(old);
        schema_unref(new);
}

/* Adding columns: the statement is the definition as it was written. */
static const struct {
        const char *before;
        const char *definition; /* behind ALTER TABLE "t" ADD COLUMN */
} added[] = {
        {"CREATE TABLE t(a)", "b"},
        {"CREATE TABLE t(a)", "b INTEGER NOT NULL DEFAULT -5"},
        {"CREATE TABLE t(a)", "\"b\"\"c, d\" TEXT DEFAULT 'x, y''z'"},
        {"CREATE TABLE t(a)", "[b, c] NUMERIC(10, 2)"},
        {"CREATE TABLE t(a)", "`b, c` DEFAULT \"it, is\""},
        {"CREATE TABLE t(a)", "b CHECK (b > 0 OR b IN (1, 2, (3)))"},
        {"CREATE TABLE t(a)", "b DEFAULT ('(')"},
        {"CREATE TABLE t(a)", "b DEFAULT x'00'"},
        {"CREATE TABLE t(a)", "b /* one, two ( */ INTEGER DEFAULT 5"},
        {"CREATE TABLE t(a)", "b -- one, two ('\n INTEGER DEFAULT 5"},
        {"CREATE TABLE t(a)", "b AS (a + 1) VIRTUAL"},
        {"CREATE TABLE t(a)", "b REFERENCES u(c)"},
        {"CREATE TABLE t(a)", "\xc3\xa4\xf0\x9f\x98\x80 DEFAULT '\xc3\xa4, \xe2\x82\xac'"},
        {"CREATE TABLE t(a, \"b, c\" DEFAULT 'x', d)", "e"},
        {"CREATE TABLE t(a /* not, this */, b -- nor, that\n)", "c"},
        {"CREATE TABLE t(\n  a,\n  b\n)", "c INT"},
        {"CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID", "b"},
        {"CREATE TABLE t(a INT) STRICT", "b TEXT"},
        {"CREATE TABLE t(a, b, PRIMARY KEY(a, b))", "c INT DEFAULT 5"},
        {"CREATE TABLE t(a, b, PRIMARY KEY(a, b))", "PRIME INT"},
        {"CREATE TABLE t(a, b, UNIQUE(a), CHECK(a > 0))", "UNIQUELY"},
        {"CREATE TABLE t(a, b,UNIQUE(a))", "U"},
        {"CREATE TABLE t(a, CONSTRAINT x UNIQUE(a), FOREIGN KEY(a) REFERENCES u(c))", "CON TEXT"},
        {"CREATE TABLE t(a, a2)", "a3"},
        {"CREATE TABLE t(a DEFAULT ',')", "b DEFAULT ','"},
};

Test(ddl, an_added_column_is_told_as_it_was_written)
{
        for (size_t i = 0; i < COUNT(added); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT, sql = BUF_INIT, want = BUF_INIT;
                buf_append_format(&sql, "ALTER TABLE t ADD COLUMN %s", added[i].definition);
                buf_append_format(
                        &want, "changed; ALTER TABLE \"t\" ADD COLUMN %s", added[i].definition);
                compare(added[i].before, buf_string(&sql), &text);
                cr_expect_str_eq(buf_string(&text), buf_string(&want), "%s, %s: %s",
                        added[i].before, added[i].definition, buf_string(&text));
        }
}

Test(ddl, columns_added_together_are_told_one_by_one)
{
        for (size_t i = 0; i + 1 < COUNT(added); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT, sql = BUF_INIT, want = BUF_INIT;
                buf_append_format(&sql,
                        "ALTER TABLE t ADD COLUMN %s; ALTER TABLE t ADD COLUMN z1 ANY DEFAULT "
                        "',)('; "
                        "ALTER TABLE t ADD z2 ANY",
                        added[i].definition);
                buf_append_format(&want,
                        "changed; ALTER TABLE \"t\" ADD COLUMN %s; "
                        "ALTER TABLE \"t\" ADD COLUMN z1 ANY DEFAULT ',)('; "
                        "ALTER TABLE \"t\" ADD COLUMN z2 ANY",
                        added[i].definition);
                compare(added[i].before, buf_string(&sql), &text);
                cr_expect_str_eq(buf_string(&text), buf_string(&want), "%s, %s: %s",
                        added[i].before, added[i].definition, buf_string(&text));
        }
}

/* Prefix of the schema before each of these. */
#define BEFORE                                                                                     \
        "CREATE TABLE first(x); CREATE TABLE t(a PRIMARY KEY, b, c INT);"                          \
        "CREATE INDEX i ON t(b); CREATE TABLE other(x); CREATE UNIQUE INDEX u ON t(b, c);"

static const struct {
        const char *name;
        const char *sql;
        const char *want;
} cases[] = {
        {"nothing", "", "same"},
        {"another table", "CREATE TABLE x(a); DROP TABLE other; CREATE INDEX f ON first(x)",
                "same"},
        {"another table altered", "ALTER TABLE other ADD COLUMN y; ALTER TABLE first RENAME TO f",
                "same"},
        {"views and triggers",
                "CREATE VIEW v AS SELECT * FROM t; CREATE TRIGGER r AFTER INSERT ON t "
                "BEGIN DELETE FROM first; END",
                "same"},
        {"create index", "CREATE INDEX j ON t(c DESC)", "changed; CREATE INDEX j ON t(c DESC)"},
        {"create unique index", "CREATE UNIQUE INDEX j ON t(c) WHERE c > 0",
                "changed; CREATE UNIQUE INDEX j ON t(c) WHERE c > 0"},
        {"drop index", "DROP INDEX i", "changed; DROP INDEX \"i\""},
        {"another index under the name", "DROP INDEX i; CREATE INDEX i ON t(c)",
                "changed; DROP INDEX \"i\"; CREATE INDEX i ON t(c)"},
        {"index made anew", "DROP INDEX i; CREATE INDEX i ON t(b)", "same"},
        {"column and index", "ALTER TABLE t ADD COLUMN d; CREATE INDEX j ON t(d)",
                "changed; ALTER TABLE \"t\" ADD COLUMN d; CREATE INDEX j ON t(d)"},
        {"identity dropped", "DROP INDEX u", "changed; DROP INDEX \"u\""},
        {"identity made anew", "DROP INDEX u; CREATE UNIQUE INDEX u ON t(b, c)", "same"},
        {"identity not unique any more", "DROP INDEX u; CREATE INDEX u ON t(b, c)",
                "changed; DROP INDEX \"u\"; CREATE INDEX u ON t(b, c)"},
        {"identity over other columns", "DROP INDEX u; CREATE UNIQUE INDEX u ON t(c, b)",
                "changed; DROP INDEX \"u\"; CREATE UNIQUE INDEX u ON t(c, b)"},
        {"identity over some rows", "DROP INDEX u; CREATE UNIQUE INDEX u ON t(b, c) WHERE b > 0",
                "changed; DROP INDEX \"u\"; CREATE UNIQUE INDEX u ON t(b, c) WHERE b > 0"},
        {"identity on another table", "DROP INDEX u; CREATE UNIQUE INDEX u ON other(x)",
                "changed; DROP INDEX \"u\""},
        {"an index that is not the identity", "DROP INDEX u", "changed; DROP INDEX \"u\""},
        {"drop", "DROP TABLE t", "dropped; DROP TABLE \"t\""},
        {"drop of a table with an odd name",
                "ALTER TABLE other RENAME TO \"o\"\"o\"; "
                "DROP TABLE t",
                "dropped; DROP TABLE \"t\""},
        {"rename", "ALTER TABLE t RENAME TO s", "changed; ALTER TABLE \"t\" RENAME TO \"s\""},
        {"rename of a column", "ALTER TABLE t RENAME COLUMN b TO d",
                "changed; ALTER TABLE \"t\" RENAME COLUMN \"b\" TO \"d\""},
        {"rename of a column's case", "ALTER TABLE t RENAME COLUMN b TO B",
                "changed; ALTER TABLE \"t\" RENAME COLUMN \"b\" TO \"B\""},
        {"drop of the last column", "DROP INDEX u; ALTER TABLE t DROP COLUMN c",
                "changed; ALTER TABLE \"t\" DROP COLUMN \"c\"; DROP INDEX \"u\""},
        {"drop of a column in the middle",
                "DROP INDEX u; DROP INDEX i; ALTER TABLE t DROP COLUMN b",
                "changed; ALTER TABLE \"t\" DROP COLUMN \"b\"; DROP INDEX \"u\"; DROP INDEX \"i\""},
        {"a column dropped and added",
                "DROP INDEX u; ALTER TABLE t DROP COLUMN c; ALTER TABLE t ADD COLUMN d INT",
                "changed; ALTER TABLE \"t\" RENAME COLUMN \"c\" TO \"d\"; DROP INDEX \"u\""},
        {"rebuilt",
                "CREATE TABLE n(a PRIMARY KEY, b, c INT, d); DROP TABLE t; "
                "ALTER TABLE n RENAME TO t",
                "changed; CREATE TABLE \"t\"(a PRIMARY KEY, b, c INT, d); DROP INDEX \"u\"; DROP "
                "INDEX \"i\""},
        {"dropped and made anew", "DROP TABLE t; CREATE TABLE t(a PRIMARY KEY, b, c INT)",
                "changed; CREATE TABLE t(a PRIMARY KEY, b, c INT); DROP INDEX \"u\"; DROP INDEX "
                "\"i\""},
        {"another took its name",
                "ALTER TABLE t RENAME TO s; CREATE TABLE t(a PRIMARY KEY, b, c INT)",
                "changed; ALTER TABLE \"t\" RENAME TO \"s\""},
        {"type",
                "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
                "'CREATE TABLE t(a PRIMARY KEY, b TEXT, c INT)' WHERE name = 't'",
                "changed; CREATE TABLE t(a PRIMARY KEY, b TEXT, c INT)"},
        {"key",
                "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
                "'CREATE TABLE t(a UNIQUE, b, c INT)' WHERE name = 't'",
                "changed; CREATE TABLE t(a UNIQUE, b, c INT)"},
        {"key of other columns",
                "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
                "'CREATE TABLE t(a, b PRIMARY KEY, c INT)' WHERE name = 't'",
                "changed; CREATE TABLE t(a, b PRIMARY KEY, c INT)"},
        {"strict",
                "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
                "'CREATE TABLE t(a ANY PRIMARY KEY, b ANY, c INT) STRICT' WHERE name = 't'",
                "changed; CREATE TABLE t(a ANY PRIMARY KEY, b ANY, c INT) STRICT"},
        {"a check",
                "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
                "'CREATE TABLE t(a PRIMARY KEY, b, c INT, CHECK(c > 0))' WHERE name = 't'",
                "changed; CREATE TABLE t(a PRIMARY KEY, b, c INT, CHECK(c > 0))"},
        {"a check and a column",
                "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
                "'CREATE TABLE t(a PRIMARY KEY, b, c INT, d, CHECK(c > 0))' WHERE name = 't'",
                "changed; CREATE TABLE t(a PRIMARY KEY, b, c INT, d, CHECK(c > 0))"},
};

Test(ddl, what_happened_to_a_table_is_told)
{
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT;
                compare(BEFORE, cases[i].sql, &text);
                cr_expect_str_eq(buf_string(&text), cases[i].want, "%s: %s", cases[i].name,
                        buf_string(&text));
        }
}

Test(ddl, what_cannot_be_followed_stops_with_a_reason)
{
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        compare(BEFORE,
                "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
                "'CREATE TABLE t(a PRIMARY KEY, b, c INT, ###)' WHERE name = 't'",
                &text);
        cr_expect_str_eq(buf_string(&text),
                "stopped; SQLite cannot parse the new text of the table", "%s", buf_string(&text));
}

Test(ddl, a_dropped_table_whose_row_another_took_is_dropped)
{
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        compare("CREATE TABLE t(a, b)", "DROP TABLE t; CREATE TABLE x(a)", &text);
        cr_expect_str_eq(buf_string(&text), "dropped; DROP TABLE \"t\"", "%s", buf_string(&text));
}

/* The last row of sqlite_schema and its root page are taken again. */
Test(ddl, a_table_dropped_and_made_again_in_its_place_is_the_same)
{
        static const struct {
                const char *sql;
                const char *want;
        } again[] = {
                {"DROP TABLE t; CREATE TABLE t(a, b INT)", "same"},
                {"DROP TABLE t; CREATE TABLE t(a, c INT)",
                        "changed; ALTER TABLE \"t\" RENAME COLUMN \"b\" TO \"c\""},
                {"DROP TABLE t; CREATE TABLE t(a, b INT, c)",
                        "changed; ALTER TABLE \"t\" ADD COLUMN c"},
        };
        for (size_t i = 0; i < COUNT(again); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT;
                compare("CREATE TABLE t(a, b INT)", again[i].sql, &text);
                cr_expect_str_eq(buf_string(&text), again[i].want, "%s: %s", again[i].sql,
                        buf_string(&text));
        }
}

Test(ddl, released_twice_is_released)
{
        struct ddl_change change = {0};
        ddl_change_release(&change);
        ddl_change_release(&change);
}
