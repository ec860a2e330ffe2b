/* SPDX-License-Identifier: MIT
 *
 * segments_mapping: the files of lsn_time_mapping: one format, under the object_id 0, which no
 * instance has.
 *
 * They end with the segments and are sealed and listed like all others. Their changes are the
 * table's rows, by rowid. FROM of one is always TO of the one before plus one: over a gap too, for
 * what is lost there are changes, not rows of this table. A border with no row before it is left
 * to the next one.
 */
#include <errno.h>
#include "ground/cleanup.h"
#include "memory/instances.h"
#include "memory/mapping.h"
#include "memory/segments_private.h"
#include "memory/sql.h"
#include "memory/state.h"

/* Where the open file begins. 1, 0 if none is open, or negative errno. */
static int find_open(struct store *store, struct lsn *ret_from)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT from_lsn FROM cdcfs_files"
                " WHERE object_id = 0 AND mtime_ns IS NULL AND to_lsn IS NULL",
                &stmt);
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r;
        return sql_column_lsn(stmt, 0, ret_from) ? 1 : -EBADMSG;
}

/* What a directory needs: its number, and the time when something came or went in it. */
static int add_directory(struct store *store)
{
        sqlite3_stmt *stmt = NULL;
        uint64_t base_ino = 0;
        int r = store_statement(store, "SELECT 1 FROM cdcfs_instances WHERE object_id = 0", &stmt);
        if (r == 0)
                r = sql_next(stmt);
        sql_done(stmt);
        if (r != 0)
                return r < 0 ? r : 0;
        r = state_take_inos(store, INSTANCE_INO_COUNT, &base_ino);
        if (r == 0)
                r = store_statement(store,
                        "INSERT INTO cdcfs_instances(object_id, base_ino, schema_rowid, sql,"
                        "  rowid_name, create_time_ns, changed_ns)"
                        " SELECT 0, ?1, 0, '', '', last_mtime_ns, last_mtime_ns FROM cdcfs_state",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, (int64_t)base_ino);
        return sql_run(stmt);
}

int segments_open_mapping(const struct segments *segments, struct store *store, struct lsn from_lsn)
{
        struct lsn open_from;
        uint64_t ino = 0;
        if (segments->format_count == 0)
                return 0;
        int r = find_open(store, &open_from);
        if (r != 0)
                return r < 0 ? r : 0;
        r = add_directory(store);
        return r < 0 ? r : files_open(store, 0, &segments->formats[0], from_lsn, 0, &ino);
}

int segments_load_mapping(const struct segments *segments, struct store *store)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        struct lsn first;
        int r = problem_errno(sqlite3_prepare_v2(store_db(store),
                "SELECT start_lsn FROM lsn_time_mapping ORDER BY rowid LIMIT 1", -1, &stmt, NULL));
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r;
        return sql_column_lsn(stmt, 0, &first) ? segments_open_mapping(segments, store, first)
                                               : -EBADMSG;
}

int segments_close_mapping(const struct segments *segments, struct store *store, struct lsn to_lsn,
        int64_t segment, int64_t now_ns)
{
        struct segments_tally tally = {0};
        unsigned closed = 0;
        struct mapping_rows rows;
        int r = find_open(store, &tally.from_lsn);
        if (r > 0)
                r = mapping_find_rows(store_db(store), tally.from_lsn, to_lsn, &rows);
        if (r <= 0)
                return r;
        tally.first_change = (uint64_t)rows.first;
        tally.last_change = (uint64_t)rows.last;
        tally.rows = tally.inserts = rows.last - rows.first + 1;
        tally.first_time_ns = rows.first_time_ns;
        tally.last_time_ns = rows.last_time_ns;
        r = segments_close_files(store, &tally, to_lsn, segment, now_ns, &closed);
        return r < 0 ? r : segments_open_mapping(segments, store, lsn_increment(to_lsn));
}
