/* SPDX-License-Identifier: MIT
 *
 * Schema changes in the log: what is told of them, and that rows are followed through them.
 */
#include "live.h"

static void expect_events(struct live *l, const char *want, const char *what)
{
        cr_expect_str_eq(buf_string(&l->events), want, "%s: %s", what, buf_string(&l->events));
}

/* ---- one table, one change ---- */

#define ROWS                                                                                       \
        "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) "          \
        "INSERT INTO t(a, b, c) SELECT i, 'b' || i, zeroblob(CASE WHEN i % 9 = 0 THEN 2000 ELSE "  \
        "5 END) FROM n;"

#define TABLE "CREATE TABLE first(x); CREATE TABLE t(a PRIMARY KEY, b, c, d);" ROWS
#define NULLS "INSERT INTO t(b, c) SELECT b, c FROM t WHERE a % 9 = 0;"
#define SEQUENCE "CREATE TABLE s(id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE s;"
#define PLAIN "CREATE TABLE first(x); CREATE TABLE t(a, b, c, d);" ROWS

static const struct {
        const char *name;
        const char *schema;
        const char *sql;             /* one transaction */
        const char *table, *columns; /* as the instance finds them afterwards; NULL = as before */
        bool is_renumbered;
        unsigned changes;
        const char *events;
        const char *more; /* and then */
        unsigned more_changes;
} cases[] = {
        {"a column added", TABLE, "ALTER TABLE t ADD COLUMN e DEFAULT 'x, y'", NULL, NULL, false, 0,
                "1 ddl ALTER TABLE \"t\" ADD COLUMN e DEFAULT 'x, y'\n1 bound t 0 1 2\n",
                "UPDATE t SET e = b", 0},
        {"a column added, and rows", TABLE,
                "BEGIN; INSERT INTO t(a) VALUES(1000); ALTER TABLE t ADD COLUMN e DEFAULT 9; "
                "INSERT INTO t(a, e) VALUES(1001, 5); UPDATE t SET b = e WHERE a < 6; COMMIT",
                NULL, NULL, false, 7,
                "1 ddl ALTER TABLE \"t\" ADD COLUMN e DEFAULT 9\n1 bound t 0 1 2\n",
                "DELETE FROM t", 302},
        {"two columns added", TABLE,
                "BEGIN; ALTER TABLE t ADD COLUMN e; ALTER TABLE t ADD COLUMN f REAL DEFAULT 1; "
                "COMMIT",
                NULL, NULL, false, 0,
                "1 ddl ALTER TABLE \"t\" ADD COLUMN e\n"
                "1 ddl ALTER TABLE \"t\" ADD COLUMN f REAL DEFAULT 1\n1 bound t 0 1 2\n",
                "UPDATE t SET f = 2, b = 1 WHERE a = 1", 1},
        {"a column dropped that is not captured", TABLE, "ALTER TABLE t DROP COLUMN d", NULL, NULL,
                false, 0, "1 ddl ALTER TABLE \"t\" DROP COLUMN \"d\"\n1 bound t 0 1 2\n",
                "DELETE FROM t", 300},
        {"the same, and a row", TABLE,
                "BEGIN; ALTER TABLE t DROP COLUMN d; UPDATE t SET c = 1 WHERE a = 5; COMMIT", NULL,
                NULL, false, 1, "1 ddl ALTER TABLE \"t\" DROP COLUMN \"d\"\n1 bound t 0 1 2\n",
                "UPDATE t SET b = a", 300},
        {"a captured column dropped", TABLE, "ALTER TABLE t DROP COLUMN b", "t", "a,NULL,c", false,
                0, "1 ddl ALTER TABLE \"t\" DROP COLUMN \"b\"\n1 bound t 0 -1 1\n",
                "UPDATE t SET c = a", 300},
        {"the same, and the root moves", TABLE,
                "BEGIN; ALTER TABLE t DROP COLUMN b; DROP TABLE first; COMMIT", "t", "a,NULL,c",
                false, 0, "1 ddl ALTER TABLE \"t\" DROP COLUMN \"b\"\n1 bound t 0 -1 1\n",
                "UPDATE t SET c = a", 300},
        {"the same, and a row", TABLE,
                "BEGIN; ALTER TABLE t DROP COLUMN b; UPDATE t SET c = 1 WHERE a = 5; "
                "DELETE FROM t WHERE a = 6; COMMIT",
                "t", "a,NULL,c", false, 2,
                "1 ddl ALTER TABLE \"t\" DROP COLUMN \"b\"\n1 bound t 0 -1 1\n", "DELETE FROM t",
                299},
        {"two columns dropped", TABLE,
                "BEGIN; ALTER TABLE t DROP COLUMN c; ALTER TABLE t DROP COLUMN b; COMMIT", "t",
                "a,NULL,NULL", false, 0,
                "1 ddl ALTER TABLE \"t\" DROP COLUMN \"b\"\n"
                "1 ddl ALTER TABLE \"t\" DROP COLUMN \"c\"\n1 bound t 0 -1 -1\n",
                "INSERT INTO t VALUES(1000, 1)", 1},
        {"a column renamed", TABLE, "ALTER TABLE t RENAME COLUMN b TO \"b b\"", "t", "a,\"b b\",c",
                false, 0,
                "1 ddl ALTER TABLE \"t\" RENAME COLUMN \"b\" TO \"b b\"\n1 bound t 0 1 2\n",
                "UPDATE t SET \"b b\" = 1", 300},
        {"columns that change names", TABLE,
                "BEGIN; ALTER TABLE t RENAME b TO x; ALTER TABLE t RENAME c TO b; "
                "ALTER TABLE t RENAME x TO c; UPDATE t SET c = 'was b' WHERE a < 4; COMMIT",
                "t", "a,c,b", false, 3,
                "1 ddl ALTER TABLE \"t\" RENAME COLUMN \"b\" TO \"c\"\n"
                "1 ddl ALTER TABLE \"t\" RENAME COLUMN \"c\" TO \"b\"\n1 bound t 0 1 2\n",
                "UPDATE t SET b = 1", 300},
        {"one dropped, one added", TABLE,
                "BEGIN; ALTER TABLE t DROP COLUMN b; ALTER TABLE t ADD COLUMN e DEFAULT 5; COMMIT",
                "t", "a,NULL,c", false, 0,
                "1 ddl CREATE TABLE t(a PRIMARY KEY, c, d, e DEFAULT 5)\n1 bound t 0 -1 1\n",
                "UPDATE t SET e = 1, c = 2 WHERE a < 10", 9},
        {"one dropped, one of its name added", TABLE,
                "BEGIN; ALTER TABLE t DROP COLUMN b; ALTER TABLE t ADD COLUMN b INT; "
                "INSERT INTO t(a, b) VALUES(1000, 1); COMMIT",
                "t", "a,NULL,c", false, 1,
                "1 ddl CREATE TABLE t(a PRIMARY KEY, c, d, b INT)\n1 bound t 0 -1 1\n",
                "UPDATE t SET b = 1", 0},
        {"the table renamed", TABLE, "ALTER TABLE t RENAME TO \"u u\"", "u u", "a,b,c", false, 0,
                "1 ddl ALTER TABLE \"t\" RENAME TO \"u u\"\n1 bound u u 0 1 2\n",
                "DELETE FROM \"u u\"", 300},
        {"the table renamed, and rows", TABLE,
                "BEGIN; ALTER TABLE t RENAME TO u; DELETE FROM u WHERE a > 10; COMMIT", "u",
                "a,b,c", false, 290, "1 ddl ALTER TABLE \"t\" RENAME TO \"u\"\n1 bound u 0 1 2\n",
                "INSERT INTO u(a) VALUES(1000)", 1},
        {"another takes its name", TABLE,
                "BEGIN; ALTER TABLE t RENAME TO u; CREATE TABLE t(a PRIMARY KEY, b, c, d); "
                "INSERT INTO t SELECT * FROM u; UPDATE u SET b = 0 WHERE a = 7; COMMIT",
                "u", "a,b,c", false, 1,
                "1 ddl ALTER TABLE \"t\" RENAME TO \"u\"\n1 bound u 0 1 2\n", "DELETE FROM t", 0},
        {"rebuilt", TABLE,
                "BEGIN; CREATE TABLE n(c, e, a PRIMARY KEY, b TEXT); "
                "INSERT INTO n SELECT c, 1, a, b FROM t WHERE a <> 9; DROP TABLE t; "
                "ALTER TABLE n RENAME TO t; UPDATE t SET b = 'z' WHERE a = 5; COMMIT",
                NULL, NULL, false, 2,
                "1 ddl! CREATE TABLE \"t\"(c, e, a PRIMARY KEY, b TEXT)\n1 bound t 2 3 0\n",
                "DELETE FROM t", 299},
        {"rebuilt without a key", PLAIN,
                "BEGIN; CREATE TABLE n(a, b, c, d, e); INSERT INTO n SELECT a, b, c, d, 1 FROM t "
                "WHERE a % 50 ORDER BY a DESC; DROP TABLE t; ALTER TABLE n RENAME TO t; "
                "INSERT INTO t(a) VALUES(1), (1); COMMIT",
                NULL, NULL, true, 8, "1 ddl CREATE TABLE \"t\"(a, b, c, d, e)\n1 bound t 0 1 2\n",
                "UPDATE t SET b = 1 WHERE a < 10", 11},
        {"dropped and made again", TABLE,
                "BEGIN; CREATE TABLE k AS SELECT * FROM t; DROP TABLE t; "
                "CREATE TABLE t(a PRIMARY KEY, b, c, d); INSERT INTO t SELECT * FROM k; "
                "DROP TABLE k; DELETE FROM t WHERE a = 3; COMMIT",
                NULL, NULL, false, 1,
                "1 ddl CREATE TABLE t(a PRIMARY KEY, b, c, d)\n1 bound t 0 1 2\n",
                "UPDATE t SET b = 1", 299},
        {"rebuilt without the rowid", TABLE,
                "BEGIN; CREATE TABLE n(b, a PRIMARY KEY, c) WITHOUT ROWID; "
                "INSERT INTO n SELECT b, a, c FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t; "
                "UPDATE t SET b = 'z' WHERE a = 5; COMMIT",
                NULL, NULL, false, 1,
                "1 ddl CREATE TABLE \"t\"(b, a PRIMARY KEY, c) WITHOUT ROWID\n1 bound t 1 0 2\n",
                "DELETE FROM t WHERE a = 6; UPDATE t SET b = 0", 300},
        {"rebuilt without the rowid and without the key", TABLE,
                "BEGIN; CREATE TABLE n(a, b, c, d PRIMARY KEY) WITHOUT ROWID; "
                "INSERT INTO n SELECT NULL, b, c, a FROM t; DROP TABLE t; "
                "ALTER TABLE n RENAME TO t; COMMIT",
                NULL, NULL, true, 600,
                "1 ddl CREATE TABLE \"t\"(a, b, c, d PRIMARY KEY) WITHOUT ROWID\n1 bound t 0 1 2\n",
                "UPDATE t SET b = 'z' WHERE d = 5; DELETE FROM t WHERE d = 9", 3},
        {"the key becomes the rowid", TABLE,
                "BEGIN; CREATE TABLE n(a INTEGER PRIMARY KEY, b, c); "
                "INSERT INTO n SELECT a, b, c FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t; "
                "UPDATE t SET b = 'z' WHERE a = 5; COMMIT",
                NULL, NULL, false, 1,
                "1 ddl! CREATE TABLE \"t\"(a INTEGER PRIMARY KEY, b, c)\n1 bound t 0 1 2\n",
                "UPDATE t SET a = a + 1000 WHERE a > 298", 4},
        {"vacuum", TABLE, "VACUUM", NULL, NULL, true, 0, "1 bound t 0 1 2\n", "DELETE FROM t", 300},
        {"vacuum without a key", PLAIN "DELETE FROM t WHERE rowid % 3 = 0;", "VACUUM", NULL, NULL,
                true, 0, "1 bound t 0 1 2\n", "UPDATE t SET b = 1 WHERE a < 10", 6},
        {"rebuilt with keys that are NULL", TABLE NULLS,
                "BEGIN; CREATE TABLE n(a PRIMARY KEY, b, c, d); "
                "INSERT INTO n SELECT * FROM t WHERE b <> 'b18' ORDER BY rowid DESC; DROP TABLE t; "
                "ALTER TABLE n RENAME TO t; UPDATE t SET b = 'z' WHERE a = 5; "
                "UPDATE t SET b = 'z' WHERE a IS NULL AND b = 'b27'; COMMIT",
                NULL, NULL, true, 5,
                "1 ddl CREATE TABLE \"t\"(a PRIMARY KEY, b, c, d)\n1 bound t 0 1 2\n",
                "DELETE FROM t WHERE a IS NULL", 32},
        {"vacuum with keys that are NULL", TABLE NULLS "DELETE FROM t WHERE rowid % 3 = 0;",
                "VACUUM", NULL, NULL, true, 0, "1 bound t 0 1 2\n", "DELETE FROM t", 222},
        {"vacuum after the last AUTOINCREMENT table", SEQUENCE TABLE, "VACUUM", NULL, NULL, true, 0,
                "1 bound t 0 1 2\n", "DELETE FROM t", 300},
        {"indexes", TABLE, "CREATE INDEX i ON t(b)", NULL, NULL, false, 0,
                "1 ddl CREATE INDEX i ON t(b)\n1 bound t 0 1 2\n", "REINDEX", 0},
        {"another table", TABLE, "CREATE TABLE z(a); ANALYZE; DROP TABLE first", NULL, NULL, false,
                0, "", "UPDATE t SET b = 1", 300},
        {"another type", TABLE,
                "BEGIN; PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
                "'CREATE TABLE t(a PRIMARY KEY, b REAL, c, d)' WHERE name = 't'; COMMIT",
                NULL, NULL, false, 0, NULL, "UPDATE t SET c = 1", 300},
};

