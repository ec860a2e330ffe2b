/* SPDX-License-Identifier: MIT
 *
 * segments_mapping: the files that are the database's own, under the object_id 0, which no instance
 * has: CSV of lsn_time_mapping, and JSONL of transactions/, the same table's rows but for dummies.
 *
 * They end with the segments and are sealed and listed like all others. Their changes are the
 * table's rows, by rowid. FROM of one is always TO of the one before plus one: over a gap too, for
 * what is lost there are changes, not rows of this table. A border with no row before it is left
 * to the next one.
 *
 * Stores of versions before 4 have not counted the rows of their transactions: transactions/ begins
 * after the last of those.
 */
#include <errno.h>
#include <string.h>
#include "ground/cleanup.h"
#include "memory/instances.h"
#include "memory/mapping.h"
#include "memory/segments_private.h"
#include "memory/sql.h"
#include "memory/state.h"

static const char csv[] = "csv", jsonl[] = "jsonl";

/* NULL where the capture does not make such files. */
static const struct files_format *find_format(const struct segments *segments, const char *name)
{
        for (size_t i = 0; i < segments->format_count; i++) {
                if (strcmp(segments->formats[i].name, name) == 0)
                        return &segments->formats[i];
        }
        return NULL;
}

/* Where the open file begins. 1, 0 if none is open, or negative errno. */
static int find_open(struct store *store, const char *format, struct lsn *ret_from)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT from_lsn FROM cdcfs_files"
                " WHERE object_id = 0 AND format = ? AND mtime_ns IS NULL AND to_lsn IS NULL",
                &stmt);
        if (r == 0)
                r = sql_bind_text(stmt, 1, format);
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

/* Opens one of them, unless it is open. */
static int open_file(
        const struct segments *segments, struct store *store, const char *name, struct lsn from_lsn)
{
        const struct files_format *format = find_format(segments, name);
        struct lsn open_from;
        uint64_t ino = 0;
        int r = format ? find_open(store, name, &open_from) : 1;
        if (r == 0)
                r = add_directory(store);
        if (r != 0)
                return r < 0 ? r : 0;
        return files_open(store, 0, format, from_lsn, 0, &ino);
}

int segments_open_mapping(const struct segments *segments, struct store *store, struct lsn from_lsn)
{
        int r = open_file(segments, store, csv, from_lsn);
        return r < 0 ? r : open_file(segments, store, jsonl, from_lsn);
}

/* The LSN of the row that a statement gives. 1, 0, or negative errno. */
static int find_lsn(struct store *store, const char *sql, struct lsn *ret_lsn)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(store_db(store), sql, -1, &stmt, NULL));
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r;
        return sql_column_lsn(stmt, 0, ret_lsn) ? 1 : -EBADMSG;
}

int segments_load_mapping(const struct segments *segments, struct store *store)
{
        struct lsn first, uncounted, open_from;
        int r = find_lsn(
                store, "SELECT start_lsn FROM lsn_time_mapping ORDER BY rowid LIMIT 1", &first);
        if (r <= 0)
                return r;
        r = open_file(segments, store, csv, first);
        if (r == 0)
                r = find_open(store, jsonl, &open_from);
        if (r != 0)
                return r < 0 ? r : 0;
        r = find_lsn(store,
                "SELECT start_lsn FROM lsn_time_mapping"
                " WHERE cdcfs_change_count > 0 AND cdcfs_rows IS NULL ORDER BY rowid DESC LIMIT 1",
                &uncounted);
        if (r < 0)
                return r;
        return open_file(segments, store, jsonl, r > 0 ? lsn_increment(uncounted) : first);
}

/* How many transactions are among the rows; the first and the last of them take the place of the
 * ends. */
static int narrow_to_transactions(
        struct store *store, struct mapping_rows *rows, int64_t *ret_count)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT count(*), min(rowid), max(rowid), min(tran_end_time), max(tran_end_time)"
                " FROM lsn_time_mapping WHERE rowid BETWEEN ? AND ? AND cdcfs_change_count > 0",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, rows->first);
        sqlite3_bind_int64(stmt, 2, rows->last);
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EIO;
        *ret_count = sqlite3_column_int64(stmt, 0);
        *rows = (struct mapping_rows){sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2),
                sql_column_time(stmt, 3), sql_column_time(stmt, 4)};
        return 0;
}

static int close_file(const struct segments *segments, struct store *store, const char *format,
        struct lsn to_lsn, int64_t segment, int64_t now_ns)
{
        struct segments_tally tally = {0};
        unsigned closed = 0;
        struct mapping_rows rows;
        int r = find_open(store, format, &tally.from_lsn);
        if (r > 0)
                r = mapping_find_rows(store_db(store), tally.from_lsn, to_lsn, &rows);
        if (r <= 0)
                return r;
        tally.rows = rows.last - rows.first + 1;
        if (format == jsonl)
                r = narrow_to_transactions(store, &rows, &tally.rows);
        if (r < 0 || tally.rows == 0)
                return r < 0 ? r : 0;
        tally.inserts = tally.rows;
        tally.first_change = (uint64_t)rows.first;
        tally.last_change = (uint64_t)rows.last;
        tally.first_time_ns = rows.first_time_ns;
        tally.last_time_ns = rows.last_time_ns;
        r = segments_close_files(store, &tally, format, to_lsn, segment, now_ns, &closed);
        return r < 0 ? r : open_file(segments, store, format, lsn_increment(to_lsn));
}

int segments_close_mapping(const struct segments *segments, struct store *store, struct lsn to_lsn,
        int64_t segment, int64_t now_ns)
{
        int r = close_file(segments, store, csv, to_lsn, segment, now_ns);
        return r < 0 ? r : close_file(segments, store, jsonl, to_lsn, segment, now_ns);
}
