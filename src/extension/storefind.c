/* SPDX-License-Identifier: MIT
 *
 * storefind: walks the databases of a connection in the order in which SQLite resolves names.
 */
#include "extension/storefind.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ground/buf.h"
#include "ground/cleanup.h"
#include "ground/text.h"
#include "memory/sql.h"
#include "memory/store.h"

static int prepare(sqlite3 *db, const char *before, const char *schema, const char *after,
        sqlite3_stmt **ret_stmt)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        buf_append_string(&sql, before);
        text_append_identifier(&sql, schema);
        buf_append_string(&sql, after);
        const char *text = buf_string(&sql);
        int r = buf_error(&sql);
        return r < 0 ? r : problem_errno(sqlite3_prepare_v2(db, text, -1, ret_stmt, NULL));
}

static int read_pragma(sqlite3 *db, const char *schema, const char *pragma, int *ret_value)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(db, "PRAGMA ", schema, pragma, &stmt);
        if (r == 0)
                r = sql_next(stmt);
        if (r > 0)
                *ret_value = sqlite3_column_int(stmt, 0);
        return r < 0 ? r : 0;
}

/* 1 for a store. */
static int is_store(sqlite3 *db, const char *schema, struct problem *problem)
{
        int application_id = 0, version = 0;
        int r = read_pragma(db, schema, ".application_id", &application_id);
        if (r < 0 || application_id != STORE_APPLICATION_ID)
                return r;
        r = read_pragma(db, schema, ".user_version", &version);
        if (r == 0 && version != STORE_VERSION)
                return problem_set(problem, ENOTSUP, 0,
                        "the store has version %d, and this extension reads version %d", version,
                        STORE_VERSION);
        return r < 0 ? r : 1;
}

static int check_names(
        sqlite3 *db, const char *schema, const char *instance, struct problem *problem)
{
        static const char names[] =
                ".sqlite_schema WHERE type IN ('table', 'view') AND (lower(name) IN"
                " ('change_tables', 'captured_columns', 'index_columns', 'lsn_time_mapping',"
                "  'cdcfs_state', 'cdcfs_instances', 'cdcfs_source_tables', 'cdcfs_gaps')"
                " OR name = ? || '_CT' COLLATE NOCASE) LIMIT 1";
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(db, "SELECT name FROM ", schema, names, &stmt);
        if (r == 0)
                r = sql_bind_text(stmt, 1, instance);
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r;
        return problem_set(problem, EINVAL, 0,
                "the table %s of the database %s hides that of the store: open the store by "
                "itself",
                (const char *)sqlite3_column_text(stmt, 0), schema);
}

struct search {
        sqlite3 *db;
        const char *instance;
        struct problem *problem;
        bool is_found;
        int error; /* of names before the store */
};

/* The next database in the order of names. What stands before the store must not hide it. */
static int look_at(struct search *search, const char *schema)
{
        int r = is_store(search->db, schema, search->problem);
        if (r > 0)
                search->is_found = true;
        if (r == 0 && search->error == 0)
                search->error = check_names(search->db, schema, search->instance, search->problem);
        return r < 0 ? r : 0;
}

static int look_at_attached(struct search *search)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(search->db,
                "SELECT name FROM pragma_database_list WHERE seq > 1 ORDER BY seq", -1, &stmt,
                NULL));
        while (r >= 0 && !search->is_found && (r = sql_next(stmt)) > 0)
                r = look_at(search, (const char *)sqlite3_column_text(stmt, 0));
        return r < 0 ? r : 0;
}

int storefind(sqlite3 *db, const char *instance, struct problem *problem)
{
        struct search search = {.db = db, .instance = instance, .problem = problem};
        int r = look_at(&search, "temp");
        if (r == 0 && !search.is_found)
                r = look_at(&search, "main");
        if (r == 0 && !search.is_found)
                r = look_at_attached(&search);
        if (r < 0)
                return r;
        if (!search.is_found)
                return problem_set(problem, ENOENT, 22901,
                        "no store is open here: open DATABASE-cdc, or ATTACH it");
        return search.error;
}