static struct live_table captured_table(size_t i)
{
        bool is_plain = strncmp(cases[i].schema, PLAIN, strlen(PLAIN)) == 0;
        return (struct live_table){.name = "t", .columns = "a,b,c", .key = is_plain ? NULL : "1"};
}

static void run_case(size_t i, const char *settings)
{
        struct live l;
        struct live_table table = captured_table(i);
        live_open(&l, &(struct live_options){
                              .page_size = 1024, .settings = settings, .schema = cases[i].schema});
        live_attach(&l, &table);
        if (cases[i].table)
                live_rebind(&l, 1, cases[i].table, cases[i].columns);
        l.is_renumbered = cases[i].is_renumbered;
        l.tables[0].is_without_rowid = strstr(cases[i].sql, "WITHOUT ROWID");
        live_run(&l, "%s", cases[i].sql);
        unsigned changes = live_step(&l);
        cr_expect_eq(changes, cases[i].changes, "%s: %u", cases[i].name, changes);
        if (cases[i].events)
                expect_events(&l, cases[i].events, cases[i].name);
        live_run(&l, "%s", cases[i].more);
        changes = live_step(&l);
        cr_expect_eq(changes, cases[i].more_changes, "%s, then: %u", cases[i].name, changes);
        live_close(&l);
}

