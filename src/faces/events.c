/* SPDX-License-Identifier: MIT
 *
 * events: changes and lsn_time_mapping read side by side, both in the order of LSNs.
 *
 * It refuses to know what a format makes of them.
 */
#include "faces/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/mapping.h"
#include "memory/sql.h"

struct events {
        sqlite3 *store; /* borrowed */
        struct changes *changes;
        struct result_shape shape;
        struct value *values; /* of the row in hand */
        sqlite3_stmt *commits;
        bool has_commit;
        struct lsn commit; /* that `commits` stands at */
        int64_t time_ns;   /* of it */
};

static int prepare(sqlite3 *store, const char *sql, int64_t object_id, sqlite3_stmt **ret_stmt)
{
        int r = problem_errno(sqlite3_prepare_v2(store, sql, -1, ret_stmt, NULL));
        if (r == 0)
                sqlite3_bind_int64(*ret_stmt, 1, object_id);
        return r;
}

/* ---- the shape ---- */

static int add_columns(struct result_shape *shape, const struct result_shape *changes)
{
        int r = 0;
        shape->encoding = changes->encoding;
        for (unsigned i = 0; r == 0 && i < changes->count; i++) {
                if (i == CHANGES_METADATA)
                        r = result_add_column(shape, "tran_end_time", RESULT_VALUE);
                if (r == 0 && i == CHANGES_METADATA)
                        r = result_add_column(shape, "tran_id", RESULT_VALUE);
                if (r == 0)
                        r = result_add_column(
                                shape, changes->columns[i].name, changes->columns[i].kind);
        }
        return r;
}

static int mark_key(sqlite3 *store, int64_t object_id, struct result_shape *shape)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(store,
                "SELECT column_ordinal FROM index_columns JOIN captured_columns"
                " USING(object_id, column_id) WHERE object_id = ?",
                object_id, &stmt);
        while (r >= 0 && (r = sql_next(stmt)) > 0) {
                int64_t column = EVENTS_METADATA + sqlite3_column_int64(stmt, 0) - 1;
                if (column < EVENTS_METADATA || column >= shape->count)
                        return -EBADMSG;
                shape->columns[column].is_key = true;
        }
        return r;
}

/* The one text of the one row. */
static int read_text(sqlite3 *store, const char *sql, int64_t object_id, char **ret_text)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(store, sql, object_id, &stmt);
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        r = sql_column_string(stmt, 0, ret_text);
        return r < 0 || *ret_text ? r : -EBADMSG;
}

/* The file's name without folder and last suffix. */
int events_read_database(sqlite3 *store, char **ret_name)
{
        _cleanup_free_ char *path = NULL;
        int r = read_text(store, "SELECT source_path FROM cdcfs_state WHERE id = ?", 1, &path);
        if (r < 0)
                return r;
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        const char *dot = strrchr(name, '.');
        *ret_name = dot && dot > name ? strndup(name, (size_t)(dot - name)) : strdup(name);
        return *ret_name ? 0 : -ENOMEM;
}

/* ---- life ---- */

int events_open(
        sqlite3 *store, int64_t object_id, struct changes_range range, struct events **ret_events)
{
        _cleanup_events_ struct events *events = calloc(1, sizeof *events);
        if (!events)
                return -ENOMEM;
        events->store = store;
        int r = changes_open_range(
                store, object_id, range, CHANGES_ALL_UPDATE_OLD, &events->changes);
        if (r == 0)
                r = add_columns(&events->shape, changes_shape(events->changes));
        if (r == 0)
                r = mark_key(store, object_id, &events->shape);
        if (r == 0)
                r = events_read_database(store, &events->shape.database);
        if (r == 0)
                r = read_text(store, "SELECT table_name FROM cdcfs_instances WHERE object_id = ?",
                        object_id, &events->shape.table);
        if (r < 0)
                return r;
        events->values = calloc(events->shape.count, sizeof *events->values);
        if (!events->values)
                return -ENOMEM;
        *ret_events = steal(events);
        return 0;
}

void events_close(struct events *events)
{
        if (!events)
                return;
        changes_close(events->changes);
        sqlite3_finalize(events->commits);
        result_release_shape(&events->shape);
        free(events->values);
        free(events);
}

const struct result_shape *events_shape(const struct events *events)
{
        return &events->shape;
}

uint64_t events_number(const struct events *events)
{
        return changes_number(events->changes);
}

/* ---- rows ---- */

/* The mapping's rows from this commit on: the rest are read on from it. */
static int open_commits(struct events *events, struct lsn lsn)
{
        struct mapping_rows rows;
        int r = mapping_find_rows(events->store, lsn, lsn, &rows);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        return prepare(events->store,
                "SELECT start_lsn, tran_end_time, tran_id FROM lsn_time_mapping"
                " WHERE rowid >= ? ORDER BY rowid",
                rows.first, &events->commits);
}

/* Moves on to the commit with this LSN, which is at or above the present one. */
static int find_commit(struct events *events, struct lsn lsn)
{
        int r = events->commits ? 0 : open_commits(events, lsn);
        while (r == 0 && (!events->has_commit || lsn_compare(events->commit, lsn) < 0)) {
                r = sql_next(events->commits);
                if (r <= 0)
                        return r < 0 ? r : -EBADMSG;
                r = sql_column_lsn(events->commits, 0, &events->commit) ? 0 : -EBADMSG;
                events->has_commit = true;
                if (r == 0 && lsn_compare(events->commit, lsn) == 0)
                        events->time_ns = sql_column_time(events->commits, 1);
        }
        if (r == 0 && lsn_compare(events->commit, lsn) != 0)
                r = -EBADMSG;
        return r;
}

int events_next(struct events *events, const struct value **ret_values)
{
        const struct value *row = NULL;
        struct value *values = events->values;
        int r = changes_next(events->changes, &row);
        if (r <= 0)
                return r;
        r = find_commit(events, changes_lsn(events->changes));
        if (r < 0)
                return r;
        memcpy(values, row, CHANGES_METADATA * sizeof *values);
        values[EVENTS_TIME] = (struct value){.type = VALUE_INTEGER, .integer = events->time_ns};
        sql_column_value(events->commits, 2, &values[EVENTS_TRANSACTION]);
        memcpy(values + EVENTS_METADATA, row + CHANGES_METADATA,
                (events->shape.count - EVENTS_METADATA) * sizeof *values);
        *ret_values = values;
        return 1;
}
