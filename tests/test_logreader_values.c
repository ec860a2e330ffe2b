/* SPDX-License-Identifier: MIT
 *
 * Every kind of value and of column, as the log has it and as SQL shows it.
 */
#include "live.h"

static const char *const encodings[] = {"UTF-8", "UTF-16le", "UTF-16be"};

typedef void (*story_function)(struct live *l);

static void in_all_encodings(story_function story, const char *schema, uint32_t page_size)
{
        for (size_t i = 0; i < COUNT(encodings); i++) {
                struct live l;
                char settings[80];
                snprintf(settings, sizeof(settings), "PRAGMA encoding='%s'", encodings[i]);
                live_open(&l,
                        &(struct live_options){
                                .page_size = page_size, .settings = settings, .schema = schema});
                story(&l);
                live_close(&l);
        }
}

/* In each encoding, in small pages and in large ones. */
static void in_all_settings(story_function story, const char *schema)
{
        static const uint32_t sizes[] = {512, 4096, 65536};
        for (size_t i = 0; i < COUNT(sizes); i++)
                in_all_encodings(story, schema, sizes[i]);
}

/* ---- storage classes ---- */

static const char *const literals[] = {"0", "1", "-1", "2", "127", "128", "-128", "-129", "32767",
        "32768", "-32768", "-32769", "8388607", "8388608", "-8388608", "-8388609", "2147483647",
        "2147483648", "-2147483648", "-2147483649", "140737488355327", "140737488355328",
        "-140737488355328", "-140737488355329", "9223372036854775807", "-9223372036854775808",
        "0.0", "-0.0", "1.5", "-1.5", "1e308", "-1e308", "9e999", "-9e999", "4.9e-324", "NULL",
        "''", "x''", "'a'", "x'00'", "'NULL'", "3.0", "1e15", "1e300", "'3'", "'12abc'", "'3.0'",
        "' 7'", "'1e3'", "char(0x1f600)", "char(0xe9, 0xff, 0x100)", "CAST(x'ff' AS TEXT)",
        "CAST(x'c328' AS TEXT)", "CAST(x'eda080' AS TEXT)", "'a' || char(0) || 'b'", "char(0)",
        "zeroblob(511)", "randomblob(5000)", "hex(randomblob(3000))"};

static void store_every_literal(struct live *l)
{
        live_attach(l, &(struct live_table){.name = "v", .columns = "n,a,b,c,d,e"});
        live_attach(l, &(struct live_table){.name = "v", .columns = "a,e", .key = "1,2"});
        for (size_t i = 0; i < COUNT(literals); i++) {
                const char *v = literals[i];
                live_run(l, "INSERT INTO v VALUES(%d, %s, %s, %s, %s, %s)", (int)i, v, v, v, v, v);
        }
        live_tell(l);
        live_run(l, "UPDATE v SET a = e, b = d, c = b, d = a, e = c");
        live_tell(l);
        live_run(l, "DELETE FROM v");
        cr_expect_eq(live_step(l), COUNT(literals) * 2);
}

Test(logreader_values, every_storage_class_comes_as_it_is_stored)
{
        in_all_settings(
                store_every_literal, "CREATE TABLE v(n, a, b TEXT, c NUMERIC, d INTEGER, e REAL)");
}

static void change_class_only(struct live *l)
{
        static const char *const classes[] = {
                "1", "1.0", "'1'", "x'31'", "NULL", "''", "x''", "0", "0.0", "1"};
        live_attach(l, &(struct live_table){.name = "t", .columns = "a"});
        live_run(l, "INSERT INTO t VALUES(1)");
        live_tell(l);
        for (size_t i = 1; i < COUNT(classes); i++) {
                live_run(l, "UPDATE t SET a = %s", classes[i]);
                cr_expect_eq(live_tell(l), 1, "%s", classes[i]);
        }
}

Test(logreader_values, a_change_of_the_storage_class_is_a_change)
{
        in_all_settings(change_class_only, "CREATE TABLE t(a)");
}