static const char *const vacuums[] = {
        "PRAGMA auto_vacuum=NONE", "PRAGMA auto_vacuum=FULL", "PRAGMA auto_vacuum=INCREMENTAL"};

Test(logreader_schema, a_table_is_followed_through_every_change)
{
        for (size_t i = 0; i < COUNT(cases); i++)
                for (size_t k = 0; k < COUNT(vacuums); k++)
                        run_case(i, vacuums[k]);
}

/* ---- several tables and instances ---- */

#define PAIR                                                                                       \
        "CREATE TABLE a(k PRIMARY KEY, v); CREATE TABLE b(k PRIMARY KEY, v);"                      \
        "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) "          \
        "INSERT INTO a SELECT i, zeroblob(i % 70) FROM n;"                                         \
        "INSERT INTO b SELECT k + 100, v FROM a;"

static void open_pair(struct live *l, const char *settings)
{
        live_open(
                l, &(struct live_options){.page_size = 512, .settings = settings, .schema = PAIR});
        live_attach(l, &(struct live_table){.name = "a", .columns = "k,v", .key = "1"});
        live_attach(l, &(struct live_table){.name = "b", .columns = "k,v", .key = "1"});
}

Test(logreader_schema, a_table_that_takes_the_name_of_a_dropped_one_serves_both_instances)
{
        for (size_t i = 0; i < COUNT(vacuums); i++) {
                struct live l;
                open_pair(&l, vacuums[i]);
                live_attach(&l, &(struct live_table){.name = "a", .columns = "v"});
                live_rebind(&l, 2, "a", "k,v");
                l.is_renumbered = true;
                live_run(&l, "BEGIN; DROP TABLE a; ALTER TABLE b RENAME TO a; COMMIT");
                cr_expect_gt(live_step(&l), 0);
                live_run(&l, "UPDATE a SET v = 1");
                cr_expect_eq(live_step(&l), 600);
                live_run(
                        &l, "DELETE FROM a WHERE k < 250; INSERT INTO a VALUES(0, zeroblob(9000))");
                live_step(&l);
                live_run(&l, "CREATE TABLE b(k PRIMARY KEY, v)");
                live_step(&l);
                live_attach(&l, &(struct live_table){.name = "b", .columns = "k,v", .key = "1"});
                live_run(&l, "INSERT INTO b SELECT * FROM a; DELETE FROM a");
                live_step(&l);
                live_close(&l);
        }
}

