/* SPDX-License-Identifier: MIT
 *
 * segments: counts what is in open files, and ends them at borders. It refuses to render, and
 * leaves the rules to segments_rules.c.
 */
#include "memory/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "memory/array.h"
#include "memory/instances.h"
#include "memory/mapping.h"
#include "memory/segments_private.h"
#include "memory/sql.h"

void segments_free(struct segments *segments)
{
        if (!segments)
                return;
        free(segments->tallies);
        free(segments);
}

void segments_freep(struct segments **segments)
{
        segments_free(*segments);
}

const struct segments_tally *segments_list(const struct segments *segments, size_t *ret_count)
{
        *ret_count = segments->count;
        return segments->tallies;
}

/* Index of the first tally with this number or a higher one. */
static size_t find_place(const struct segments *segments, int64_t object_id)
{
        size_t low = 0, high = segments->count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (segments->tallies[middle].object_id < object_id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static struct segments_tally *find_tally(const struct segments *segments, int64_t object_id)
{
        size_t place = find_place(segments, object_id);
        if (place == segments->count || segments->tallies[place].object_id != object_id)
                return NULL;
        return &segments->tallies[place];
}

int segments_add_tally(struct segments *segments, const struct segments_tally *tally)
{
        struct segments_tally *tallies =
                array_room(segments->tallies, segments->count, sizeof *tallies);
        if (!tallies)
                return -ENOMEM;
        segments->tallies = tallies;
        size_t place = find_place(segments, tally->object_id);
        memmove(&tallies[place + 1], &tallies[place], (segments->count - place) * sizeof *tallies);
        tallies[place] = *tally;
        segments->count++;
        return 0;
}

void segments_forget(struct segments *segments, int64_t object_id)
{
        struct segments_tally *tally = find_tally(segments, object_id);
        if (!tally)
                return;
        size_t place = (size_t)(tally - segments->tallies);
        segments->count--;
        memmove(tally, tally + 1, (segments->count - place) * sizeof *tally);
}

static int open_files(struct segments *segments, struct store *store,
        const struct segments_tally *tally, uint64_t first_change)
{
        int r = 0;
        for (size_t i = 0; r == 0 && i < segments->format_count; i++) {
                const struct files_format *format = &segments->formats[i];
                uint64_t ino = 0;
                if (!format->is_off && (!format->is_net || tally->has_net))
                        r = files_open(store, tally->object_id, format, tally->from_lsn,
                                first_change, &ino);
        }
        return r;
}

static int read_has_net(struct store *store, int64_t object_id, bool *ret_has_net)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(
                store, "SELECT supports_net_changes FROM change_tables WHERE object_id = ?", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_next(stmt);
        *ret_has_net = r > 0 && sqlite3_column_int(stmt, 0) != 0;
        return r < 0 ? r : 0;
}

int segments_open(struct segments *segments, struct store *store, int64_t object_id,
        struct lsn start_lsn, uint64_t next_change)
{
        struct segments_tally tally = {.object_id = object_id, .from_lsn = start_lsn};
        if (find_tally(segments, object_id))
                return -EEXIST;
        int r = read_has_net(store, object_id, &tally.has_net);
        if (r == 0)
                r = open_files(segments, store, &tally, next_change);
        if (r == 0)
                r = segments_open_mapping(segments, store, start_lsn);
        return r < 0 ? r : segments_add_tally(segments, &tally);
}

void segments_tally_add(struct segments_tally *tally, enum change_operation operation,
        uint64_t number, uint64_t csv_bytes, int64_t commit_ns, int64_t seen_ns)
{
        if (tally->rows == 0) {
                tally->first_change = number;
                tally->first_time_ns = commit_ns;
                tally->first_seen_ns = seen_ns;
        }
        tally->last_change = number;
        tally->last_time_ns = commit_ns;
        tally->csv_bytes += csv_bytes;
        tally->rows += operation == CHANGE_UPDATE ? 2 : 1;
        tally->inserts += operation == CHANGE_INSERT;
        tally->updates += operation == CHANGE_UPDATE;
        tally->deletes += operation == CHANGE_DELETE;
}

bool segments_take_grown(struct segments *segments, uint64_t step, int64_t *ret_object_id)
{
        for (size_t i = 0; i < segments->count; i++) {
                struct segments_tally *tally = &segments->tallies[i];
                if (tally->csv_bytes < tally->told_bytes + step)
                        continue;
                tally->told_bytes = tally->csv_bytes;
                *ret_object_id = tally->object_id;
                return true;
        }
        return false;
}

void segments_add(struct segments *segments, const struct change *change, uint64_t number,
        int64_t commit_ns, int64_t now_ns)
{
        struct segments_tally *tally = find_tally(segments, change->object_id);
        if (tally)
                segments_tally_add(tally, change->operation, number, segments_estimate(change),
                        commit_ns, now_ns);
}

int segments_close_files(struct store *store, const struct segments_tally *tally,
        const char *format, struct lsn to_lsn, int64_t segment, int64_t now_ns, unsigned *closed)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_files SET to_lsn = ?2, segment = ?3, first_change = ?4,"
                "  last_change = ?5, row_count = ?6, inserts = ?7, updates = ?8, deletes = ?9,"
                "  first_time_ns = ?10, last_time_ns = ?11, closed_ns = ?12"
                " WHERE object_id = ?1 AND mtime_ns IS NULL AND to_lsn IS NULL"
                "  AND format = coalesce(?13, format)",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, tally->object_id);
        sqlite3_bind_int64(stmt, 3, segment);
        sqlite3_bind_int64(stmt, 4, (int64_t)tally->first_change);
        sqlite3_bind_int64(stmt, 5, (int64_t)tally->last_change);
        sqlite3_bind_int64(stmt, 6, tally->rows);
        sqlite3_bind_int64(stmt, 7, tally->inserts);
        sqlite3_bind_int64(stmt, 8, tally->updates);
        sqlite3_bind_int64(stmt, 9, tally->deletes);
        sqlite3_bind_int64(stmt, 10, tally->first_time_ns);
        sqlite3_bind_int64(stmt, 11, tally->last_time_ns);
        sqlite3_bind_int64(stmt, 12, now_ns);
        r = sql_bind_lsn(stmt, 2, to_lsn);
        if (r == 0)
                r = sql_bind_text(stmt, 13, format);
        if (r == 0)
                r = sql_run(stmt);
        if (r == 0)
                *closed += (unsigned)sqlite3_changes(store_db(store));
        return r;
}