Test(logreader_values, a_real_column_shows_reals_however_they_are_stored)
{
        struct live l;
        live_open(&l, &(struct live_options){.schema = "CREATE TABLE t(a REAL, b)"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "a,b"});
        live_run(&l, "INSERT INTO t VALUES(3, 1), (3.0, 2), ('3', 3), (1e15, 4), (-0.0, 5)");
        cr_expect_eq(live_tell(&l), 5);
        live_run(&l, "UPDATE t SET a = 3.0 WHERE b = 1");
        cr_expect_eq(live_tell(&l), 0, "the same value");
        live_run(&l, "UPDATE t SET a = 3.5 WHERE b = 1");
        cr_expect_eq(live_tell(&l), 1);
        live_close(&l);
}

/* ---- rowids and keys ---- */

static const struct {
        const char *schema;
        const char *columns;
        const char *key;
        bool is_rowid_key;
} keys[] = {
        {"CREATE TABLE t(k INTEGER PRIMARY KEY, b)", "k,b", "1", true},
        {"CREATE TABLE t(b, k \"INTEGER\" PRIMARY KEY)", "b,k", "2", true},
        {"CREATE TABLE t(k integer PRIMARY KEY ASC, b)", "b,k", "2", true},
        {"CREATE TABLE t(k INTEGER PRIMARY KEY AUTOINCREMENT, b)", "k,b", "1", true},
        {"CREATE TABLE t(k INTEGER, b, PRIMARY KEY(k))", "k,b", "1", true},
        {"CREATE TABLE t(k INTEGER, b, PRIMARY KEY(k DESC))", "k,b", "1", true},
        {"CREATE TABLE t(k INTEGER PRIMARY KEY DESC, b)", "k,b", "1", false},
        {"CREATE TABLE t(k INT PRIMARY KEY, b)", "k,b", "1", false},
        {"CREATE TABLE t(k BIGINT PRIMARY KEY, b)", "k,b", "1", false},
        {"CREATE TABLE t(k INTEGER PRIMARY KEY, b)", "b", NULL, false},
        {"CREATE TABLE t(k INTEGER, b)", "k,b", NULL, false},
        {"CREATE TABLE t(rowid, k INTEGER PRIMARY KEY, b)", "k,b", "1", true},
};

Test(logreader_values, the_rowid_is_the_key_where_sqlite_says_so)
{
        for (size_t i = 0; i < COUNT(keys); i++) {
                struct live l;
                live_open(&l, &(struct live_options){.schema = keys[i].schema});
                live_attach(&l, &(struct live_table){.name = "t",
                                        .columns = keys[i].columns,
                                        .key = keys[i].key,
                                        .is_rowid_key = keys[i].is_rowid_key,
                                        .rowid = "_rowid_"});
                live_run(&l, "INSERT INTO t(k, b) VALUES(123, 'a'), (-5, 'b'), (0, 'c'), "
                             "(9223372036854775807, 'd'), (-9223372036854775808, 'e')");
                cr_expect_eq(live_tell(&l), 5, "%s", keys[i].schema);
                live_run(&l, "UPDATE t SET b = k WHERE k < 5");
                cr_expect_eq(live_tell(&l), 3, "%s", keys[i].schema);
                live_run(&l, "UPDATE t SET k = k + 10 WHERE k < 5");
                live_run(&l, "DELETE FROM t WHERE k > 5");
                live_step(&l);
                live_close(&l);
        }
}

Test(logreader_values, a_rowid_table_may_have_a_column_named_rowid)
{
        struct live l;
        live_open(&l,
                &(struct live_options){.schema = "CREATE TABLE t(oid, _rowid_ PRIMARY KEY, b)"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "oid,_rowid_,b", .key = "2"});
        live_run(&l, "INSERT INTO t VALUES(7, 'k', 1), (8, 'l', 2)");
        live_run(&l, "UPDATE t SET _rowid_ = 'm', oid = 9 WHERE b = 1");
        cr_expect_eq(live_step(&l), 4);
        live_close(&l);
}