Test(logreader_schema, tables_that_swap_names_keep_their_rows)
{
        struct live l;
        open_pair(&l, "PRAGMA auto_vacuum=NONE");
        live_rebind(&l, 1, "b", "k,v");
        live_rebind(&l, 2, "a", "k,v");
        live_run(&l, "BEGIN; ALTER TABLE a RENAME TO x; ALTER TABLE b RENAME TO a; "
                     "ALTER TABLE x RENAME TO b; DELETE FROM a WHERE k = 101; COMMIT");
        cr_expect_eq(live_step(&l), 1);
        expect_events(&l,
                "1 ddl ALTER TABLE \"a\" RENAME TO \"b\"\n1 bound b 0 1\n"
                "2 ddl ALTER TABLE \"b\" RENAME TO \"a\"\n2 bound a 0 1\n",
                "swap");
        live_run(&l, "UPDATE a SET v = 1; DELETE FROM b");
        cr_expect_eq(live_step(&l), 399);
        live_close(&l);
}

Test(logreader_schema, a_dropped_table_tells_no_rows_and_its_pages_serve_others)
{
        for (size_t i = 0; i < COUNT(vacuums); i++) {
                struct live l;
                open_pair(&l, vacuums[i]);
                live_give_up(&l, "a");
                live_run(&l, "BEGIN; DELETE FROM a WHERE k > 10; DROP TABLE a; "
                             "INSERT INTO b SELECT k + 1000, v FROM b; COMMIT");
                cr_expect_eq(live_step(&l), 200);
                cr_expect(strstr(buf_string(&l.events), "1 ddl DROP TABLE \"a\"\n1 dropped\n"),
                        "%s", buf_string(&l.events));
                cr_expect(!logreader_is_attached(l.reader, 1));
                live_run(&l, "CREATE TABLE a(k PRIMARY KEY, v); INSERT INTO a VALUES(1, 1)");
                live_run(&l, "DELETE FROM b");
                cr_expect_eq(live_step(&l), 400);
                live_close(&l);
        }
}