static int insert_segment(struct store *store, struct lsn from_lsn, struct lsn to_lsn,
        enum segments_cause cause, int64_t now_ns, int64_t *ret_segment)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "INSERT INTO cdcfs_segments(from_lsn, to_lsn, closed_ns, cause) VALUES(?, ?, ?, ?)",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 3, now_ns);
        r = sql_bind_lsn(stmt, 1, from_lsn);
        if (r == 0)
                r = sql_bind_lsn(stmt, 2, to_lsn);
        if (r == 0)
                r = sql_bind_text(stmt, 4, segments_cause_name(cause));
        if (r == 0)
                r = sql_run(stmt);
        *ret_segment = sqlite3_last_insert_rowid(store_db(store));
        return r;
}

/* The oldest FROM of what takes part. 1, 0 where nothing does, -EINVAL for a border before a
 * file's begin. */
static int find_oldest(const struct segments *segments, const struct segments_limits *limits,
        struct lsn to_lsn, enum segments_cause cause, int64_t now_ns, struct lsn *ret_from)
{
        int found = 0;
        for (size_t i = 0; i < segments->count; i++) {
                const struct segments_tally *tally = &segments->tallies[i];
                if (!segments_should_close(limits, tally, cause, now_ns))
                        continue;
                if (lsn_compare(tally->from_lsn, to_lsn) > 0)
                        return -EINVAL;
                if (!found || lsn_compare(tally->from_lsn, *ret_from) < 0)
                        *ret_from = tally->from_lsn;
                found = 1;
        }
        return found;
}

static int close_one(struct segments *segments, struct store *store, struct segments_tally *tally,
        struct lsn to_lsn, int64_t segment, uint64_t next_change, int64_t now_ns, unsigned *closed)
{
        struct segments_tally next = {.object_id = tally->object_id,
                .from_lsn = lsn_increment(to_lsn),
                .has_net = tally->has_net};
        int r = segments_close_files(store, tally, NULL, to_lsn, segment, now_ns, closed);
        if (r == 0)
                r = open_files(segments, store, &next, next_change);
        if (r == 0)
                *tally = next;
        return r;
}

int segments_close(struct segments *segments, struct store *store,
        const struct segments_limits *limits, struct lsn to_lsn, enum segments_cause cause,
        uint64_t next_change, int64_t now_ns, unsigned *ret_closed)
{
        struct lsn from_lsn;
        int64_t segment = 0;
        *ret_closed = 0;
        int r = find_oldest(segments, limits, to_lsn, cause, now_ns, &from_lsn);
        if (r <= 0)
                return r;
        r = insert_segment(store, from_lsn, to_lsn, cause, now_ns, &segment);
        for (size_t i = 0; r == 0 && i < segments->count; i++) {
                struct segments_tally *tally = &segments->tallies[i];
                if (segments_should_close(limits, tally, cause, now_ns))
                        r = close_one(segments, store, tally, to_lsn, segment, next_change, now_ns,
                                ret_closed);
        }
        if (r == 0)
                r = segments_close_mapping(segments, store, to_lsn, segment, now_ns);
        return r;
}

static int skip_one(struct store *store, struct segments_tally *tally, struct lsn from_lsn)
{
        sqlite3_stmt *stmt = NULL;
        if (tally->rows > 0)
                return -EINVAL;
        if (lsn_compare(tally->from_lsn, from_lsn) >= 0)
                return 0;
        int r = store_statement(store,
                "UPDATE cdcfs_files SET from_lsn = ?2"
                " WHERE object_id = ?1 AND mtime_ns IS NULL AND to_lsn IS NULL",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, tally->object_id);
        r = sql_bind_lsn(stmt, 2, from_lsn);
        if (r == 0)
                r = sql_run(stmt);
        if (r == 0)
                tally->from_lsn = from_lsn;
        return r;
}

int segments_skip(
        struct segments *segments, struct store *store, int64_t object_id, struct lsn gap_to)
{
        int r = 0;
        for (size_t i = 0; r == 0 && i < segments->count; i++) {
                struct segments_tally *tally = &segments->tallies[i];
                if (object_id == 0 || tally->object_id == object_id)
                        r = skip_one(store, tally, lsn_increment(gap_to));
        }
        return r;
}