/* ---- sizes ---- */

/* Payloads about every border between local bytes and overflow pages. */
static void store_sizes(struct live *l)
{
        uint32_t usable = l->database->usable, room = usable - 4;
        uint32_t bases[] = {usable - 35, (usable - 12) * 32 / 255 - 23, room, usable - 35 + room,
                (usable - 12) * 32 / 255 - 23 + 2 * room, 3 * room};
        live_attach(l, &(struct live_table){.name = "t", .columns = "a,b"});
        for (size_t i = 0; i < COUNT(bases); i++)
                for (int d = -12; d <= 6; d++)
                        live_run(l, "INSERT INTO t VALUES(%d, randomblob(%u))", d,
                                (unsigned)((int)bases[i] + d));
        live_tell(l);
        live_run(l, "UPDATE t SET b = randomblob(length(b))");
        live_tell(l);
        live_run(l, "UPDATE t SET b = b || x'01'");
        live_tell(l);
        live_run(l, "UPDATE t SET b = substr(b, 1, length(b) - 3)");
        live_tell(l);
        live_run(l, "DELETE FROM t");
        cr_expect_eq(live_step(l), COUNT(bases) * 19);
}

Test(logreader_values, payloads_about_every_border_are_whole)
{
        static const struct {
                uint32_t page_size;
                int reserved;
        } sizes[] = {{512, 0}, {512, 32}, {1024, 0}, {4096, 32}, {65536, 0}};
        for (size_t i = 0; i < COUNT(sizes); i++) {
                struct live l;
                live_open(&l, &(struct live_options){.page_size = sizes[i].page_size,
                                      .reserved = sizes[i].reserved,
                                      .schema = "CREATE TABLE t(a, b)"});
                store_sizes(&l);
                live_close(&l);
        }
}

Test(logreader_values, a_value_of_many_megabytes_is_whole)
{
        struct live l;
        live_open(&l, &(struct live_options){.schema = "CREATE TABLE t(a PRIMARY KEY, b, c)"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "a,b,c", .key = "1"});
        live_run(&l, "INSERT INTO t VALUES(1, randomblob(1000000), 'x'), "
                     "(2, randomblob(20000000), 'y')");
        cr_expect_eq(live_step(&l), 2);
        live_run(&l, "UPDATE t SET c = 'z' WHERE a = 2");
        cr_expect_eq(live_step(&l), 1, "the large value comes on both sides");
        live_run(&l, "UPDATE t SET a = a + 1 WHERE a = 2");
        cr_expect_eq(live_step(&l), 2);
        live_run(&l, "DELETE FROM t");
        cr_expect_eq(live_step(&l), 2);
        live_close(&l);
}

static void make_wide(struct live *l, unsigned columns, struct buf *sql)
{
        buf_append_string(sql, "CREATE TABLE t(c0");
        for (unsigned i = 1; i < columns; i++)
                buf_append_format(sql, ",c%u", i);
        buf_append_string(sql, ")");
        live_run(l, "%s", buf_string(sql));
        live_tell(l);
}

Test(logreader_values, tables_of_many_columns_are_told)
{
        static const unsigned counts[] = {126, 127, 128, 300, 1000, 2000};
        for (size_t i = 0; i < COUNT(counts); i++) {
                struct live l;
                char columns[80];
                _cleanup_(buf_release) struct buf sql = BUF_INIT;
                live_open(&l, &(struct live_options){0});
                make_wide(&l, counts[i], &sql);
                snprintf(columns, sizeof(columns), "c0,c%u,c%u", counts[i] - 1, counts[i] / 2);
                live_attach(&l, &(struct live_table){.name = "t", .columns = columns});
                live_run(&l, "INSERT INTO t(c0, c%u) VALUES(1, 'last')", counts[i] - 1);
                live_run(&l, "INSERT INTO t(c0) VALUES(2)");
                live_run(&l, "UPDATE t SET c%u = 'last'", counts[i] - 1);
                live_run(&l, "UPDATE t SET c%u = zeroblob(9000)", counts[i] / 2);
                live_run(&l, "UPDATE t SET c1 = 'not captured'");
                cr_expect_eq(live_step(&l), 1 + 1 + 1 + 2, "%u", counts[i]);
                live_close(&l);
        }
}

