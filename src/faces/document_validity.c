/* SPDX-License-Identifier: MIT
 *
 * document_validity: validity.json: what may be asked for, what is missing, how far capture is.
 *
 * It reads the store and the pulse, and judges nothing: validity does.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "faces/document_private.h"
#include "faces/result.h"
#include "faces/validity.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/history.h"
#include "memory/mapping.h"
#include "memory/sql.h"

/* An object in the making, with a sticky error. */
struct object {
        json_t *json; /* owned */
        int error;
};

static void object_release(struct object *object)
{
        json_decref(object->json);
}

/* Takes the value over; NULL is a failed allocation. */
static void set(struct object *object, const char *key, json_t *value)
{
        if (json_object_set_new(object->json, key, value) < 0)
                object->error = -ENOMEM;
}

static void append(struct object *object, json_t *list, struct object *item)
{
        if (item->error || json_array_append_new(list, steal(item->json)) < 0)
                object->error = -ENOMEM;
}

static json_t *lsn_or_null(struct lsn lsn)
{
        char digits[LSN_TEXT_SIZE];
        if (lsn_is_zero(lsn))
                return json_null();
        lsn_format(lsn, digits);
        return json_string(digits);
}

static json_t *time_or_null(int64_t wall_ns)
{
        char digits[CLOCK_TEXT_SIZE];
        if (wall_ns == 0)
                return json_null();
        clock_format(wall_ns, digits);
        return json_string(digits);
}

static int prepare(sqlite3 *store, int64_t object_id, const char *sql, sqlite3_stmt **ret_stmt)
{
        int r = problem_errno(sqlite3_prepare_v2(store, sql, -1, ret_stmt, NULL));
        if (r == 0 && sqlite3_bind_parameter_count(*ret_stmt) > 0)
                sqlite3_bind_int64(*ret_stmt, 1, object_id);
        return r;
}

/* What is told of an instance alone, and its state once it is recognised. */
static int add_instance(
        sqlite3 *store, int64_t object_id, struct object *root, const char **ret_state)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(store, object_id,
                "SELECT c.capture_instance, t.name, c.has_drop_pending, i.error IS NOT NULL "
                "FROM change_tables AS c JOIN cdcfs_source_tables AS t USING(source_object_id) "
                "JOIN cdcfs_instances AS i USING(object_id) WHERE object_id = ?",
                &stmt);
        if (r < 0)
                return r;
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        set(root, "capture_instance", document_text((const char *)sqlite3_column_text(stmt, 0)));
        set(root, "source_table", document_text((const char *)sqlite3_column_text(stmt, 1)));
        set(root, "has_drop_pending", json_boolean(sqlite3_column_int(stmt, 2)));
        *ret_state = sqlite3_column_int(stmt, 3)   ? "stopped"
                     : sqlite3_column_int(stmt, 2) ? "dropped"
                                                   : "active";
        return 0;
}

static int read_state(sqlite3 *store, const char **ret_state)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(store, 0, "SELECT capture_stopped FROM cdcfs_state", &stmt);
        if (r < 0)
                return r;
        r = sql_next(stmt);
        *ret_state = r > 0 && sqlite3_column_int(stmt, 0) != 0 ? "stopped" : "active";
        return r < 0 ? r : 0;
}

static int add_interval(sqlite3 *store, const struct validity *validity, struct object *root)
{
        struct mapping_row row = {0};
        int64_t max_time = 0;
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(store, 0, "SELECT last_commit_time_ns FROM cdcfs_state", &stmt);
        if (r >= 0 && (r = sql_next(stmt)) > 0)
                max_time = sqlite3_column_int64(stmt, 0);
        if (r >= 0 && !validity->is_pending)
                r = mapping_find_lsn(store, validity->min, &row);
        if (r < 0)
                return r;
        set(root, "min_lsn", lsn_or_null(validity->min));
        set(root, "max_lsn", lsn_or_null(validity->max));
        set(root, "min_time", time_or_null(row.end_ns));
        set(root, "max_time", time_or_null(validity->is_pending ? 0 : max_time));
        return 0;
}

