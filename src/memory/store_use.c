/* SPDX-License-Identifier: MIT
 *
 * store_use: what an open store is used with: transactions, syncing, cached statements.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "memory/sql.h"
#include "memory/store_private.h"

sqlite3 *store_db(struct store *store)
{
        return store->db;
}

const char *store_path(const struct store *store)
{
        return store->path;
}

enum text_encoding store_encoding(const struct store *store)
{
        return store->encoding;
}

const char *store_error(struct store *store)
{
        return sqlite3_errmsg(store->db);
}

static int run_cached(struct store *store, const char *sql)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, sql, &stmt);
        return r < 0 ? r : sql_run(stmt);
}

int store_begin(struct store *store)
{
        return store->mode == STORE_WRITE ? run_cached(store, "BEGIN IMMEDIATE") : -EROFS;
}

int store_begin_read(struct store *store)
{
        return run_cached(store, "BEGIN");
}

int store_commit(struct store *store)
{
        return run_cached(store, "COMMIT");
}

bool store_in_transaction(struct store *store)
{
        return !sqlite3_get_autocommit(store->db);
}

void store_rollback(struct store *store)
{
        /* After some errors SQLite has rolled back by itself. */
        if (store_in_transaction(store))
                (void)sql_execute(store->db, "ROLLBACK");
}

int store_sync(struct store *store, struct problem *problem)
{
        sqlite3_file *file = NULL;
        int result = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
        /* Without methods the WAL was never opened, and nothing was written by us. */
        if (result == SQLITE_OK && file && file->pMethods)
                result = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
        if (result == SQLITE_OK)
                return 0;
        return problem_set(problem, EIO, 0, "cannot sync the store '%s': %s", store->path,
                sqlite3_errstr(result));
}

/* FNV-1a. */
static unsigned bucket_of(const char *name)
{
        uint32_t hash = 2166136261;
        for (; *name; name++)
                hash = (hash ^ (uint8_t)*name) * 16777619;
        return (hash ^ hash >> 16) % STORE_BUCKETS;
}

sqlite3_stmt *store_statement_find(struct store *store, const char *name)
{
        struct store_cached *cached = store->statements[bucket_of(name)];
        while (cached && strcmp(cached->name, name) != 0)
                cached = cached->next;
        return cached ? cached->stmt : NULL;
}

int store_statement_add(
        struct store *store, const char *name, const char *sql, sqlite3_stmt **ret_stmt)
{
        size_t size = strlen(name) + 1;
        struct store_cached *cached = calloc(1, sizeof *cached + size);
        if (!cached)
                return -ENOMEM;
        memcpy(cached->name, name, size);
        int r = problem_errno(sqlite3_prepare_v3(
                store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &cached->stmt, NULL));
        if (r < 0) {
                free(cached);
                return r;
        }
        struct store_cached **bucket = &store->statements[bucket_of(name)];
        cached->next = *bucket;
        *bucket = cached;
        *ret_stmt = cached->stmt;
        return 0;
}

int store_statement(struct store *store, const char *sql, sqlite3_stmt **ret_stmt)
{
        *ret_stmt = store_statement_find(store, sql);
        if (!*ret_stmt)
                return store_statement_add(store, sql, sql, ret_stmt);
        /* Whoever had it last may have left a loop in the middle. */
        sql_done(*ret_stmt);
        return 0;
}

void store_statement_forget(struct store *store, const char *name)
{
        struct store_cached **link = &store->statements[bucket_of(name)];
        while (*link && strcmp((*link)->name, name) != 0)
                link = &(*link)->next;
        struct store_cached *cached = *link;
        if (!cached)
                return;
        *link = cached->next;
        sqlite3_finalize(cached->stmt);
        free(cached);
}

void store_statement_forget_all(struct store *store)
{
        for (unsigned i = 0; i < STORE_BUCKETS; i++) {
                while (store->statements[i]) {
                        struct store_cached *cached = store->statements[i];
                        store->statements[i] = cached->next;
                        sqlite3_finalize(cached->stmt);
                        free(cached);
                }
        }
}
