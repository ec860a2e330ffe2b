/* SPDX-License-Identifier: MIT
 *
 * livefile_look: questions to the store about one open file. It renders nothing and keeps nothing.
 */
#include <errno.h>

#include "faces/changes.h"
#include "faces/livefile_private.h"
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "memory/mapping.h"
#include "memory/sql.h"

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_stmt)
{
        return problem_errno(sqlite3_prepare_v2(db, sql, -1, ret_stmt, NULL));
}

/* The first column of the first row. 1, or 0 where there is no row. */
static int find_integer(sqlite3 *db, const char *sql, int64_t parameter, int64_t *ret_integer)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(db, sql, &stmt);
        if (r < 0)
                return r;
        if (sqlite3_bind_parameter_count(stmt) > 0)
                sqlite3_bind_int64(stmt, 1, parameter);
        r = sql_next(stmt);
        if (r > 0)
                *ret_integer = sqlite3_column_int64(stmt, 0);
        return r;
}

/* The state is read before the file, so that no transaction need be held over both: whatever is
 * below next_change is whole, and a file that was closed meanwhile ends where it was closed. */
int livefile_look(sqlite3 *db, uint64_t ino, struct livefile_look *ret_look)
{
        struct livefile_look look = {0};
        int64_t next_change = 0;
        int r = find_integer(db, "SELECT next_change FROM cdcfs_state", 0, &next_change);
        if (r > 0)
                r = files_find_ino(db, ino, &look.file);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        look.end = (uint64_t)next_change - 1;
        if (!look.file.is_open && look.file.last_change < look.end)
                look.end = look.file.last_change;
        if (look.end + 1 < look.file.first_change) /* it was opened after the state was read */
                look.end = look.file.first_change - 1;
        *ret_look = look;
        return 0;
}

static int find_last_lsn(
        sqlite3 *db, int64_t object_id, struct changes_range range, struct lsn *ret_lsn)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        buf_append_string(&sql, "SELECT \"__$start_lsn\"");
        int r = changes_append_source(db, object_id, CHANGES_ALL_UPDATE_OLD, &sql);
        if (r < 0)
                return r;
        buf_append_string(&sql, " DESC LIMIT 1");
        const char *text = buf_string(&sql);
        r = buf_error(&sql);
        if (r == 0)
                r = prepare(db, text, &stmt);
        if (r < 0)
                return r;
        changes_bind_range(stmt, range);
        r = sql_next(stmt);
        return r > 0 && !sql_column_lsn(stmt, 0, ret_lsn) ? -EBADMSG : r;
}

int livefile_find_last(
        sqlite3 *db, int64_t object_id, uint64_t from, uint64_t to, int64_t *ret_time_ns)
{
        struct lsn lsn;
        struct mapping_row row = {0};
        int r = find_last_lsn(db, object_id, (struct changes_range){from, to}, &lsn);
        if (r <= 0)
                return r;
        r = mapping_find_lsn(db, lsn, &row);
        if (r < 0)
                return r;
        *ret_time_ns = row.end_ns;
        return 1;
}

int livefile_find_begin(sqlite3 *db, int64_t object_id, int64_t *ret_time_ns)
{
        int r = find_integer(db, "SELECT changed_ns FROM cdcfs_instances WHERE object_id = ?",
                object_id, ret_time_ns);
        return r < 0 ? r : r > 0 ? 0 : -ENOENT;
}
