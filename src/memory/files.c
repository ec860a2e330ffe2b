/* SPDX-License-Identifier: MIT
 *
 * files: rows of cdcfs_files. It refuses to know what a format looks like and when a file ends.
 */
#include "memory/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ground/cleanup.h"
#include "memory/array.h"
#include "memory/sql.h"
#include "memory/state.h"

int files_open(struct store *store, int64_t object_id, const struct files_format *format,
        struct lsn from_lsn, uint64_t first_change, uint64_t *ret_ino)
{
        sqlite3_stmt *stmt = NULL;
        if (strlen(format->name) >= FILES_FORMAT_SIZE)
                return -EINVAL;
        int r = state_take_inos(store, 1, ret_ino);
        if (r == 0)
                r = store_statement(store,
                        "INSERT INTO cdcfs_files(ino, object_id, format, renderer_version, "
                        "from_lsn,"
                        "  first_change, ordinal) VALUES(?1, ?2, ?3, ?4, ?5, ?6,"
                        "  (SELECT coalesce(max(ordinal), 0) + 1 FROM cdcfs_files"
                        "   WHERE object_id = ?2 AND format = ?3))",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, (int64_t)*ret_ino);
        sqlite3_bind_int64(stmt, 2, object_id);
        sqlite3_bind_int64(stmt, 4, format->renderer_version);
        sqlite3_bind_int64(stmt, 6, (int64_t)first_change);
        r = sql_bind_text(stmt, 3, format->name);
        if (r == 0)
                r = sql_bind_lsn(stmt, 5, from_lsn);
        return r < 0 ? r : sql_run(stmt);
}

#define SELECT_FILE                                                                                \
        "SELECT ino, object_id, format, renderer_version, ordinal, from_lsn, to_lsn, mtime_ns,"    \
        "  is_withdrawn, is_resync, first_change, last_change, row_count, inserts, updates,"       \
        "  deletes, first_time_ns, last_time_ns, closed_ns, bytes, sha256, odd_text"               \
        " FROM cdcfs_files"

static void read_counts(sqlite3_stmt *stmt, struct file_row *file)
{
        file->first_change = (uint64_t)sqlite3_column_int64(stmt, 10);
        file->last_change = (uint64_t)sqlite3_column_int64(stmt, 11);
        file->rows = sqlite3_column_int64(stmt, 12);
        file->inserts = sqlite3_column_int64(stmt, 13);
        file->updates = sqlite3_column_int64(stmt, 14);
        file->deletes = sqlite3_column_int64(stmt, 15);
        file->first_time_ns = sqlite3_column_int64(stmt, 16);
        file->last_time_ns = sqlite3_column_int64(stmt, 17);
        file->closed_ns = sqlite3_column_int64(stmt, 18);
}

static void read_file(sqlite3_stmt *stmt, struct file_row *file)
{
        memset(file, 0, sizeof *file);
        const char *format = (const char *)sqlite3_column_text(stmt, 2);
        file->ino = (uint64_t)sqlite3_column_int64(stmt, 0);
        file->object_id = sqlite3_column_int64(stmt, 1);
        strncpy(file->format, format ? format : "", FILES_FORMAT_SIZE - 1);
        file->renderer_version = (unsigned)sqlite3_column_int64(stmt, 3);
        file->ordinal = sqlite3_column_int64(stmt, 4);
        sql_column_lsn(stmt, 5, &file->from_lsn);
        file->is_open = !sql_column_lsn(stmt, 6, &file->to_lsn);
        file->is_published = sqlite3_column_type(stmt, 7) != SQLITE_NULL;
        file->mtime_ns = sqlite3_column_int64(stmt, 7);
        file->is_withdrawn = sqlite3_column_int(stmt, 8) != 0;
        file->is_resync = sqlite3_column_int(stmt, 9) != 0;
        read_counts(stmt, file);
        file->bytes = sqlite3_column_int64(stmt, 19);
        if (sqlite3_column_bytes(stmt, 20) == HASH_SIZE)
                memcpy(file->sha256, sqlite3_column_blob(stmt, 20), HASH_SIZE);
        file->odd_text = sqlite3_column_int64(stmt, 21);
}

/* Reads all rows of a statement whose parameters are bound. */
static int read_files(sqlite3_stmt *stmt, struct files *ret_files)
{
        _cleanup_(files_release) struct files files = {0};
        int r;
        while ((r = sql_next(stmt)) > 0) {
                struct file_row *items = array_room(files.items, files.count, sizeof *items);
                if (!items)
                        return -ENOMEM;
                files.items = items;
                read_file(stmt, &items[files.count++]);
        }
        if (r < 0)
                return r;
        *ret_files = files;
        memset(&files, 0, sizeof files);
        return 0;
}

static int read_one(sqlite3_stmt *stmt, struct file_row *ret_file)
{
        int r = sql_next(stmt);
        if (r > 0)
                read_file(stmt, ret_file);
        return r;
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_stmt)
{
        return problem_errno(sqlite3_prepare_v2(db, sql, -1, ret_stmt, NULL));
}