Test(logreader_schema, a_table_rebuilt_without_a_captured_column_is_dropped)
{
        struct live l;
        open_pair(&l, "PRAGMA auto_vacuum=NONE");
        live_give_up(&l, "a");
        live_run(&l, "BEGIN; CREATE TABLE n(k PRIMARY KEY); INSERT INTO n SELECT k FROM a; "
                     "DROP TABLE a; ALTER TABLE n RENAME TO a; COMMIT");
        cr_expect_eq(live_step(&l), 0);
        expect_events(&l, "1 ddl CREATE TABLE \"a\"(k PRIMARY KEY)\n1 dropped\n", "rebuilt");
        live_close(&l);
}

/* auto_vacuum moves the root of another table into the place of a dropped one. */
static void move_root(const char *settings, const char *update, unsigned changes)
{
        struct live l;
        open_pair(&l, settings);
        live_run(&l, "CREATE TABLE x(a); INSERT INTO x SELECT v FROM a");
        live_run(&l, "CREATE TABLE y(k INTEGER PRIMARY KEY, v); INSERT INTO y SELECT * FROM b");
        live_step(&l);
        live_attach(&l, &(struct live_table){
                                .name = "y", .columns = "k,v", .key = "1", .is_rowid_key = true});
        live_attach(&l, &(struct live_table){.name = "y", .columns = "v,k"});
        live_run(&l, "BEGIN; DROP TABLE x; %s; COMMIT", update);
        cr_expect_eq(live_step(&l), changes, "%s", update);
        cr_expect(strstr(buf_string(&l.events), "3 bound y 0 1\n"), "the root has moved");
        live_run(&l, "DELETE FROM y; DELETE FROM b");
        cr_expect_eq(live_step(&l), 600);
        live_close(&l);
}

Test(logreader_schema, a_root_that_moves_moves_no_row)
{
        for (size_t i = 1; i < COUNT(vacuums); i++) {
                move_root(vacuums[i], "SELECT 1", 0);
                /* Rowids are what they were: they pair where there is no key. */
                move_root(vacuums[i], "UPDATE y SET v = 1 WHERE k = 120", 1 + 1);
        }
}

