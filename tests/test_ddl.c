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
        if (change->is_rebuilt)
                buf_append_string(buf, " (rebuilt)");
        for (unsigned i = 0; i < change->count; i++)
                buf_append_format(buf, "; %s", change->statements[i]);
        if (change->reason)
                buf_append_format(buf, "; %s", change->reason);
}

/* Where the old columns are, " 0 1 -". */
static void append_map(struct buf *buf, const struct ddl_change *change, unsigned columns)
{
        for (unsigned i = 0; change->map && i < columns; i++)
                if (change->map[i] < 0)
                        buf_append_string(buf, " -");
                else
                        buf_append_format(buf, " %d", change->map[i]);
}

/* "verdict; statement; statement", or "stopped; reason". */
static void compare(const char *before, const char *sql, struct buf *ret_text, struct buf *ret_map)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        struct ddl_change change;
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        schema_run(db, before);
        struct schema *old = schema_of_db(db);
        schema_run(db, sql);
        struct schema *new = schema_of_db(db);
        const struct schema_table *table = schema_find_table(old, "t");
        cr_assert_eq(ddl_compare(old, table, new, false, &change), 0, "%s", sql);
        append_text(ret_text, &change);
        if (ret_map)
                append_map(ret_map, &change, table->column_count);
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
                compare(added[i].before, buf_string(&sql), &text, NULL);
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
                compare(added[i].before, buf_string(&sql), &text, NULL);
                cr_expect_str_eq(buf_string(&text), buf_string(&want), "%s, %s: %s",
                        added[i].before, added[i].definition, buf_string(&text));
        }
}

/* Prefix of the schema before each of these. */
#define BEFORE                                                                                     \
        "CREATE TABLE first(x); CREATE TABLE t(a PRIMARY KEY, b, c INT);"                          \
        "CREATE INDEX i ON t(b); CREATE TABLE other(x); CREATE UNIQUE INDEX u ON t(b, c);"

#define TEXT(text)                                                                                 \
        "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = '" text "' WHERE name = 't'"