int files_unpublished(sqlite3 *db, struct files *ret_files)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        /* Segments are numbered as they are closed; the clock may have been set back. */
        int r = prepare(db,
                SELECT_FILE " WHERE mtime_ns IS NULL AND to_lsn IS NOT NULL ORDER BY segment, ino",
                &stmt);
        return r < 0 ? r : read_files(stmt, ret_files);
}

/* The moment of closing of a file that waits to be published. 1, 0, or negative errno. */
static int find_closing(
        struct store *store, uint64_t ino, int64_t *ret_closed_ns, int64_t *ret_object_id)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT closed_ns, object_id FROM cdcfs_files"
                " WHERE ino = ? AND to_lsn IS NOT NULL AND mtime_ns IS NULL",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, (int64_t)ino);
        r = sql_next(stmt);
        if (r > 0) {
                *ret_closed_ns = sqlite3_column_int64(stmt, 0);
                *ret_object_id = sqlite3_column_int64(stmt, 1);
        }
        return r;
}

static int touch_directory(struct store *store, int64_t object_id, int64_t mtime_ns)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(
                store, "UPDATE cdcfs_instances SET changed_ns = ?2 WHERE object_id = ?1", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 2, mtime_ns);
        return sql_run(stmt);
}

static int store_measure(
        struct store *store, uint64_t ino, const struct files_measure *measure, int64_t mtime_ns)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_files SET bytes = ?2, sha256 = ?3, odd_text = ?4, mtime_ns = ?5,"
                "  row_count = coalesce(?6, row_count)"
                " WHERE ino = ?1",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, (int64_t)ino);
        sqlite3_bind_int64(stmt, 2, measure->bytes);
        sqlite3_bind_blob(stmt, 3, measure->sha256, HASH_SIZE, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 4, measure->odd_text);
        sqlite3_bind_int64(stmt, 5, mtime_ns);
        if (measure->has_rows)
                sqlite3_bind_int64(stmt, 6, measure->rows);
        return sql_run(stmt);
}

int files_publish(struct store *store, uint64_t ino, const struct files_measure *measure,
        int64_t *ret_mtime_ns)
{
        int64_t closed_ns = 0, object_id = 0;
        int r = find_closing(store, ino, &closed_ns, &object_id);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        r = state_take_mtime(store, closed_ns, ret_mtime_ns);
        if (r == 0)
                r = store_measure(store, ino, measure, *ret_mtime_ns);
        if (r == 0)
                r = checkpoints_add(store, ino, &measure->checkpoints);
        if (r == 0)
                r = touch_directory(store, object_id, *ret_mtime_ns);
        return r;
}

static int list(sqlite3 *db, const char *sql, int64_t object_id, const char *format, int64_t after,
        size_t limit, struct files *ret_files)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(db, sql, &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 3, after);
        sqlite3_bind_int64(stmt, 4, limit ? (int64_t)limit : -1);
        r = sql_bind_text(stmt, 2, format);
        return r < 0 ? r : read_files(stmt, ret_files);
}

#define SELECT_AFTER                                                                               \
        SELECT_FILE " WHERE object_id = ?1 AND format = ?2 AND ordinal > ?3 AND mtime_ns IS NOT "  \
                    "NULL"

int files_list(sqlite3 *db, int64_t object_id, const char *format, int64_t after, size_t limit,
        struct files *ret_files)
{
        return list(db, SELECT_AFTER " AND NOT is_withdrawn ORDER BY ordinal LIMIT ?4", object_id,
                format, after, limit, ret_files);
}

int files_list_openable(sqlite3 *db, int64_t object_id, const char *format, int64_t after,
        size_t limit, struct files *ret_files)
{
        return list(db, SELECT_AFTER " ORDER BY ordinal LIMIT ?4", object_id, format, after, limit,
                ret_files);
}

int files_find_range(sqlite3 *db, int64_t object_id, const char *format, struct lsn from,
        struct lsn to, struct file_row *ret_file)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(db,
                SELECT_FILE " WHERE object_id = ?1 AND format = ?2 AND from_lsn = ?3"
                            " AND to_lsn = ?4 AND mtime_ns IS NOT NULL",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_bind_text(stmt, 2, format);
        if (r == 0)
                r = sql_bind_lsn(stmt, 3, from);
        if (r == 0)
                r = sql_bind_lsn(stmt, 4, to);
        return r < 0 ? r : read_one(stmt, ret_file);
}

int files_find_ino(sqlite3 *db, uint64_t ino, struct file_row *ret_file)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(db, SELECT_FILE " WHERE ino = ?", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, (int64_t)ino);
        return read_one(stmt, ret_file);
}

int files_find_live(sqlite3 *db, int64_t object_id, const char *format, struct file_row *ret_file)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(db,
                SELECT_FILE " WHERE object_id = ?1 AND format = ?2 AND mtime_ns IS NULL"
                            " ORDER BY ordinal LIMIT 1",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_bind_text(stmt, 2, format);
        return r < 0 ? r : read_one(stmt, ret_file);
}

void files_release(struct files *files)
{
        free(files->items);
        memset(files, 0, sizeof *files);
}