/* ---- columns that are not simply stored ---- */

Test(logreader_values, generated_columns_are_found_around_virtual_ones)
{
        struct live l;
        live_open(&l,
                &(struct live_options){.schema = "CREATE TABLE t(a, v AS (a + 1) VIRTUAL, b, "
                                                 "s AS (a * 2) STORED, r REAL AS (a) STORED, c)"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "a,b,s,r,c"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "c,s", .key = "2"});
        live_run(&l, "INSERT INTO t(a, b, c) VALUES(1, 2, 3), (4, 5, 6)");
        cr_expect_eq(live_tell(&l), 4);
        live_run(&l, "UPDATE t SET a = 10 WHERE a = 1");
        cr_expect_eq(live_tell(&l), 3);
        live_run(&l, "DELETE FROM t");
        cr_expect_eq(live_step(&l), 4);
        live_close(&l);
}

Test(logreader_values, a_virtual_column_has_no_value)
{
        struct live l;
        struct change_transaction t;
        struct change change;
        live_open(&l, &(struct live_options){.schema = "CREATE TABLE t(a, v AS (a + 1))"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "a,v"});
        live_run(&l, "INSERT INTO t VALUES(1)");
        cr_assert_eq(logreader_poll(l.reader), 1);
        cr_assert_eq(l.source.next(l.source.context, &t), 1);
        cr_assert_eq(l.source.next_change(l.source.context, &change), 1);
        cr_expect_eq(change.after[0].integer, 1);
        cr_expect_eq(change.after[1].type, VALUE_NULL);
        live_close(&l);
}

static void change_strict(struct live *l)
{
        live_attach(l, &(struct live_table){.name = "t", .columns = "a,i,t,r,b", .key = "1"});
        live_run(l, "INSERT INTO t VALUES(1, 2, 'x', 3, x'04'), ('1', NULL, '', 3.5, NULL), "
                    "(1.5, 7, 'y', -0.0, zeroblob(700)), (x'31', 7, 'y', 1e300, x'')");
        live_tell(l);
        live_run(l, "UPDATE t SET a = CASE typeof(a) WHEN 'integer' THEN 'n' ELSE 5 END, r = r + 1 "
                    "WHERE i = 2");
        live_run(l, "UPDATE t SET r = 8, i = -1 WHERE b IS NULL OR i = 2");
        live_run(l, "DELETE FROM t WHERE r = 8");
        live_step(l);
}

Test(logreader_values, strict_tables_are_told)
{
        in_all_settings(change_strict,
                "CREATE TABLE t(a ANY UNIQUE, i INT, t TEXT, r REAL, b BLOB) STRICT");
}

/* ---- rows stored before a column was added ---- */

static const char *const defaults[] = {"5", "-5", "'x'", "'12'", "x'00ff'", "NULL", "1.5", "-1.5",
        "'it''s'", "9223372036854775807", "''", "(5)", "(-5)", "('a')", "\"abc\"", "abc", "[a b]",
        "TRUE", "FALSE", "3.0", "-0.0", "1e3", "0x10", "9223372036854775808",
        "(CAST('7' AS INTEGER))"};