static const struct {
        const char *name;
        const char *sql;
        const char *want;
        const char *map; /* NULL = none */
} cases[] = {
        {"nothing", "", "same", NULL},
        {"another table", "CREATE TABLE x(a); DROP TABLE other; CREATE INDEX f ON first(x)", "same",
                NULL},
        {"another table altered", "ALTER TABLE other ADD COLUMN y; ALTER TABLE first RENAME TO f",
                "same", NULL},
        {"views and triggers",
                "CREATE VIEW v AS SELECT * FROM t; CREATE TRIGGER r AFTER INSERT ON t "
                "BEGIN DELETE FROM first; END",
                "same", NULL},
        {"create index", "CREATE INDEX j ON t(c DESC)", "changed; CREATE INDEX j ON t(c DESC)",
                NULL},
        {"create unique index", "CREATE UNIQUE INDEX j ON t(c) WHERE c > 0",
                "changed; CREATE UNIQUE INDEX j ON t(c) WHERE c > 0", NULL},
        {"drop index", "DROP INDEX i", "changed; DROP INDEX \"i\"", NULL},
        {"another index under the name", "DROP INDEX i; CREATE INDEX i ON t(c)",
                "changed; DROP INDEX \"i\"; CREATE INDEX i ON t(c)", NULL},
        {"index made anew", "DROP INDEX i; CREATE INDEX i ON t(b)", "same", NULL},
        {"column and index", "ALTER TABLE t ADD COLUMN d; CREATE INDEX j ON t(d)",
                "changed; ALTER TABLE \"t\" ADD COLUMN d; CREATE INDEX j ON t(d)", " 0 1 2"},
        {"drop", "DROP TABLE t", "dropped; DROP TABLE \"t\"", NULL},
        {"drop of the last column", "DROP INDEX u; ALTER TABLE t DROP COLUMN c",
                "changed; ALTER TABLE \"t\" DROP COLUMN \"c\"; DROP INDEX \"u\"", " 0 1 -"},
        {"drop of a column in the middle",
                "DROP INDEX u; DROP INDEX i; ALTER TABLE t DROP COLUMN b",
                "changed; ALTER TABLE \"t\" DROP COLUMN \"b\"; DROP INDEX \"i\"; DROP INDEX \"u\"",
                " 0 - 1"},
        {"rename of a column", "ALTER TABLE t RENAME COLUMN b TO d",
                "changed; ALTER TABLE \"t\" RENAME COLUMN \"b\" TO \"d\"", " 0 1 2"},
        {"rename of a column's case", "ALTER TABLE t RENAME COLUMN b TO B",
                "changed; ALTER TABLE \"t\" RENAME COLUMN \"b\" TO \"B\"", " 0 1 2"},
        {"rename to an odd name", "ALTER TABLE t RENAME COLUMN b TO \"d\"\"e f\"",
                "changed; ALTER TABLE \"t\" RENAME COLUMN \"b\" TO \"d\"\"e f\"", " 0 1 2"},
        {"names that go round",
                "ALTER TABLE t RENAME b TO x; ALTER TABLE t RENAME a TO b; "
                "ALTER TABLE t RENAME x TO a",
                "changed; ALTER TABLE \"t\" RENAME COLUMN \"a\" TO \"b\"; "
                "ALTER TABLE \"t\" RENAME COLUMN \"b\" TO \"a\"",
                " 0 1 2"},
        {"rename and drop",
                "DROP INDEX u; ALTER TABLE t RENAME b TO d; ALTER TABLE t DROP COLUMN c", NULL,
                " 0 - -"},
        {"rename", "ALTER TABLE t RENAME TO s", "changed; ALTER TABLE \"t\" RENAME TO \"s\"",
                " 0 1 2"},
        {"rename to an odd name", "ALTER TABLE t RENAME TO \"s \"\"s\"",
                "changed; ALTER TABLE \"t\" RENAME TO \"s \"\"s\"", " 0 1 2"},
        {"rename of the case", "ALTER TABLE t RENAME TO x; ALTER TABLE x RENAME TO T",
                "changed; ALTER TABLE \"t\" RENAME TO \"T\"", " 0 1 2"},
        {"rename, and a column added", "ALTER TABLE t RENAME TO s; ALTER TABLE s ADD COLUMN d",
                NULL, NULL},
        {"rename of table and column",
                "ALTER TABLE t RENAME TO s; ALTER TABLE s RENAME COLUMN b TO d",
                "changed; ALTER TABLE \"t\" RENAME TO \"s\"; "
                "ALTER TABLE \"s\" RENAME COLUMN \"b\" TO \"d\"",
                " 0 1 2"},
        {"rebuilt",
                "CREATE TABLE n(c INT, a PRIMARY KEY, d, b); DROP TABLE t; "
                "ALTER TABLE n RENAME TO t",
                "changed (rebuilt); CREATE TABLE \"t\"(c INT, a PRIMARY KEY, d, b); "
                "DROP INDEX \"i\"; DROP INDEX \"u\"",
                " 1 3 0"},
        {"rebuilt without a column",
                "CREATE TABLE n(a PRIMARY KEY, c INT); DROP TABLE t; ALTER TABLE n RENAME TO t",
                "changed (rebuilt); CREATE TABLE \"t\"(a PRIMARY KEY, c INT); "
                "DROP INDEX \"i\"; DROP INDEX \"u\"",
                " 0 - 1"},
        {"dropped and made anew", "DROP TABLE t; CREATE TABLE t(a PRIMARY KEY, b, c INT)",
                "changed (rebuilt); CREATE TABLE t(a PRIMARY KEY, b, c INT); DROP INDEX \"i\"; "
                "DROP INDEX \"u\"",
                " 0 1 2"},
        {"an index on another table", "DROP INDEX u; CREATE UNIQUE INDEX u ON other(x)",
                "changed; DROP INDEX \"u\"", NULL},
        {"a unique index that is none any more", "DROP INDEX u; CREATE INDEX u ON t(b, c)",
                "changed; DROP INDEX \"u\"; CREATE INDEX u ON t(b, c)", NULL},
        {"a column dropped and added",
                "DROP INDEX u; ALTER TABLE t DROP COLUMN c; ALTER TABLE t ADD COLUMN d INT",
                "changed; ALTER TABLE \"t\" RENAME COLUMN \"c\" TO \"d\"; DROP INDEX \"u\"",
                " 0 1 2"},
        {"another took its name",
                "ALTER TABLE t RENAME TO s; CREATE TABLE t(a PRIMARY KEY, b, c INT)",
                "changed; ALTER TABLE \"t\" RENAME TO \"s\"", " 0 1 2"},
        {"strict", TEXT("CREATE TABLE t(a ANY PRIMARY KEY, b ANY, c INT) STRICT"),
                "changed; CREATE TABLE t(a ANY PRIMARY KEY, b ANY, c INT) STRICT", " 0 1 2"},
        {"a view took its name", "DROP TABLE t; CREATE VIEW t AS SELECT * FROM first",
                "dropped; DROP TABLE \"t\"", NULL},
        {"another type", TEXT("CREATE TABLE t(a PRIMARY KEY, b TEXT, c INT)"),
                "changed; CREATE TABLE t(a PRIMARY KEY, b TEXT, c INT)", " 0 1 2"},
        {"another key", TEXT("CREATE TABLE t(a UNIQUE, b, c INT)"),
                "changed; CREATE TABLE t(a UNIQUE, b, c INT)", " 0 1 2"},
        {"a check", TEXT("CREATE TABLE t(a PRIMARY KEY, b, c INT, CHECK(c > 0))"),
                "changed; CREATE TABLE t(a PRIMARY KEY, b, c INT, CHECK(c > 0))", " 0 1 2"},
        {"a check and a column", TEXT("CREATE TABLE t(a PRIMARY KEY, b, c INT, d, CHECK(c > 0))"),
                "changed; CREATE TABLE t(a PRIMARY KEY, b, c INT, d, CHECK(c > 0))", " 0 1 2"},
        {"no text that can be parsed", TEXT("CREATE TABLE t(a PRIMARY KEY, b, c INT, ###)"),
                "stopped; SQLite cannot parse the new text of the table", NULL},
};

