/* SPDX-License-Identifier: MIT
 *
 * cleanup_purge: deletes what the marks have given up, a batch at a time. It refuses to move a
 * mark.
 */
#include <errno.h>
#include <stdio.h>
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "memory/cleanup.h"
#include "memory/mapping.h"
#include "memory/sql.h"
#include "memory/state.h"

int cleanup_note_listed(struct store *store, int64_t running_ns)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_files SET listed_ns = ?"
                " WHERE mtime_ns IS NOT NULL AND listed_ns IS NULL",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, running_ns);
        return sql_run(stmt);
}

int cleanup_next_due(sqlite3 *db, int64_t linger_ns, int64_t *ret_running_ns)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(db,
                "SELECT min(withdrawn_ns) FROM cdcfs_files WHERE is_withdrawn", -1, &stmt, NULL));
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        bool is_none = sqlite3_column_type(stmt, 0) == SQLITE_NULL;
        *ret_running_ns = is_none ? INT64_MAX : sqlite3_column_int64(stmt, 0) + linger_ns;
        return 0;
}

/* ---- one instance ---- */

struct target {
        int64_t object_id;
        char *table;      /* owned */
        char *rowid_name; /* owned */
        struct lsn mark;
};

static void target_release(struct target *target)
{
        free(target->table);
        free(target->rowid_name);
}

/* The instance in hand, or the next one. 1, 0, or negative errno. */
static int find_target(struct store *store, int64_t object_id, struct target *ret_target)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT object_id, capture_instance || '_CT', rowid_name, start_lsn"
                " FROM change_tables JOIN cdcfs_instances USING(object_id)"
                " WHERE object_id >= ? AND start_lsn IS NOT NULL ORDER BY object_id LIMIT 1",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_next(stmt);
        if (r <= 0)
                return r;
        ret_target->object_id = sqlite3_column_int64(stmt, 0);
        r = sql_column_string(stmt, 1, &ret_target->table);
        if (r == 0)
                r = sql_column_string(stmt, 2, &ret_target->rowid_name);
        if (r == 0 && !sql_column_lsn(stmt, 3, &ret_target->mark))
                r = -EBADMSG;
        return r < 0 ? r : 1;
}

/* Files that nobody can open any more; one that waits to be measured still needs its rows. */
static int remove_files(struct store *store, const struct cleanup_now *now, int64_t linger_ns,
        int64_t object_id, bool *has_removed)
{
        sqlite3_stmt *stmt = NULL;
        int64_t mtime_ns = 0;
        int r = store_statement(store,
                "DELETE FROM cdcfs_files WHERE object_id = ?1 AND is_withdrawn"
                " AND mtime_ns IS NOT NULL AND withdrawn_ns <= ?2",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 2, now->running_ns - linger_ns);
        r = sql_run(stmt);
        if (r < 0 || sqlite3_changes(store_db(store)) == 0)
                return r;
        *has_removed = true;
        r = state_take_mtime(store, now->wall_ns, &mtime_ns);
        if (r == 0)
                r = store_statement(store,
                        "UPDATE cdcfs_instances SET changed_ns = max(changed_ns + 1, ?2)"
                        " WHERE object_id = ?1",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 2, mtime_ns);
        return sql_run(stmt);
}

