/* SPDX-License-Identifier: MIT
 *
 * history: ddl_history and cdcfs_gaps. It refuses to judge a range; it only finds gaps in it.
 */
#include "memory/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ground/cleanup.h"
#include "memory/array.h"
#include "memory/sql.h"

int history_add_ddl(struct store *store, const struct history_ddl *ddl)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, "INSERT INTO ddl_history VALUES(?, ?, ?, ?, ?, ?)", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, ddl->source_object_id);
        sqlite3_bind_int64(stmt, 2, ddl->object_id);
        sqlite3_bind_int(stmt, 3, ddl->required_column_update);
        r = sql_bind_text(stmt, 4, ddl->command);
        if (r == 0)
                r = sql_bind_lsn(stmt, 5, ddl->lsn);
        if (r == 0)
                r = sql_bind_time(stmt, 6, ddl->time_ns);
        return r < 0 ? r : sql_run(stmt);
}

int history_add_gap(struct store *store, const struct history_gap *gap, int64_t *ret_gap)
{
        sqlite3_stmt *stmt = NULL;
        if (!gap->is_open && lsn_compare(gap->from, gap->to) > 0)
                return -EINVAL;
        int r = store_statement(store,
                "INSERT INTO cdcfs_gaps(object_id, from_lsn, to_lsn, time, cause)"
                " VALUES(nullif(?, 0), ?, ?, ?, ?)",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, gap->object_id);
        r = sql_bind_lsn(stmt, 2, gap->from);
        if (r == 0 && !gap->is_open)
                r = sql_bind_lsn(stmt, 3, gap->to);
        if (r == 0)
                r = sql_bind_time(stmt, 4, gap->time_ns);
        if (r == 0)
                r = sql_bind_text(stmt, 5, gap->cause);
        if (r == 0)
                r = sql_run(stmt);
        if (r == 0)
                *ret_gap = sqlite3_last_insert_rowid(store_db(store));
        return r;
}

int history_close_gap(struct store *store, int64_t gap, struct lsn to)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_gaps SET to_lsn = ?2 WHERE gap = ?1 AND to_lsn IS NULL", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, gap);
        r = sql_bind_lsn(stmt, 2, to);
        if (r == 0)
                r = sql_run(stmt);
        if (r < 0)
                return r;
        return sqlite3_changes(store_db(store)) > 0 ? 0 : -ENOENT;
}

#define SELECT_GAP "SELECT gap, object_id, from_lsn, to_lsn, time, cause FROM cdcfs_gaps"

static int read_gap(sqlite3_stmt *stmt, struct history_gap *gap)
{
        memset(gap, 0, sizeof *gap);
        gap->gap = sqlite3_column_int64(stmt, 0);
        gap->object_id = sqlite3_column_int64(stmt, 1);
        sql_column_lsn(stmt, 2, &gap->from);
        gap->is_open = !sql_column_lsn(stmt, 3, &gap->to);
        gap->time_ns = sql_column_time(stmt, 4);
        return sql_column_string(stmt, 5, &gap->cause);
}

int history_find_gap(
        sqlite3 *db, int64_t object_id, struct lsn from, struct lsn to, struct history_gap *ret_gap)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(db,
                SELECT_GAP " WHERE (object_id IS NULL OR object_id = ?1) AND from_lsn <= ?3"
                           " AND (to_lsn IS NULL OR to_lsn >= ?2) ORDER BY from_lsn, gap LIMIT 1",
                -1, &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_bind_lsn(stmt, 2, from);
        if (r == 0)
                r = sql_bind_lsn(stmt, 3, to);
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r;
        r = read_gap(stmt, ret_gap);
        return r < 0 ? r : 1;
}

int history_load_gaps(sqlite3 *db, int64_t object_id, struct history_gaps *ret_gaps)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        _cleanup_(history_gaps_release) struct history_gaps gaps = {0};
        int r = problem_errno(sqlite3_prepare_v2(db,
                SELECT_GAP " WHERE ?1 = 0 OR object_id IS NULL OR object_id = ?1 ORDER BY gap", -1,
                &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        while (r >= 0 && (r = sql_next(stmt)) > 0) {
                struct history_gap *items = array_room(gaps.items, gaps.count, sizeof *items);
                if (!items)
                        return -ENOMEM;
                gaps.items = items;
                r = read_gap(stmt, &items[gaps.count++]);
        }
        if (r < 0)
                return r;
        *ret_gaps = gaps;
        memset(&gaps, 0, sizeof gaps);
        return 0;
}

void history_gap_release(struct history_gap *gap)
{
        free(gap->cause);
        gap->cause = NULL;
}

void history_gaps_release(struct history_gaps *gaps)
{
        for (size_t i = 0; i < gaps->count; i++)
                history_gap_release(&gaps->items[i]);
        free(gaps->items);
        memset(gaps, 0, sizeof *gaps);
}
