/* SPDX-License-Identifier: MIT
 *
 * Changes that reshape trees, page by page: the cases in which reading pages by their looks, or
 * comparing page with page, gives wrong rows.
 */
#include "live.h"

/* Rows 1 to n; sizes about `size`, each seventh with an overflow chain. */
#define ROWS(n, size)                                                                              \
        "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < " #n ") "       \
        "INSERT INTO t(id, a, b) SELECT i, i % 100, zeroblob(CASE WHEN i % 7 = 0 THEN 1500 "       \
        "ELSE " #size " END) FROM n;"

#define TABLES                                                                                     \
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE TABLE o(id INTEGER PRIMARY KEY, a, " \
        "b);"

struct step {
        const char *sql; /* one transaction, or several */
        unsigned changes;
};

struct story {
        const char *name;
        const char *schema;
        struct step steps[8];
};

static const struct story stories[] = {
        {"rows that rise", TABLES,
                {{"BEGIN;" ROWS(3000, 30) "COMMIT", 3000}, {"INSERT INTO t VALUES(3001, 1, 2)", 1},
                        {"INSERT INTO t SELECT id + 5000, a, b FROM t WHERE id < 1000", 999}}},
        {"rows that fall", TABLES,
                {{"WITH RECURSIVE n(i) AS (VALUES(3000) UNION ALL SELECT i - 1 FROM n WHERE i > 1) "
                  "INSERT INTO t SELECT i, i, zeroblob(20) FROM n",
                         3000},
                        {"INSERT INTO t VALUES(0, 1, zeroblob(400)), (-1, 1, zeroblob(400))", 2}}},
        {"rows anywhere", TABLES,
                {{"WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
                  "INSERT INTO t SELECT (i * 7919) % 30011, i, zeroblob(i % 60) FROM n",
                        3000}}},
        {"deletes that rise", TABLES ROWS(1500, 30),
                {{"DELETE FROM t WHERE id <= 300", 300}, {"DELETE FROM t WHERE id <= 600", 300},
                        {"DELETE FROM t WHERE id <= 1499", 899}, {"DELETE FROM t", 1}}},
        {"deletes that fall", TABLES ROWS(1500, 30),
                {{"DELETE FROM t WHERE id > 1200", 300}, {"DELETE FROM t WHERE id > 2", 1198},
                        {"DELETE FROM t WHERE id > 1", 1}, {"DELETE FROM t", 1}}},
        {"deletes anywhere", TABLES ROWS(1500, 30),
                {{"DELETE FROM t WHERE (id * 7919) % 11 < 5", 680},
                        {"DELETE FROM t WHERE (id * 7919) % 11 < 10", 683},
                        {"DELETE FROM t WHERE id > 5", 136}}},
        {"delete of all on three levels, then of nothing", TABLES ROWS(3000, 30),
                {{"DELETE FROM t", 3000}, {"DELETE FROM t", 0},
                        {"INSERT INTO t VALUES(1, 1, zeroblob(2000))", 1}}},
        {"update of all, then delete", TABLES ROWS(500, 30),
                {{"BEGIN; UPDATE t SET a = a + 1; DELETE FROM t; COMMIT", 500}}},
        {"inserts that go again", TABLES ROWS(300, 30),
                {{"BEGIN; INSERT INTO t SELECT id + 1000, a, b FROM t; "
                  "DELETE FROM t WHERE id > 1000; COMMIT",
                         0},
                        {"BEGIN; INSERT INTO t SELECT id + 1000, a, b FROM t; "
                         "DELETE FROM t WHERE id BETWEEN 200 AND 1050; COMMIT",
                                351}}},
        {"inserts that go again in a savepoint", TABLES ROWS(300, 30),
                {{"BEGIN; SAVEPOINT s; INSERT INTO t SELECT id + 1000, a, b FROM t; "
                  "DELETE FROM t WHERE id > 1000; RELEASE s; COMMIT",
                         0},
                        {"BEGIN; SAVEPOINT s; INSERT INTO t SELECT id + 1000, a, b FROM t; "
                         "ROLLBACK TO s; UPDATE t SET a = -1 WHERE id = 9; RELEASE s; COMMIT",
                                1},
                        {"BEGIN; SAVEPOINT s; DELETE FROM t; SAVEPOINT r; INSERT INTO t SELECT * "
                         "FROM o; ROLLBACK TO r; RELEASE s; COMMIT",
                                300}}},
        {"pages that were written and freed", TABLES ROWS(800, 30),
                {{"BEGIN; UPDATE t SET a = -1 WHERE id > 500; DELETE FROM t WHERE id > 780; "
                  "DELETE FROM t WHERE id > 700; DELETE FROM t WHERE id > 520; COMMIT",
                        300}}},
        {"pages that go to another table", TABLES ROWS(800, 30),
                {{"BEGIN; INSERT INTO o SELECT * FROM t; DELETE FROM t; COMMIT", 1600},
                        {"BEGIN; DELETE FROM o; INSERT INTO t VALUES(1, 1, zeroblob(90000)); "
                         "COMMIT",
                                801},
                        {"BEGIN; DELETE FROM t; INSERT INTO o SELECT 1, 1, zeroblob(90000); COMMIT",
                                2}}},
        {"a table dropped and its pages taken",
                TABLES "CREATE TABLE x(a, b);"
                       "INSERT INTO x SELECT 1, zeroblob(60000);" ROWS(200, 30),
                {{"BEGIN; DROP TABLE x; INSERT INTO t SELECT id + 1000, a, b FROM t; COMMIT", 200},
                        {"BEGIN; CREATE TABLE x(a, b); DELETE FROM t WHERE id > 1000; "
                         "INSERT INTO x VALUES(1, zeroblob(50000)); COMMIT",
                                200}}},
        {"values of the same size", TABLES ROWS(300, 30),
                {{"UPDATE t SET b = CAST(zeroblob(length(b) - 1) || x'01' AS BLOB)", 300},
                        {"UPDATE t SET b = CAST(x'01' || zeroblob(length(b) - 1) AS BLOB)", 300},
                        {"UPDATE t SET a = a WHERE id < 5", 0},
                        {"UPDATE t SET b = zeroblob(length(b)) WHERE id % 7 = 0", 42}}},
        {"one byte in the third overflow page",
                TABLES "INSERT INTO t VALUES(1, 1, zeroblob(5000));"
                       "INSERT INTO t VALUES(2, 2, zeroblob(5000))",
                {{"UPDATE t SET b = CAST(zeroblob(2000) || x'05' || zeroblob(2999) AS BLOB) "
                  "WHERE id = 1",
                         1},
                        {"UPDATE t SET b = CAST(zeroblob(4999) || x'06' AS BLOB)", 2}}},
        {"to overflow and back", TABLES ROWS(50, 30),
                {{"UPDATE t SET b = zeroblob(4000) WHERE id % 2", 25},
                        {"UPDATE t SET b = 1 WHERE id % 2", 25}, {"UPDATE t SET b = 1", 25}}},
        {"replace on the key", TABLES ROWS(50, 30),
                {{"REPLACE INTO t VALUES(5, 'new', zeroblob(30))", 1},
                        {"REPLACE INTO t SELECT * FROM t WHERE id < 10", 0}}},
        {"replace that takes two other rows",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b "
                "UNIQUE); CREATE TABLE o(id INTEGER PRIMARY KEY, a, "
                "b); INSERT INTO t VALUES(1,1,1),(2,2,2),(3,3,3)",
                {{"REPLACE INTO t VALUES(9, 1, 2)", 3},
                        {"INSERT INTO t VALUES(3, 3, 3) ON CONFLICT(id) DO UPDATE SET a = 'up'", 1},
                        {"REPLACE INTO t VALUES(3, 1, 2)", 2}}},
        {"keys that move", TABLES ROWS(300, 30),
                {{"UPDATE t SET id = id + 1000", 600}, {"UPDATE t SET id = -id", 600}}},
        {"keys that swap", TABLES ROWS(10, 30),
                {{"BEGIN; UPDATE t SET id = -1 WHERE id = 1; UPDATE t SET id = 1 WHERE id = 2; "
                  "UPDATE t SET id = 2 WHERE id = -1; COMMIT",
                        2}}},
        {"a rowid that comes again", TABLES ROWS(10, 30),
                {{"DELETE FROM t WHERE id = 10", 1}, {"INSERT INTO t(a, b) VALUES(1, 1)", 1},
                        {"BEGIN; DELETE FROM t WHERE id = 10; INSERT INTO t(a) VALUES(1); COMMIT",
                                1}}},
        {"autoincrement",
                "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b);"
                "CREATE TABLE o(id INTEGER PRIMARY KEY, a, b)",
                {{"INSERT INTO t(a) VALUES(1), (2), (3)", 3}, {"DELETE FROM t", 3},
                        {"INSERT INTO t(a) VALUES(4)", 1}}},
        {"indexes", TABLES ROWS(500, 30),
                {{"CREATE INDEX ta ON t(a, b)", 0}, {"REINDEX", 0}, {"ANALYZE", 0},
                        {"DELETE FROM t WHERE a < 50", 250}, {"DROP INDEX ta", 0}}},
        {"a trigger that writes another table",
                TABLES "CREATE TRIGGER r AFTER DELETE ON t BEGIN INSERT INTO o(a, b) "
                       "VALUES(old.a, old.b); END;" ROWS(20, 30),
                {{"DELETE FROM t WHERE id <= 7", 14}, {"DELETE FROM t", 26}}},
        {"rows written back as they were", TABLES ROWS(600, 30),
                {{"BEGIN; CREATE TEMP TABLE k AS SELECT * FROM t; DELETE FROM t; INSERT INTO t "
                  "SELECT * FROM k ORDER BY id DESC; DROP TABLE k; COMMIT",
                         0},
                        {"BEGIN; UPDATE t SET b = zeroblob(3000); UPDATE t SET b = "
                         "zeroblob(CASE WHEN id % 7 = 0 THEN 1500 ELSE 30 END); COMMIT",
                                0}}},
};

