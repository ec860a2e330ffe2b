/* SPDX-License-Identifier: MIT
 *
 * look: reads what is committed, whoever has the database open, and leaves nothing behind.
 */
#include "source/look.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <string.h>

#include "ground/cleanup.h"
#include "tmp.h"

static sqlite3 *open_database(struct tmp *tmp, const char *sql)
{
        sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(tmp_path(tmp, "app.db"), &db), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
        return db;
}

static struct run_result list(struct tmp *tmp)
{
        return run("cd '%s' && ls -ld --time-style=full-iso . * && sha256sum *", tmp->directory);
}

static size_t count_tables(struct tmp *tmp)
{
        struct look look;
        struct problem problem = {0};
        cr_assert_eq(
                look_at_schema(tmp_path(tmp, "app.db"), &look, &problem), 0, "%s", problem.message);
        size_t count = look.schema->table_count;
        schema_unref(look.schema);
        return count;
}

Test(look, leaves_a_closed_database_as_it_was)
{
        struct tmp tmp;
        tmp_open(&tmp);
        sqlite3_close(open_database(&tmp, "PRAGMA journal_mode=WAL; CREATE TABLE t(x)"));
        struct run_result before = list(&tmp);
        cr_expect_eq(count_tables(&tmp), 1);
        struct run_result after = list(&tmp);
        cr_expect_str_eq(after.text, before.text);
        run_release(&before);
        run_release(&after);
        tmp_close(&tmp);
}

Test(look, sees_what_stands_in_the_log_alone)
{
        struct tmp tmp;
        tmp_open(&tmp);
        _cleanup_sqlite_ sqlite3 *db = open_database(
                &tmp, "PRAGMA journal_mode=WAL; CREATE TABLE t(x); CREATE TABLE u(x)");
        cr_expect_eq(count_tables(&tmp), 2);
        cr_assert_eq(sqlite3_exec(db, "CREATE TABLE v(x)", NULL, NULL, NULL), SQLITE_OK);
        cr_expect_eq(count_tables(&tmp), 3);
        cr_assert_eq(
                sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL), SQLITE_OK);
        cr_expect_eq(count_tables(&tmp), 3);
        tmp_close(&tmp);
}

/* A log that its application left behind is the agent's to read: no checkpoint takes it away. */
Test(look, keeps_a_log_that_nobody_has_open)
{
        struct tmp tmp;
        size_t size = 0;
        tmp_open(&tmp);
        sqlite3 *db = open_database(&tmp, "PRAGMA journal_mode=WAL; CREATE TABLE t(x)");
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_close(db);
        free(tmp_read(tmp_path(&tmp, "app.db-wal"), &size));
        cr_assert_gt(size, 0);
        cr_expect_eq(count_tables(&tmp), 1);
        size_t kept = 0;
        free(tmp_read(tmp_path(&tmp, "app.db-wal"), &kept));
        cr_expect_eq(kept, size);
        tmp_close(&tmp);
}

Test(look, takes_the_encoding_from_the_log)
{
        static const struct {
                const char *sql;
                enum text_encoding encoding;
        } databases[] = {
                {"", TEXT_UTF8},
                {"CREATE TABLE t(x)", TEXT_UTF8},
                {"PRAGMA encoding='UTF-16le'; CREATE TABLE t(x)", TEXT_UTF16LE},
                {"PRAGMA encoding='UTF-16be'; CREATE TABLE \"\xc3\xa4\"(x)", TEXT_UTF16BE},
        };
        for (size_t i = 0; i < COUNT(databases); i++) {
                struct tmp tmp;
                struct look look;
                tmp_open(&tmp);
                const char *path = tmp_path(&tmp, "app.db");
                _cleanup_sqlite_ sqlite3 *db = NULL;
                cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
                sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
                cr_assert_eq(sqlite3_exec(db, databases[i].sql, NULL, NULL, NULL), SQLITE_OK);
                cr_assert_eq(look_at_schema(path, &look, NULL), 0);
                cr_expect_eq(look.encoding, databases[i].encoding, "%s", databases[i].sql);
                schema_unref(look.schema);
                tmp_close(&tmp);
        }
}

Test(look, takes_names_that_mean_something_in_a_uri)
{
        struct tmp tmp;
        struct look look;
        tmp_open(&tmp);
        const char *path = tmp_path(&tmp, "a b?c#d%41.db");
        _cleanup_sqlite_ sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(db, "CREATE TABLE t(x)", NULL, NULL, NULL), SQLITE_OK);
        cr_assert_eq(look_at_schema(path, &look, NULL), 0);
        cr_expect_eq(look.schema->table_count, 1);
        schema_unref(look.schema);
        tmp_close(&tmp);
}

Test(look, reads_how_far_the_log_is)
{
        struct tmp tmp;
        struct look_log log = {0};
        tmp_open(&tmp);
        cr_expect_eq(look_at_log(tmp_path(&tmp, "app.db"), &log), 0);
        _cleanup_sqlite_ sqlite3 *db = open_database(&tmp,
                "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES(1);"
                "INSERT INTO t VALUES(2)");
        cr_assert_eq(look_at_log(tmp_path(&tmp, "app.db"), &log), 1);
        int frames = 0, backfilled = 0;
        cr_assert_eq(sqlite3_wal_checkpoint_v2(
                             db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &backfilled),
                SQLITE_OK);
        cr_expect_eq(log.frames, (uint32_t)frames);
        size_t size = 0;
        _cleanup_free_ char *wal = tmp_read(tmp_path(&tmp, "app.db-wal"), &size);
        cr_expect_eq(memcmp(log.salt, wal + 16, sizeof log.salt), 0);
        tmp_close(&tmp);
}