static void add_columns_with_defaults(struct live *l)
{
        static const char *const types[] = {"", "INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB"};
        for (size_t i = 0; i < COUNT(defaults); i++) {
                live_run(l, "CREATE TABLE d%d(a); INSERT INTO d%d VALUES(1), (2), (3)", (int)i,
                        (int)i);
                for (size_t k = 0; k < COUNT(types); k++)
                        live_run(l, "ALTER TABLE d%d ADD COLUMN c%d %s DEFAULT %s", (int)i, (int)k,
                                types[k], defaults[i]);
        }
        live_tell(l);
        for (size_t i = 0; i < COUNT(defaults); i++) {
                char name[20];
                snprintf(name, sizeof(name), "d%d", (int)i);
                l->count = 0;
                live_attach(l, &(struct live_table){.name = name,
                                       .columns = "a,c0,c1,c2,c3,c4,c5",
                                       .object_id = 100 + (int64_t)i});
                live_run(l, "UPDATE %s SET a = 7 WHERE a = 1", name);
                live_run(l, "DELETE FROM %s WHERE a = 2", name);
                live_run(l, "UPDATE %s SET c3 = 8", name);
                cr_expect_eq(live_tell(l), 4, "DEFAULT %s", defaults[i]);
                l->source.detach(l->source.context, 100 + (int64_t)i);
        }
}

Test(logreader_values, short_rows_have_the_defaults_of_added_columns)
{
        in_all_encodings(add_columns_with_defaults, "CREATE TABLE first(a)", 1024);
}

Test(logreader_values, a_short_row_that_is_made_long_has_not_changed)
{
        struct live l;
        live_open(&l, &(struct live_options){
                              .schema = "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 1), (2, 2);"
                                        "ALTER TABLE t ADD COLUMN c INT DEFAULT 9"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "b,c"});
        live_run(&l, "UPDATE t SET a = 8");
        cr_expect_eq(live_tell(&l), 0, "a is not captured, c is what it was");
        live_run(&l, "UPDATE t SET c = 9");
        cr_expect_eq(live_tell(&l), 0);
        live_run(&l, "UPDATE t SET c = 10 WHERE a = 8");
        cr_expect_eq(live_step(&l), 2);
        live_close(&l);
}

Test(logreader_values, rows_of_three_widths_may_stand_on_one_page)
{
        struct live l;
        live_open(
                &l, &(struct live_options){.schema = "CREATE TABLE t(a PRIMARY KEY, b); "
                                                     "INSERT INTO t VALUES(1, 1), (2, 2), (3, 3)"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "a,b", .key = "1"});
        live_run(&l, "ALTER TABLE t ADD COLUMN c DEFAULT 'c'");
        live_run(&l, "INSERT INTO t VALUES(4, 4, 4)");
        live_run(&l, "ALTER TABLE t ADD COLUMN d REAL DEFAULT 7");
        live_run(&l, "INSERT INTO t VALUES(5, 5, 5, 5)");
        cr_expect_eq(live_tell(&l), 2);
        live_attach(&l, &(struct live_table){.name = "t", .columns = "d,c,a", .key = "3"});
        live_run(&l, "UPDATE t SET b = b + 1");
        cr_expect_eq(live_tell(&l), 5);
        live_run(&l, "UPDATE t SET c = 'c', d = 7");
        cr_expect_eq(live_tell(&l), 2);
        live_run(&l, "DELETE FROM t");
        cr_expect_eq(live_step(&l), 10);
        live_close(&l);
}

/* ---- a database without a table ---- */

static void fill_first_table(struct live *l)
{
        live_run(l, "CREATE TABLE t(a PRIMARY KEY, b)");
        live_tell(l);
        live_attach(l, &(struct live_table){.name = "t", .columns = "a,b", .key = "1"});
        live_run(l, "INSERT INTO t VALUES('x', char(0xe9, 0x1f600)), ('y', zeroblob(5000))");
        live_run(l, "UPDATE t SET b = 'z' WHERE a = 'y'");
        cr_expect_eq(live_step(l), 3);
}

Test(logreader_values, the_first_table_may_be_made_while_it_reads)
{
        for (size_t i = 0; i < COUNT(encodings); i++) {
                struct live l;
                char settings[80];
                snprintf(settings, sizeof(settings), "PRAGMA encoding='%s'", encodings[i]);
                live_open(&l, &(struct live_options){.settings = settings, .is_fresh = true});
                fill_first_table(&l);
                live_close(&l);
        }
}