/* Rows with lower numbers may go: below the mark, and in no file that can still be opened. */
static int find_bound(struct store *store, const struct target *target, uint64_t *ret_bound)
{
        static const struct lsn highest = {
                .bytes = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        uint64_t from_mark = 0, last;
        int r = mapping_find_changes(store_db(store), target->mark, highest, &from_mark, &last);
        bool has_rows_left = r > 0;
        if (r >= 0)
                r = store_statement(store,
                        "SELECT next_change, (SELECT min(first_change) FROM cdcfs_files"
                        "  WHERE object_id = ? AND is_withdrawn) FROM cdcfs_state",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, target->object_id);
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        *ret_bound = has_rows_left ? from_mark : (uint64_t)sqlite3_column_int64(stmt, 0);
        uint64_t in_file = (uint64_t)sqlite3_column_int64(stmt, 1);
        if (sqlite3_column_type(stmt, 1) != SQLITE_NULL && in_file < *ret_bound)
                *ret_bound = in_file;
        return 0;
}

/* *ret_deleted: fewer than the threshold means that no more are left. */
static int delete_batch(struct store *store, const struct target *target, uint64_t bound,
        int64_t threshold, int64_t *ret_deleted)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        const char *rowid = target->rowid_name;
        buf_append_string(&sql, "DELETE FROM ");
        text_append_identifier(&sql, target->table);
        buf_append_format(&sql, " WHERE %s IN (SELECT %s FROM ", rowid, rowid);
        text_append_identifier(&sql, target->table);
        buf_append_format(&sql, " WHERE %s < ? ORDER BY %s LIMIT ?)", rowid, rowid);
        const char *text = buf_string(&sql);
        int r = buf_error(&sql);
        if (r == 0)
                r = problem_errno(sqlite3_prepare_v2(store_db(store), text, -1, &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, (int64_t)(2 * bound));
        sqlite3_bind_int64(stmt, 2, threshold);
        r = sql_run(stmt);
        if (r == 0)
                *ret_deleted = sqlite3_changes64(store_db(store));
        return r;
}

/* 1 if the instance has more rows to delete. */
static int purge_target(struct store *store, const struct cleanup_now *now,
        const struct cleanup_limits *limits, const struct target *target,
        struct cleanup_purge *purge)
{
        bool has_removed = false;
        uint64_t bound = 0;
        int64_t deleted = 0;
        int r = remove_files(store, now, limits->linger_ns, target->object_id, &has_removed);
        if (r == 0)
                r = find_bound(store, target, &bound);
        if (r == 0)
                r = delete_batch(store, target, bound, limits->threshold, &deleted);
        if (r == 0)
                r = store_commit(store);
        if (r < 0)
                return r;
        purge->deleted += deleted;
        purge->has_removed |= has_removed;
        return deleted == limits->threshold;
}

static int purge_rows(struct store *store, const struct cleanup_now *now,
        const struct cleanup_limits *limits, struct cleanup_purge *purge, struct problem *problem)
{
        _cleanup_(target_release) struct target target = {0};
        int r = find_target(store, purge->object_id, &target);
        if (r < 0)
                return r;
        if (r == 0) {
                purge->phase = CLEANUP_MAPPING;
                return 1;
        }
        purge->object_id = target.object_id;
        r = purge_target(store, now, limits, &target, purge);
        if (r < 0) {
                problem_set(problem, -r, 22852, "cleanup cannot delete rows of %s: %s",
                        target.table, store_error(store));
                store_rollback(store);
                purge->failed++;
        }
        if (r <= 0)
                purge->object_id = target.object_id + 1;
        return 1;
}

/* ---- the mapping ---- */

/* Below every mark and every file that can still be opened, and never the last row, which the next
 * one is numbered after. The rows have numbers without holes. */
static int purge_mapping(struct store *store, const struct cleanup_now *now,
        const struct cleanup_limits *limits, struct cleanup_purge *purge)
{
        sqlite3_stmt *stmt = NULL;
        int r = remove_files(store, now, limits->linger_ns, 0, &purge->has_removed);
        if (r == 0)
                r = store_statement(store,
                        "DELETE FROM lsn_time_mapping WHERE"
                        "  rowid < (SELECT min(rowid) FROM lsn_time_mapping) + ?1"
                        "  AND rowid < (SELECT max(rowid) FROM lsn_time_mapping)"
                        "  AND start_lsn < (SELECT min(lsn) FROM"
                        "    (SELECT min(start_lsn) AS lsn FROM change_tables UNION ALL"
                        "     SELECT min(from_lsn) FROM cdcfs_files WHERE is_withdrawn OR "
                        "object_id = 0))",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, limits->threshold);
        r = sql_run(stmt);
        int64_t deleted = r == 0 ? sqlite3_changes64(store_db(store)) : 0;
        if (r == 0 && deleted < limits->threshold)
                r = sql_execute(store_db(store),
                        "DELETE FROM cdcfs_segments WHERE segment NOT IN"
                        "  (SELECT segment FROM cdcfs_files WHERE segment IS NOT NULL)");
        if (r == 0)
                r = store_commit(store);
        if (r < 0)
                return r;
        purge->deleted += deleted;
        if (deleted < limits->threshold)
                purge->phase = CLEANUP_LOG;
        return 1;
}

/* ---- the log ---- */

/* Does not wait for readers. */
static int truncate_log(struct store *store, struct cleanup_purge *purge)
{
        sqlite3 *db = store_db(store);
        if (purge->deleted == 0 && !purge->has_removed) {
                purge->phase = CLEANUP_DONE;
                return 0;
        }
        sqlite3_busy_timeout(db, 0);
        int result = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        sqlite3_busy_timeout(db, STORE_BUSY_MS);
        if (result != SQLITE_OK)
                return problem_errno(result);
        purge->phase = CLEANUP_DONE;
        return 0;
}

int cleanup_purge(struct store *store, const struct cleanup_now *now,
        const struct cleanup_limits *limits, struct cleanup_purge *purge, struct problem *problem)
{
        if (purge->phase == CLEANUP_LOG)
                return truncate_log(store, purge);
        if (purge->phase == CLEANUP_DONE)
                return 0;
        int r = store_begin(store);
        if (r < 0)
                return r;
        r = purge->phase == CLEANUP_ROWS ? purge_rows(store, now, limits, purge, problem)
                                         : purge_mapping(store, now, limits, purge);
        store_rollback(store); /* nothing, where it was committed */
        return r;
}
