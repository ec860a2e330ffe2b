/* SPDX-License-Identifier: MIT
 *
 * golden: a table made by SQL, rendered, and compared with the bytes of a file.
 *
 * tests/golden/render/<case>.sql makes a table `t`; <case>.csv and <case>.jsonl beside it are what
 * `SELECT * FROM t` is rendered to, for good. Columns called __$start_lsn and __$seqval are LSNs.
 *
 * tests/golden/events/<case>.sql makes tables as the rows of events.h are, with a table `key` of
 * the names of key columns; what they are rendered to stands in tests/golden/<format>/.
 */
#ifndef CDC_TEST_GOLDEN_H
#define CDC_TEST_GOLDEN_H

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "faces/render.h"
#include "faces/result.h"
#include "ground/cleanup.h"
#include "tmp.h"

static const char *const golden_cases[] = {"classes", "integers", "reals", "texts", "marked_texts",
        "odd_texts", "blobs", "names", "changes", "empty", "utf16le", "utf16be"};

static const char *const golden_event_cases[] = {
        "vectors", "values", "texts", "keyless", "names", "clock", "utf16le", "wide", "empty"};

static inline const char *golden_path(const char *name, const char *suffix, char path[512])
{
        snprintf(path, 512, "%s/golden/render/%s%s", TESTS_DIR, name, suffix);
        return path;
}

static inline sqlite3 *golden_open_file(const char *path)
{
        sqlite3 *db = NULL;
        _cleanup_free_ char *sql = tmp_read(path, NULL);
        if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
                sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
                fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(db));
                abort();
        }
        return db;
}

static inline sqlite3 *golden_open(const char *name)
{
        char path[512];
        return golden_open_file(golden_path(name, ".sql", path));
}

static inline void golden_shape(sqlite3 *db, struct result_shape *shape)
{
        for (unsigned i = 0; i < shape->count; i++) {
                struct result_column *column = &shape->columns[i];
                bool is_lsn = strcmp(column->name, "__$start_lsn") == 0 ||
                              strcmp(column->name, "__$seqval") == 0;
                column->kind = is_lsn ? RESULT_LSN : RESULT_VALUE;
        }
        shape->database = strdup("app");
        shape->table = strdup("t");
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v2(db, "SELECT name FROM key", -1, &stmt, NULL) != SQLITE_OK)
                return;
        while (sqlite3_step(stmt) == SQLITE_ROW) {
                for (unsigned i = 0; i < shape->count; i++)
                        shape->columns[i].is_key |=
                                strcmp(shape->columns[i].name,
                                        (const char *)sqlite3_column_text(stmt, 0)) == 0;
        }
        sqlite3_finalize(stmt);
}

/* Renders all rows of a SELECT. 0 or negative errno. */
static inline int golden_render(sqlite3 *db, const char *sql, const char *format, struct buf *buf)
{
        _cleanup_(result_close) struct result result = {0};
        _cleanup_(render_release) struct render render = {0};
        const struct value *values;
        int r = result_open(&result, db, sql);
        if (r < 0)
                return r;
        golden_shape(db, &result.shape);
        r = render_init(&render, render_find(format), &result.shape);
        if (r < 0)
                return r;
        render_header(&render, buf);
        while ((r = result_next(&result, &values)) > 0)
                render_row(&render, values, buf);
        return r < 0 ? r : buf_error(buf);
}

/* Are the bytes of the file what the table is rendered to now? Says on stderr if not. */
static inline bool golden_is_same(sqlite3 *db, const char *format, const char *path)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        size_t size = 0;
        _cleanup_free_ char *wanted = tmp_read(path, &size);
        int r = golden_render(db, "SELECT * FROM t", format, &buf);
        if (r == 0 && buf.size == size && memcmp(buf_string(&buf), wanted, size) == 0)
                return true;
        fprintf(stderr, "%s differs (%d); rendered now:\n%s\n", path, r, buf_string(&buf));
        return false;
}

/* Is every golden file of the format what is rendered now? */
static inline bool golden_check(const char *format)
{
        bool is_same = true;
        char suffix[16], path[512];
        snprintf(suffix, sizeof suffix, ".%s", format);
        for (unsigned i = 0; i < COUNT(golden_cases); i++) {
                _cleanup_sqlite_ sqlite3 *db = golden_open(golden_cases[i]);
                is_same &= golden_is_same(db, format, golden_path(golden_cases[i], suffix, path));
        }
        return is_same;
}

/* The same of a format over events. */
static inline bool golden_check_events(const char *format)
{
        bool is_same = true;
        char path[512];
        for (unsigned i = 0; i < COUNT(golden_event_cases); i++) {
                const char *name = golden_event_cases[i];
                snprintf(path, sizeof path, "%s/golden/events/%s.sql", TESTS_DIR, name);
                _cleanup_sqlite_ sqlite3 *db = golden_open_file(path);
                snprintf(path, sizeof path, "%s/golden/%s/%s%s", TESTS_DIR, format, name,
                        render_find(format)->suffix);
                is_same &= golden_is_same(db, format, path);
        }
        return is_same;
}

#endif
