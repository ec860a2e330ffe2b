/* SPDX-License-Identifier: MIT
 *
 * holds: sets, removes and finds rows of cdcfs_holds. It refuses to know when cleanup runs.
 */
#include "memory/holds.h"

#include <errno.h>
#include <stdio.h>
#include "ground/clock.h"
#include "ground/cleanup.h"
#include "memory/sql.h"

int holds_set(struct store *store, const struct hold *hold)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "INSERT OR REPLACE INTO cdcfs_holds(object_id, name, lsn, created, expires)"
                " VALUES(?, ?, ?, ?, ?)",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, hold->object_id);
        r = sql_bind_text(stmt, 2, hold->name);
        if (r == 0)
                r = sql_bind_lsn(stmt, 3, hold->lsn);
        if (r == 0)
                r = sql_bind_time(stmt, 4, hold->created_ns);
        if (r == 0 && hold->expires_ns != 0)
                r = sql_bind_time(stmt, 5, hold->expires_ns);
        return r < 0 ? r : sql_run(stmt);
}

int holds_remove(struct store *store, int64_t object_id, const char *name)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(
                store, "DELETE FROM cdcfs_holds WHERE object_id = ? AND name = ?", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_bind_text(stmt, 2, name);
        if (r == 0)
                r = sql_run(stmt);
        if (r < 0)
                return r;
        return sqlite3_changes(store_db(store)) > 0 ? 0 : -ENOENT;
}

static int mark_yielded(struct store *store, int64_t object_id, const char *name, int64_t now_ns)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_holds SET yielded = ?3 WHERE object_id = ?1 AND name = ?2", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_bind_text(stmt, 2, name);
        if (r == 0)
                r = sql_bind_time(stmt, 3, now_ns);
        return r < 0 ? r : sql_run(stmt);
}

#define IS_LIVE "yielded IS NULL AND (expires IS NULL OR expires > ?1)"

int holds_yield(struct store *store, int64_t now_ns, char **ret_line)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        _cleanup_free_ char *name = NULL, *instance = NULL;
        struct lsn lsn;
        char text[LSN_TEXT_SIZE];
        int r = store_statement(store,
                "SELECT object_id, name, lsn, capture_instance FROM cdcfs_holds"
                " JOIN change_tables USING(object_id)"
                " WHERE " IS_LIVE " ORDER BY lsn, created LIMIT 1",
                &stmt);
        if (r == 0)
                r = sql_bind_time(stmt, 1, now_ns);
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r;
        int64_t object_id = sqlite3_column_int64(stmt, 0);
        sql_column_lsn(stmt, 2, &lsn);
        r = sql_column_string(stmt, 1, &name);
        if (r == 0)
                r = sql_column_string(stmt, 3, &instance);
        if (r == 0)
                r = mark_yielded(store, object_id, name, now_ns);
        if (r < 0)
                return r;
        lsn_format(lsn, text);
        r = asprintf(ret_line, "the hold '%s' on %s at %s yields: the store is over max_store",
                name, instance, text);
        return r < 0 ? -ENOMEM : 1;
}

int holds_find_lowest(
        sqlite3 *db, int64_t object_id, int64_t now_ns, struct lsn *ret_lsn, char **ret_name)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(db,
                "SELECT lsn, name FROM cdcfs_holds WHERE object_id = ?2 AND " IS_LIVE
                " ORDER BY lsn, created LIMIT 1",
                -1, &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 2, object_id);
        r = sql_bind_time(stmt, 1, now_ns);
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r;
        sql_column_lsn(stmt, 0, ret_lsn);
        r = ret_name ? sql_column_string(stmt, 1, ret_name) : 0;
        return r < 0 ? r : 1;
}