Test(ddl, what_happened_to_a_table_is_told)
{
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT, map = BUF_INIT;
                compare(BEFORE, cases[i].sql, &text, &map);
                if (cases[i].want)
                        cr_expect_str_eq(buf_string(&text), cases[i].want, "%s: %s", cases[i].name,
                                buf_string(&text));
                if (cases[i].map)
                        cr_expect_str_eq(buf_string(&map), cases[i].map, "%s: %s", cases[i].name,
                                buf_string(&map));
        }
}

Test(ddl, a_table_renamed_and_altered_in_one_commit_goes_on)
{
        static const struct {
                const char *sql;
                const char *want;
        } renamed[] = {
                {"ALTER TABLE t RENAME TO x; ALTER TABLE x ADD COLUMN d INT",
                        "ALTER TABLE \"x\" ADD COLUMN d INT"},
                {"ALTER TABLE t RENAME TO x; ALTER TABLE x DROP COLUMN a",
                        "ALTER TABLE \"x\" DROP COLUMN \"a\""},
                {"ALTER TABLE t RENAME TO x; ALTER TABLE x DROP COLUMN b",
                        "ALTER TABLE \"x\" DROP COLUMN \"b\""},
                {"ALTER TABLE t RENAME TO x; ALTER TABLE x DROP COLUMN c",
                        "ALTER TABLE \"x\" DROP COLUMN \"c\""},
                {"ALTER TABLE t RENAME TO x; ALTER TABLE x RENAME a TO z",
                        "ALTER TABLE \"x\" RENAME COLUMN \"a\" TO \"z\""},
        };
        for (size_t i = 0; i < COUNT(renamed); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT, want = BUF_INIT;
                compare("CREATE TABLE t(a, b INT, c)", renamed[i].sql, &text, NULL);
                buf_append_format(
                        &want, "changed; ALTER TABLE \"t\" RENAME TO \"x\"; %s", renamed[i].want);
                cr_expect_str_eq(buf_string(&text), buf_string(&want), "%s: %s", renamed[i].sql,
                        buf_string(&text));
        }
}

