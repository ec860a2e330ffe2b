/* SPDX-License-Identifier: MIT
 *
 * store_fixture: a store in a directory of its own, and instances in it, for tests of the memory
 * floor and above. What cannot be set up aborts.
 *
 *      struct store_fixture f;
 *      store_fixture_open(&f, TEXT_UTF8);
 *      int64_t id = store_fixture_enable(&f, "CREATE TABLE t(a PRIMARY KEY, b)", "t", "main_t");
 *      store_fixture_close(&f);
 */
#ifndef CDC_TEST_STORE_FIXTURE_H
#define CDC_TEST_STORE_FIXTURE_H

#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "ground/cleanup.h"
#include "memory/enable.h"
#include "memory/instances.h"
#include "memory/sql.h"
#include "memory/state.h"
#include "memory/store.h"
#include "source/schema.h"
#include "tmp.h"

struct store_fixture {
        struct tmp tmp;
        char source[512];
        char path[520];
        struct store *store; /* for writing */
        char paths[8][512];  /* of the last eight store_fixture_path() */
        unsigned next_path;
};

/* Some moment: 2026-11-30T10:00:00Z. */
#define STORE_FIXTURE_NOW INT64_C(1796032800000000000)

static inline void store_fixture_check(int r, const char *what)
{
        if (r < 0) {
                fprintf(stderr, "%s: %s\n", what, strerror(-r));
                abort();
        }
}

/* A name in the fixture's directory; good until seven more were asked for. */
static inline const char *store_fixture_path(struct store_fixture *f, const char *name)
{
        size_t directory = strlen(f->tmp.directory), size = strlen(name) + 1;
        char *path = f->paths[f->next_path++ % COUNT(f->paths)];
        tmp_check(directory + 1 + size <= sizeof f->paths[0], name);
        memcpy(path, f->tmp.directory, directory);
        path[directory] = '/';
        memcpy(path + directory + 1, name, size);
        return path;
}

/* Makes the source and the store, and opens nothing. */
static inline void store_fixture_create(struct store_fixture *f, enum text_encoding encoding)
{
        memset(f, 0, sizeof *f);
        tmp_open(&f->tmp);
        snprintf(f->source, sizeof f->source, "%s", store_fixture_path(f, "app.db"));
        snprintf(f->path, sizeof f->path, "%s-cdc", f->source);
        tmp_write(f->source, "", 0);
        struct store_source source = {.path = f->source,
                .device = 1,
                .inode = 2,
                .page_size = 4096,
                .encoding = encoding};
        store_fixture_check(store_create(f->path, &source, NULL), "store_create");
}

static inline void store_fixture_open(struct store_fixture *f, enum text_encoding encoding)
{
        store_fixture_create(f, encoding);
        store_fixture_check(store_open(f->path, STORE_WRITE, NULL, &f->store), "store_open");
}

static inline void store_fixture_reopen(struct store_fixture *f)
{
        store_close(f->store);
        f->store = NULL;
        store_fixture_check(store_open(f->path, STORE_WRITE, NULL, &f->store), "store_open");
}

static inline void store_fixture_close(struct store_fixture *f)
{
        store_close(f->store);
        tmp_close(&f->tmp);
}

/* The schema that some statements make; the caller unrefs it. */
static inline struct schema *store_fixture_schema(const char *sql)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        struct schema *schema = NULL;
        store_fixture_check(problem_errno(sqlite3_open(":memory:", &db)), "sqlite3_open");
        if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
                fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
                abort();
        }
        store_fixture_check(schema_rows_read(db, &rows), "schema_rows_read");
        store_fixture_check(schema_build(&rows, TEXT_UTF8, &schema), "schema_build");
        return schema;
}

/* Tries to enable a table of the schema that the statements make; fields of the request besides
 * schema and table are the caller's. In a transaction of its own, rolled back on failure. */
static inline int store_fixture_try(struct store_fixture *f, const char *sql, const char *table,
        struct instances_request request, struct problem *problem, int64_t *ret_object_id)
{
        struct schema *schema = store_fixture_schema(sql);
        request.schema = schema;
        request.table = schema_find_table(schema, table);
        request.now_ns = STORE_FIXTURE_NOW;
        if (!request.table) {
                fprintf(stderr, "%s makes no table %s\n", sql, table);
                abort();
        }
        store_fixture_check(store_begin(f->store), "store_begin");
        int r = instances_enable(f->store, &request, problem, ret_object_id);
        if (r == 0)
                store_fixture_check(store_commit(f->store), "store_commit");
        store_rollback(f->store);
        schema_unref(schema);
        return r;
}

static inline int64_t store_fixture_enable(
        struct store_fixture *f, const char *sql, const char *table, const char *name)
{
        int64_t object_id = 0;
        struct instances_request request = {.name = name, .supports_net = -1};
        store_fixture_check(
                store_fixture_try(f, sql, table, request, NULL, &object_id), "instances_enable");
        return object_id;
}

static inline void store_fixture_begin(struct store_fixture *f)
{
        store_fixture_check(store_begin(f->store), "store_begin");
}

static inline void store_fixture_commit(struct store_fixture *f)
{
        store_fixture_check(store_commit(f->store), "store_commit");
}

/* The first column of the first row as text, "NULL" for none; the caller frees it. */
static inline char *store_fixture_text(struct store_fixture *f, const char *sql)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v2(store_db(f->store), sql, -1, &stmt, NULL) != SQLITE_OK) {
                fprintf(stderr, "%s: %s\n", sql, store_error(f->store));
                abort();
        }
        const unsigned char *text =
                sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_text(stmt, 0) : NULL;
        return strdup(text ? (const char *)text : "NULL");
}

static inline int64_t store_fixture_integer(struct store_fixture *f, const char *sql)
{
        _cleanup_free_ char *text = store_fixture_text(f, sql);
        return strtoll(text, NULL, 10);
}

#endif
