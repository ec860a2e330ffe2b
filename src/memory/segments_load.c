/* SPDX-License-Identifier: MIT
 *
 * segments_load: finds the open files again at the start, and counts the rows that are in them. It
 * refuses to close anything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "memory/instances.h"
#include "memory/mapping.h"
#include "memory/segments_private.h"
#include "memory/sql.h"

/* Where the instance's open files begin; where it has none (no format was known when it was
 * recognised), at start_lsn. */
static int find_begin(struct store *store, const struct instance *instance, struct lsn *ret_from,
        uint64_t *ret_first_change)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        *ret_from = instance->start_lsn;
        *ret_first_change = 0;
        int r = store_statement(store,
                "SELECT from_lsn, first_change FROM cdcfs_files"
                " WHERE object_id = ? AND mtime_ns IS NULL AND to_lsn IS NULL"
                " ORDER BY from_lsn LIMIT 1",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, instance->object_id);
        r = sql_next(stmt);
        if (r <= 0)
                return r;
        *ret_first_change = (uint64_t)sqlite3_column_int64(stmt, 1);
        return sql_column_lsn(stmt, 0, ret_from) ? 0 : -EBADMSG;
}

static int has_open_file(struct store *store, int64_t object_id, const char *format)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT 1 FROM cdcfs_files WHERE object_id = ? AND format = ?"
                " AND mtime_ns IS NULL AND to_lsn IS NULL",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_bind_text(stmt, 2, format);
        return r < 0 ? r : sql_next(stmt);
}

static int open_missing(struct segments *segments, struct store *store,
        const struct segments_tally *tally, uint64_t first_change)
{
        for (size_t i = 0; i < segments->format_count; i++) {
                const struct files_format *format = &segments->formats[i];
                uint64_t ino = 0;
                if (format->is_off || (format->is_net && !tally->has_net))
                        continue;
                int r = has_open_file(store, tally->object_id, format->name);
                if (r == 0)
                        r = files_open(store, tally->object_id, format, tally->from_lsn,
                                first_change, &ino);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* All columns of a change table from a change number on, in order. */
static int prepare_rows(struct store *store, const struct instance *instance, uint64_t first_change,
        sqlite3_stmt **ret_stmt)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        buf_append_string(&sql, "SELECT \"__$start_lsn\", \"__$seqval\", \"__$operation\"");
        for (unsigned i = 0; i < instance->column_count; i++) {
                buf_append_string(&sql, ", ");
                text_append_identifier(&sql, instance->columns[i].name);
        }
        buf_append_string(&sql, " FROM ");
        text_append_identifier(&sql, instance->change_table);
        buf_append_format(
                &sql, " WHERE %s >= ? ORDER BY %s", instance->rowid_name, instance->rowid_name);
        const char *text = buf_string(&sql);
        int r = buf_error(&sql);
        if (r == 0)
                r = problem_errno(sqlite3_prepare_v2(store_db(store), text, -1, ret_stmt, NULL));
        if (r == 0)
                sqlite3_bind_int64(*ret_stmt, 1, (int64_t)(2 * first_change));
        return r;
}

/* The commit time of a row; rows of one transaction follow each other. */
static int find_time(struct store *store, struct lsn lsn, struct lsn *last, int64_t *time_ns)
{
        struct mapping_row row = {0};
        if (lsn_compare(lsn, *last) == 0)
                return 0;
        int r = mapping_find_lsn(store_db(store), lsn, &row);
        if (r < 0)
                return r;
        *last = lsn;
        if (r > 0)
                *time_ns = row.end_ns;
        return 0;
}

static void add_row(struct segments_tally *tally, sqlite3_stmt *stmt, struct value *values,
        unsigned columns, int64_t time_ns)
{
        struct lsn seqval;
        int operation = sqlite3_column_int(stmt, 2);
        for (unsigned i = 0; i < columns; i++)
                sql_column_value(stmt, (int)(3 + i), &values[i]);
        uint64_t csv_bytes = segments_estimate_row(values, columns);
        if (operation == 3) {
                /* Its 4 follows and counts both lines. */
                tally->csv_bytes += csv_bytes;
                return;
        }
        sql_column_lsn(stmt, 1, &seqval);
        segments_tally_add(tally, (enum change_operation)operation, lsn_to_change(seqval),
                csv_bytes, time_ns, time_ns);
}

static int count_rows(struct store *store, const struct instance *instance, uint64_t first_change,
        struct segments_tally *tally)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        _cleanup_free_ struct value *values = calloc(instance->column_count + 1, sizeof *values);
        struct lsn last = {0};
        int64_t time_ns = 0;
        if (!values)
                return -ENOMEM;
        int r = prepare_rows(store, instance, first_change, &stmt);
        while (r >= 0 && (r = sql_next(stmt)) > 0) {
                struct lsn lsn;
                sql_column_lsn(stmt, 0, &lsn);
                r = find_time(store, lsn, &last, &time_ns);
                if (r == 0)
                        add_row(tally, stmt, values, instance->column_count, time_ns);
        }
        return r;
}

static int load_one(struct segments *segments, struct store *store, const struct instance *instance)
{
        struct segments_tally tally = {
                .object_id = instance->object_id, .has_net = instance->supports_net_changes};
        uint64_t first_change = 0;
        int r = find_begin(store, instance, &tally.from_lsn, &first_change);
        if (r == 0)
                r = open_missing(segments, store, &tally, first_change);
        if (r == 0)
                r = count_rows(store, instance, first_change, &tally);
        return r < 0 ? r : segments_add_tally(segments, &tally);
}

int segments_load(struct store *store, const struct files_format *formats, size_t format_count,
        struct segments **ret_segments)
{
        _cleanup_(instances_release) struct instances instances = {0};
        _cleanup_(segments_freep) struct segments *segments = calloc(1, sizeof *segments);
        if (!segments)
                return -ENOMEM;
        segments->formats = formats;
        segments->format_count = format_count;
        int r = instances_load(store, &instances);
        for (size_t i = 0; r == 0 && i < instances.count; i++) {
                if (instances.items[i].has_start)
                        r = load_one(segments, store, &instances.items[i]);
        }
        if (r == 0 && segments->count > 0)
                r = segments_load_mapping(segments, store);
        if (r < 0)
                return r;
        *ret_segments = segments;
        segments = NULL;
        return 0;
}
