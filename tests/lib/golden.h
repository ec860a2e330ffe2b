/* SPDX-License-Identifier: MIT
 *
 * golden: a table made by SQL, rendered, and compared with the bytes of a file.
 *
 * tests/golden/render/<case>.sql makes a table `t`; <case>.csv and <case>.jsonl beside it are what
 * `SELECT * FROM t` is rendered to, for good. Columns called __$start_lsn and __$seqval are LSNs.
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

static inline const char *golden_path(const char *name, const char *suffix, char path[512])
{
        snprintf(path, 512, "%s/golden/render/%s%s", TESTS_DIR, name, suffix);
        return path;
}

static inline sqlite3 *golden_open(const char *name)
{
        char path[512];
        sqlite3 *db = NULL;
        _cleanup_free_ char *sql = tmp_read(golden_path(name, ".sql", path), NULL);
        if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
                sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
                fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(db));
                abort();
        }
        return db;
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
        for (unsigned i = 0; i < result.shape.count; i++) {
                struct result_column *column = &result.shape.columns[i];
                bool is_lsn = strcmp(column->name, "__$start_lsn") == 0 ||
                              strcmp(column->name, "__$seqval") == 0;
                column->kind = is_lsn ? RESULT_LSN : RESULT_VALUE;
        }
        r = render_init(&render, render_find(format), &result.shape);
        if (r < 0)
                return r;
        render_header(&render, buf);
        while ((r = result_next(&result, &values)) > 0)
                render_row(&render, values, buf);
        return r < 0 ? r : buf_error(buf);
}

/* Is every golden file of the format what is rendered now? Says on stderr what is not. */
static inline bool golden_check(const char *format)
{
        bool is_same = true;
        char suffix[16], path[512];
        snprintf(suffix, sizeof suffix, ".%s", format);
        for (unsigned i = 0; i < COUNT(golden_cases); i++) {
                _cleanup_sqlite_ sqlite3 *db = golden_open(golden_cases[i]);
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                size_t size = 0;
                _cleanup_free_ char *wanted =
                        tmp_read(golden_path(golden_cases[i], suffix, path), &size);
                int r = golden_render(db, "SELECT * FROM t", format, &buf);
                if (r == 0 && buf.size == size && memcmp(buf_string(&buf), wanted, size) == 0)
                        continue;
                fprintf(stderr, "%s differs (%d); rendered now:\n%s\n", path, r, buf_string(&buf));
                is_same = false;
        }
        return is_same;
}

#endif
