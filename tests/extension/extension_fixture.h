/* SPDX-License-Identifier: MIT
 *
 * extension_fixture: a source and its store, read through the extension.
 *
 *      struct extension_fixture x;
 *      extension_fixture_open(&x);
 *      sqlite3 *db = extension_fixture_load(x.store);
 *      extension_fixture_expect(db, "SELECT get_column_ordinal('main_t', 'x')", "2");
 *
 * main_t (id INTEGER PRIMARY KEY, x) is captured from frame 10 to 20, a second a frame after
 * 2026-11-30T10:00:00Z; main_nk (a, b) has no key; main_pending waits.
 */
#ifndef CDC_TEST_EXTENSION_FIXTURE_H
#define CDC_TEST_EXTENSION_FIXTURE_H

#include <criterion/criterion.h>
#include <sqlite3.h>

#include "desk_fixture.h"

struct extension_fixture {
        struct desk_fixture desk;
        const char *source;
        const char *store;
};

static inline void extension_fixture_open(struct extension_fixture *x)
{
        static const char *const tables[] = {"t", "nk", "p"};
        static const char *const names[] = {"main_t", "main_nk", "main_pending"};
        desk_fixture_open(&x->desk, "CREATE TABLE t(id INTEGER PRIMARY KEY, x);"
                                    "CREATE TABLE nk(a, b); CREATE TABLE p(id INTEGER PRIMARY KEY);"
                                    "INSERT INTO t VALUES(1, 'now'), (3, 'now')");
        cr_assert_eq(cdc_enable_db(&x->desk.database, false, NULL, NULL, NULL), 0);
        for (unsigned i = 0; i < COUNT(tables); i++) {
                struct cdc_table_options options = {.table = tables[i],
                        .capture_instance = names[i],
                        .supports_net_changes = -1};
                cr_assert_eq(cdc_enable_table(&x->desk.database, &options, NULL, NULL, NULL), 0);
        }
        int64_t id = desk_fixture_id(&x->desk, "main_t");
        struct store_fixture *f = desk_fixture_store(&x->desk);
        changes_fixture_recognise(f, id, 10);
        changes_fixture_recognise(f, desk_fixture_id(&x->desk, "main_nk"), 11);
        changes_fixture_commit(f, id, 15, "i1 i2");
        changes_fixture_commit(f, id, 20, "u1 d2 u3");
        x->source = x->desk.f.source;
        x->store = x->desk.f.path;
}

static inline void extension_fixture_close(struct extension_fixture *x)
{
        desk_fixture_close(&x->desk);
}

static inline void extension_fixture_execute(sqlite3 *db, const char *sql)
{
        cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s: %s", sql,
                sqlite3_errmsg(db));
}

/* Loads it into an open connection. */
static inline void extension_fixture_load_into(sqlite3 *db)
{
        char *words = NULL;
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
        cr_assert_eq(sqlite3_load_extension(db, CDC_EXTENSION, NULL, &words), SQLITE_OK, "%s",
                words ? words : "");
}

/* A connection with the extension in it; the caller closes it. */
static inline sqlite3 *extension_fixture_load(const char *path)
{
        sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
        extension_fixture_load_into(db);
        return db;
}

static inline void extension_fixture_append(struct buf *buf, sqlite3_stmt *stmt, int column)
{
        if (sqlite3_column_type(stmt, column) == SQLITE_NULL) {
                buf_append_string(buf, "NULL");
        } else if (sqlite3_column_type(stmt, column) == SQLITE_BLOB) {
                buf_append_string(buf, "x");
                buf_append_hex(buf, sqlite3_column_blob(stmt, column),
                        (size_t)sqlite3_column_bytes(stmt, column));
        } else {
                buf_append_string(buf, (const char *)sqlite3_column_text(stmt, column));
        }
}

/* Rows with `;` between them, values with `|`, or the error's words. The caller frees them. */
static inline char *extension_fixture_read(sqlite3 *db, const char *sql)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        struct buf buf = BUF_INIT;
        int result = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
        while (result == SQLITE_OK && (result = sqlite3_step(stmt)) == SQLITE_ROW) {
                buf_append_string(&buf, buf.size ? ";" : "");
                for (int i = 0; i < sqlite3_column_count(stmt); i++) {
                        buf_append_string(&buf, i ? "|" : "");
                        extension_fixture_append(&buf, stmt, i);
                }
                result = SQLITE_OK;
        }
        if (result != SQLITE_DONE)
                buf_append_string(&buf, sqlite3_errmsg(db));
        buf_string(&buf);
        return buf_steal(&buf);
}

static inline void extension_fixture_expect(sqlite3 *db, const char *sql, const char *wanted)
{
        _cleanup_free_ char *got = extension_fixture_read(db, sql);
        cr_expect_str_eq(got, wanted, "%s: %s", sql, got);
}

/* Words that must be in the answer. */
static inline void extension_fixture_expect_words(sqlite3 *db, const char *sql, const char *words)
{
        _cleanup_free_ char *got = extension_fixture_read(db, sql);
        cr_expect_not_null(strstr(got, words), "%s: %s", sql, got);
}

#endif