Test(logreader_schema, changes_of_the_schema_in_the_middle_of_a_batch_divide_the_rows)
{
        struct live l;
        live_open(&l, &(struct live_options){.schema = TABLE});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "a,b,c", .key = "1"});
        for (int i = 0; i < 5; i++) {
                live_run(&l, "UPDATE t SET b = %d WHERE a < 50", i);
                live_run(&l, "ALTER TABLE t ADD COLUMN e%d DEFAULT %d", i, i);
                live_run(&l, "INSERT INTO t(a, b, e%d) VALUES(%d, 1, 2)", i, 1000 + i);
                live_run(&l, "CREATE TABLE x%d AS SELECT * FROM t", i);
                live_run(&l, "DELETE FROM t WHERE a = %d", 100 + i);
                live_run(&l, "ALTER TABLE t DROP COLUMN %s", i == 0 ? "d" : "e0");
                if (i > 0)
                        live_run(&l, "ALTER TABLE t ADD COLUMN e0");
        }
        cr_expect_eq(live_step(&l), 5 * (49 + 1 + 1));
        live_close(&l);
}

/* ---- bytes that mean something else now ---- */

Test(logreader_schema, the_same_bytes_under_another_affinity_are_a_change)
{
        struct live l;
        live_open(
                &l, &(struct live_options){.schema = "CREATE TABLE t(a, b INT);"
                                                     "INSERT INTO t VALUES(1, 1), (2, 2), (3, 3)"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "a,b"});
        live_run(&l, "BEGIN; DROP TABLE t; CREATE TABLE t(a, b REAL); "
                     "INSERT INTO t VALUES(1, 1), (2, 2), (3, 3); COMMIT");
        cr_expect_eq(live_step(&l), 3);
        live_close(&l);
}

Test(logreader_schema, old_rows_keep_the_default_they_had)
{
        struct live l;
        live_open(&l, &(struct live_options){
                              .schema = "CREATE TABLE t(a); INSERT INTO t VALUES(1), (2), (3);"
                                        "ALTER TABLE t ADD COLUMN b DEFAULT 5"});
        live_attach(&l, &(struct live_table){.name = "t", .columns = "a,b"});
        live_run(&l, "BEGIN; DROP TABLE t; CREATE TABLE t(a, b DEFAULT 7); "
                     "INSERT INTO t VALUES(1, 5), (2, 7); COMMIT");
        cr_expect_eq(live_step(&l), 2);
        live_close(&l);
}

/* ---- foreign keys ---- */

Test(logreader_schema, children_go_first_and_come_last)
{
        struct live l;
        live_open(&l, &(struct live_options){
                              .schema = "CREATE TABLE p(id INTEGER PRIMARY KEY, v);"
                                        "CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p ON "
                                        "DELETE CASCADE);"
                                        "CREATE TABLE g(id INTEGER PRIMARY KEY, c REFERENCES c ON "
                                        "DELETE CASCADE)"});
        /* Attached children first; told parents first. */
        static const struct live_table tables[] = {
                {.name = "g", .columns = "id,c", .key = "1", .is_rowid_key = true, .object_id = 3},
                {.name = "c", .columns = "id,p", .key = "1", .is_rowid_key = true, .object_id = 2},
                {.name = "p", .columns = "id,v", .key = "1", .is_rowid_key = true, .object_id = 1},
        };
        for (size_t i = 0; i < COUNT(tables); i++)
                live_attach(&l, &tables[i]);
        struct live_table swap = l.tables[0];
        l.tables[0] = l.tables[2];
        l.tables[2] = swap;
        live_run(&l, "PRAGMA foreign_keys=ON");
        live_run(&l,
                "BEGIN; INSERT INTO p VALUES(1, 1), (2, 2); INSERT INTO c VALUES(1, 1), (2, 1);"
                "INSERT INTO g VALUES(1, 1), (2, 2); COMMIT");
        cr_expect_eq(live_tell(&l), 6);
        live_run(&l, "BEGIN; INSERT INTO p VALUES(3, 3); INSERT INTO c VALUES(3, 3); "
                     "DELETE FROM p WHERE id = 1; UPDATE p SET v = 5; COMMIT");
        cr_expect_eq(live_step(&l), 1 + 2 + 2 + 2 + 1);
        live_close(&l);
}