/* A new table would have got a row behind the one that stayed. */
Test(ddl, whatever_became_of_a_table_before_one_that_stayed_it_goes_on)
{
        static const char *const changes[] = {
                "ALTER TABLE x DROP COLUMN a; ALTER TABLE x DROP COLUMN c",
                "ALTER TABLE x RENAME a TO k; ALTER TABLE x RENAME b TO a; ALTER TABLE x RENAME k "
                "TO b",
                "ALTER TABLE x DROP COLUMN b; ALTER TABLE x ADD COLUMN e; DROP TABLE first",
                "ALTER TABLE x RENAME a TO k; ALTER TABLE x ADD COLUMN e TEXT; DROP TABLE first",
        };
        for (size_t i = 0; i < COUNT(changes); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT, sql = BUF_INIT;
                buf_append_format(&sql, "ALTER TABLE t RENAME TO x; %s", changes[i]);
                compare("PRAGMA auto_vacuum=FULL; CREATE TABLE first(x); "
                        "CREATE TABLE t(a, b INT, c, d); CREATE TABLE other(x)",
                        buf_string(&sql), &text, NULL);
                static const char want[] = "changed; ALTER TABLE \"t\" RENAME TO \"x\"; ";
                cr_expect(strncmp(buf_string(&text), want, strlen(want)) == 0, "%s: %s", changes[i],
                        buf_string(&text));
        }
}

Test(ddl, indexes_are_told_in_the_order_in_which_they_were_made)
{
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        compare("CREATE TABLE t(a UNIQUE, b); CREATE INDEX y ON t(a); CREATE INDEX x ON t(b)",
                "DROP INDEX x; DROP INDEX y; CREATE INDEX j ON t(a); CREATE UNIQUE INDEX i ON t(b)",
                &text, NULL);
        cr_expect_str_eq(buf_string(&text),
                "changed; DROP INDEX \"y\"; DROP INDEX \"x\"; CREATE INDEX j ON t(a); "
                "CREATE UNIQUE INDEX i ON t(b)",
                "%s", buf_string(&text));
}

Test(ddl, a_dropped_table_whose_row_another_took_is_dropped)
{
        static const char *const others[] = {
                "x(a)", "x(a, b)", "x(a, b, c)", "\"x\" (c, d, e)", "\"x \"\"y\"(a, c, d)"};
        for (size_t i = 0; i < COUNT(others); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT, sql = BUF_INIT;
                buf_append_format(&sql, "DROP TABLE t; CREATE TABLE %s", others[i]);
                compare("CREATE TABLE t(a, b)", buf_string(&sql), &text, NULL);
                cr_expect_str_eq(buf_string(&text), "dropped; DROP TABLE \"t\"", "%s: %s",
                        others[i], buf_string(&text));
        }
}

/* The last row of sqlite_schema and its root page are taken again: it cannot be told from ALTER
 * TABLE. */
Test(ddl, a_table_dropped_and_made_again_in_its_place_goes_on)
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
                {"DROP TABLE t; CREATE TABLE t(b INT)",
                        "changed; ALTER TABLE \"t\" DROP COLUMN \"a\""},
        };
        for (size_t i = 0; i < COUNT(again); i++) {
                _cleanup_(buf_release) struct buf text = BUF_INIT;
                compare("CREATE TABLE t(a, b INT)", again[i].sql, &text, NULL);
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