static const struct live_table table_t = {
        .name = "t", .columns = "id,a,b", .key = "1", .is_rowid_key = true};
static const struct live_table table_o = {
        .name = "o", .columns = "id,a,b", .key = "1", .is_rowid_key = true};

static void tell_story(const struct story *story, uint32_t page_size, const char *settings)
{
        struct live l;
        live_open(&l, &(struct live_options){.page_size = page_size, .schema = story->schema});
        live_run(&l, "%s", settings);
        live_tell(&l);
        live_attach(&l, &table_t);
        live_attach(&l, &table_o);
        for (size_t i = 0; i < COUNT(story->steps) && story->steps[i].sql; i++) {
                live_run(&l, "%s", story->steps[i].sql);
                unsigned changes = live_step(&l);
                cr_expect_eq(changes, story->steps[i].changes, "%s, step %zu: %u", story->name, i,
                        changes);
        }
        live_close(&l);
}

static const char *const settings[] = {
        "PRAGMA secure_delete=OFF; PRAGMA cache_size=5",
        "PRAGMA secure_delete=FAST; PRAGMA cache_size=2000",
        "PRAGMA secure_delete=ON; PRAGMA cache_size=10",
};

Test(logreader_structure, stories_are_told_in_pages_of_512_bytes)
{
        for (size_t i = 0; i < COUNT(stories); i++)
                for (size_t k = 0; k < COUNT(settings); k++)
                        tell_story(&stories[i], 512, settings[k]);
}

