/* SPDX-License-Identifier: MIT
 *
 * changes: one SELECT over a range of rowids of a change table.
 *
 * The rowid is 2 * seqval + (operation <> 3), so rowid order is capture order. It refuses to
 * know whether the range may be asked for, and what a value looks like in a file.
 */
#include "faces/changes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory/mapping.h"
#include "memory/sql.h"

struct changes {
        struct result result;
        struct lsn lsn;
        uint64_t number;
};

bool changes_is_filter(const char *text, const char *word)
{
        size_t size = strlen(word);
        text += strspn(text, " ");
        return strncasecmp(text, word, size) == 0 && text[size + strspn(text + size, " ")] == 0;
}

int changes_parse_filter(const char *text, enum changes_filter *ret_filter)
{
        if (!text)
                return -EINVAL;
        if (changes_is_filter(text, "all"))
                *ret_filter = CHANGES_ALL;
        else if (changes_is_filter(text, "all update old"))
                *ret_filter = CHANGES_ALL_UPDATE_OLD;
        else
                return -EINVAL;
        return 0;
}

int changes_find_range(
        sqlite3 *store, struct lsn from, struct lsn to, struct changes_range *ret_range)
{
        struct changes_range range = {1, 0};
        int r = mapping_find_changes(store, from, to, &range.first, &range.last);
        if (r < 0)
                return r;
        *ret_range = r > 0 ? range : (struct changes_range){1, 0};
        return 0;
}

static int prepare(sqlite3 *store, const char *sql, sqlite3_stmt **ret_stmt)
{
        return problem_errno(sqlite3_prepare_v2(store, sql, -1, ret_stmt, NULL));
}

int changes_add_columns(sqlite3 *store, int64_t object_id, struct result_shape *shape)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(store,
                "SELECT column_name FROM captured_columns WHERE object_id = ? "
                "ORDER BY column_ordinal",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        while ((r = sql_next(stmt)) > 0) {
                const char *name = (const char *)sqlite3_column_text(stmt, 0);
                r = name ? result_add_column(shape, name, RESULT_VALUE) : -ENOMEM;
                if (r < 0)
                        return r;
        }
        return r;
}

static int read_shape(sqlite3 *store, int64_t object_id, struct result_shape *shape)
{
        static const struct result_column metadata[CHANGES_METADATA] = {
                {"__$start_lsn", RESULT_LSN},
                {"__$seqval", RESULT_LSN},
                {"__$operation", RESULT_VALUE},
                {"__$update_mask", RESULT_VALUE},
        };
        int r = 0;
        for (unsigned i = 0; r >= 0 && i < CHANGES_METADATA; i++)
                r = result_add_column(shape, metadata[i].name, metadata[i].kind);
        return r < 0 ? r : changes_add_columns(store, object_id, shape);
}

static void append_columns(const struct result_shape *shape, struct buf *buf)
{
        for (unsigned i = 0; i < shape->count; i++) {
                buf_append_string(buf, i == 0 ? "SELECT " : ", ");
                text_append_identifier(buf, shape->columns[i].name);
        }
}

int changes_append_source(
        sqlite3 *store, int64_t object_id, enum changes_filter filter, struct buf *buf)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(store,
                "SELECT capture_instance || '_CT', rowid_name "
                "FROM change_tables JOIN cdcfs_instances USING(object_id) WHERE object_id = ?",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        const char *table = (const char *)sqlite3_column_text(stmt, 0);
        const char *rowid = (const char *)sqlite3_column_text(stmt, 1);
        if (!table || !rowid)
                return -ENOMEM;
        buf_append_string(buf, " FROM ");
        text_append_identifier(buf, table);
        buf_append_format(buf, " WHERE %s BETWEEN ?1 AND ?2", rowid);
        if (filter == CHANGES_ALL)
                buf_append_string(buf, " AND \"__$operation\" <> 3");
        buf_append_format(buf, " ORDER BY %s", rowid);
        return buf_error(buf);
}

/* Rowids hold 63 bits, change numbers with an open end hold more. */
void changes_bind_range(sqlite3_stmt *stmt, struct changes_range range)
{
        static const uint64_t largest = INT64_MAX / 2;
        bool is_empty = range.first > range.last || range.first > largest;
        int64_t first = is_empty ? 1 : (int64_t)(2 * range.first);
        int64_t last = is_empty               ? 0
                       : range.last < largest ? (int64_t)(2 * range.last + 1)
                                              : INT64_MAX;
        sqlite3_bind_int64(stmt, 1, first);
        sqlite3_bind_int64(stmt, 2, last);
}

int changes_open_range(sqlite3 *store, int64_t object_id, struct changes_range range,
        enum changes_filter filter, struct changes **ret_changes)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        _cleanup_changes_ struct changes *changes = calloc(1, sizeof(*changes));
        if (!changes)
                return -ENOMEM;
        int r = read_shape(store, object_id, &changes->result.shape);
        if (r < 0)
                return r;
        append_columns(&changes->result.shape, &sql);
        r = changes_append_source(store, object_id, filter, &sql);
        if (r < 0 || (r = result_open(&changes->result, store, buf_string(&sql))) < 0)
                return r;
        changes_bind_range(changes->result.stmt, range);
        *ret_changes = steal(changes);
        return 0;
}

int changes_open(sqlite3 *store, int64_t object_id, struct lsn from, struct lsn to,
        enum changes_filter filter, struct changes **ret_changes)
{
        struct changes_range range;
        int r = changes_find_range(store, from, to, &range);
        return r < 0 ? r : changes_open_range(store, object_id, range, filter, ret_changes);
}

void changes_close(struct changes *changes)
{
        if (!changes)
                return;
        result_close(&changes->result);
        free(changes);
}

const struct result_shape *changes_shape(const struct changes *changes)
{
        return &changes->result.shape;
}

static bool copy_lsn(const struct value *value, struct lsn *ret_lsn)
{
        if (value->type != VALUE_BLOB || value->size != LSN_SIZE)
                return false;
        memcpy(ret_lsn->bytes, value->bytes, LSN_SIZE);
        return true;
}

int changes_next(struct changes *changes, const struct value **ret_values)
{
        struct lsn seqval;
        int r = result_next(&changes->result, ret_values);
        if (r <= 0)
                return r;
        /* Anyone may write to the store with the shell; an LSN that is none must not be shown. */
        if (!copy_lsn(&(*ret_values)[0], &changes->lsn) || !copy_lsn(&(*ret_values)[1], &seqval))
                return -EBADMSG;
        changes->number = lsn_to_change(seqval);
        return 1;
}

struct lsn changes_lsn(const struct changes *changes)
{
        return changes->lsn;
}

uint64_t changes_number(const struct changes *changes)
{
        return changes->number;
}