static void add_pulse(const struct document_pulse *pulse, struct object *root)
{
        set(root, "end_of_log", pulse ? lsn_or_null(pulse->end_of_log) : json_null());
        set(root, "as_of", pulse ? time_or_null(pulse->as_of_ns) : json_null());
        set(root, "caught_up", pulse ? json_boolean(pulse->is_caught_up) : json_null());
}

/* A gap that ended before the interval begins forbids nothing of it. */
static bool touches(const struct history_gap *gap, const struct validity *validity)
{
        return gap->is_open || validity->is_pending || lsn_compare(gap->to, validity->min) >= 0;
}

static int add_gaps(
        sqlite3 *store, int64_t object_id, const struct validity *validity, struct object *root)
{
        _cleanup_(history_gaps_release) struct history_gaps gaps = {0};
        json_t *list = json_array();
        set(root, "gaps", list);
        int r = history_load_gaps(store, object_id, &gaps);
        for (size_t i = 0; r >= 0 && i < gaps.count; i++) {
                const struct history_gap *gap = &gaps.items[i];
                if (!touches(gap, validity))
                        continue;
                _cleanup_(object_release) struct object item = {json_object(), 0};
                set(&item, "from", lsn_or_null(gap->from));
                set(&item, "to", gap->is_open ? json_null() : lsn_or_null(gap->to));
                set(&item, "time", time_or_null(gap->time_ns));
                set(&item, "cause", document_text(gap->cause));
                append(root, list, &item);
        }
        return r;
}

/* The mapping has no index on re-syncs, but each has closed a segment: without one there is
 * nothing to look for. */
static int has_resyncs(sqlite3 *store)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(
                store, 0, "SELECT 1 FROM cdcfs_segments WHERE cause = 'resync' LIMIT 1", &stmt);
        return r < 0 ? r : sql_next(stmt);
}

static int add_resyncs(sqlite3 *store, struct object *root)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        json_t *list = json_array();
        set(root, "resyncs", list);
        int r = has_resyncs(store);
        if (r <= 0)
                return r;
        r = prepare(store, 0,
                "SELECT start_lsn, tran_end_time FROM lsn_time_mapping WHERE cdcfs_resynced <> 0 "
                "ORDER BY rowid",
                &stmt);
        while (r >= 0 && (r = sql_next(stmt)) > 0) {
                struct lsn lsn;
                _cleanup_(object_release) struct object item = {json_object(), 0};
                sql_column_lsn(stmt, 0, &lsn);
                set(&item, "lsn", lsn_or_null(lsn));
                set(&item, "time", time_or_null(sql_column_time(stmt, 1)));
                set(&item, "cause", json_string("continuity was lost"));
                append(root, list, &item);
        }
        return r;
}

static int build(
        sqlite3 *store, int64_t object_id, const struct document_pulse *pulse, struct object *root)
{
        struct validity validity;
        const char *state = NULL;
        int r = validity_read(store, object_id, &validity);
        if (r >= 0)
                r = object_id == 0 ? read_state(store, &state)
                                   : add_instance(store, object_id, root, &state);
        if (r < 0)
                return r;
        set(root, "state", json_string(validity.is_pending ? "pending" : state));
        r = add_interval(store, &validity, root);
        add_pulse(pulse, root);
        if (r >= 0)
                r = add_gaps(store, object_id, &validity, root);
        return r < 0 ? r : add_resyncs(store, root);
}

int document_validity(
        sqlite3 *store, int64_t object_id, const struct document_pulse *pulse, struct buf *buf)
{
        _cleanup_(object_release) struct object root = {json_object(), 0};
        int r = build(store, object_id, pulse, &root);
        if (r < 0 || root.error)
                return r < 0 ? r : root.error;
        return document_append_json(root.json, buf);
}