Test(logreader_structure, stories_are_told_in_larger_pages)
{
        static const uint32_t sizes[] = {1024, 4096, 65536};
        for (size_t i = 0; i < COUNT(stories); i++)
                for (size_t k = 0; k < COUNT(sizes); k++)
                        tell_story(&stories[i], sizes[k], settings[(i + k) % COUNT(settings)]);
}

/* All steps of a story wait in the log, and are told at once. */
Test(logreader_structure, stories_that_wait_in_the_log_are_told_step_by_step)
{
        for (size_t i = 0; i < COUNT(stories); i++) {
                struct live l;
                unsigned changes = 0;
                live_open(
                        &l, &(struct live_options){.page_size = 512, .schema = stories[i].schema});
                live_attach(&l, &table_t);
                live_attach(&l, &table_o);
                live_run(&l, "%s", settings[i % COUNT(settings)]);
                for (size_t k = 0; k < COUNT(stories[i].steps) && stories[i].steps[k].sql; k++) {
                        live_run(&l, "%s", stories[i].steps[k].sql);
                        live_checkpoint(&l, SQLITE_CHECKPOINT_PASSIVE);
                        changes += stories[i].steps[k].changes;
                }
                cr_expect_eq(live_step(&l), changes, "%s", stories[i].name);
                live_close(&l);
        }
}

/* ---- incremental BLOB I/O ---- */

static void write_blob(struct live *l, int64_t rowid, int offset, const char *bytes)
{
        sqlite3_blob *blob = NULL;
        cr_assert_eq(sqlite3_blob_open(l->app, "main", "t", "b", rowid, 1, &blob), SQLITE_OK);
        cr_assert_eq(sqlite3_blob_write(blob, bytes, (int)strlen(bytes), offset), SQLITE_OK);
        sqlite3_blob_close(blob);
}

Test(logreader_structure, bytes_written_in_place_are_told)
{
        static const int offsets[] = {0, 10, 400, 520, 1000, 1500, 2500, 4990};
        for (size_t k = 0; k < COUNT(settings); k++) {
                struct live l;
                live_open(&l,
                        &(struct live_options){.page_size = 512, .schema = TABLES ROWS(100, 30)});
                live_run(&l, "%s; UPDATE t SET b = zeroblob(5000) WHERE id > 90", settings[k]);
                live_tell(&l);
                live_attach(&l, &table_t);
                for (size_t i = 0; i < COUNT(offsets); i++) {
                        live_run(&l, "BEGIN");
                        write_blob(&l, 95, offsets[i], "abcdefg");
                        write_blob(&l, 100, offsets[COUNT(offsets) - 1 - i], "hij");
                        live_run(&l, "COMMIT");
                        cr_expect_eq(live_step(&l), 2, "%d", offsets[i]);
                }
                live_run(&l, "BEGIN");
                write_blob(&l, 100, 10, "abcdefg");
                write_blob(&l, 100, 10, "hij");
                write_blob(&l, 100, 13, "\1\1\1\1");
                live_run(&l, "COMMIT");
                cr_expect_eq(live_step(&l), 1);
                live_close(&l);
        }
}

/* ---- bytes that look like pages ---- */

/* A BLOB that holds a leaf of another table, just as it comes to stand on an overflow page. */
static void append_false_pages(struct live *l, struct buf *blob)
{
        uint32_t size = l->database->page_size;
        _cleanup_free_ uint8_t *page = malloc(size);
        for (uint32_t pgno = 2; pgno <= 12; pgno++) {
                if (pages_read_old(&l->reader->pages, pgno, page) < 0)
                        continue;
                /* An overflow page begins with the number of the next one. */
                buf_append(blob, page + 4, size - 4);
        }
}

Test(logreader_structure, bytes_that_look_like_a_page_are_only_bytes)
{
        struct live l;
        sqlite3_stmt *stmt = NULL;
        _cleanup_(buf_release) struct buf blob = BUF_INIT;
        live_open(&l, &(struct live_options){.page_size = 1024, .schema = TABLES ROWS(200, 30)});
        live_attach(&l, &table_t);
        live_attach(&l, &table_o);
        append_false_pages(&l, &blob);
        cr_assert_gt(blob.size, 5000);
        sqlite3_prepare_v2(l.app, "INSERT INTO o(b) VALUES(?1)", -1, &stmt, NULL);
        for (int i = 0; i < 5; i++) {
                sqlite3_bind_blob(stmt, 1, blob.data, (int)blob.size, SQLITE_STATIC);
                cr_assert_eq(sqlite3_step(stmt), SQLITE_DONE);
                sqlite3_reset(stmt);
                cr_expect_eq(live_step(&l), 1);
                live_run(&l, "DELETE FROM o WHERE id = (SELECT max(id) FROM o)");
                live_run(&l, "INSERT INTO o(b) VALUES(zeroblob(7000))");
                cr_expect_eq(live_step(&l), 2);
        }
        sqlite3_finalize(stmt);
        live_run(&l, "DELETE FROM t");
        cr_expect_eq(live_step(&l), 200);
        live_close(&l);
}

/* ---- the root ---- */

Test(logreader_structure, a_root_grows_and_shrinks_again_and_again)
{
        struct live l;
        live_open(&l, &(struct live_options){.page_size = 512, .schema = TABLES});
        live_attach(&l, &table_t);
        for (int i = 1; i <= 30; i++) {
                live_run(&l, "%s", "BEGIN;" ROWS(300, 40) "COMMIT");
                live_run(&l, "DELETE FROM t WHERE id > %d", i % 3);
                live_run(&l, "DELETE FROM t");
                cr_expect_eq(live_step(&l), 600);
        }
        live_close(&l);
}

Test(logreader_structure, a_schema_of_many_pages_is_followed)
{
        enum { MANY = 60 };
        struct live l;
        live_open(&l, &(struct live_options){.page_size = 512, .schema = TABLES});
        live_attach(&l, &table_t);
        for (int i = 0; i < MANY; i++) {
                live_run(&l,
                        "BEGIN; CREATE TABLE x%d(a PRIMARY KEY, b CHECK(b <> '%0*d')); "
                        "INSERT INTO t VALUES(%d, 1, 1); COMMIT",
                        i, 10 + i * 17 % 900, i, i);
                if (i % 20 == 19)
                        live_step(&l);
        }
        cr_expect_eq(logreader_schema(l.reader)->table_count, MANY + 2);
        for (int i = 0; i < MANY; i++)
                live_run(&l, "DROP TABLE x%d", i * 37 % MANY);
        live_run(&l, "DELETE FROM t");
        cr_expect_eq(live_step(&l), MANY);
        cr_expect_eq(logreader_schema(l.reader)->table_count, 2);
        live_close(&l);
}
