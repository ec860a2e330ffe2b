/* SPDX-License-Identifier: MIT
 *
 * state: reads and writes the row of cdcfs_state. It refuses to know what a position means.
 */
#include "memory/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ground/cleanup.h"
#include "memory/sql.h"

static const uint64_t ino_limit = UINT64_C(1) << 52;

/* False where the BLOB has another size. */
static bool copy_blob(sqlite3_stmt *stmt, int column, void *bytes, int size)
{
        if (sqlite3_column_bytes(stmt, column) != size)
                return false;
        memcpy(bytes, sqlite3_column_blob(stmt, column), (size_t)size);
        return true;
}

static int read_position(sqlite3_stmt *stmt, struct state *state)
{
        state->source_device = (uint64_t)sqlite3_column_int64(stmt, 4);
        state->source_inode = (uint64_t)sqlite3_column_int64(stmt, 5);
        state->page_size = (uint32_t)sqlite3_column_int64(stmt, 6);
        state->generation = (uint32_t)sqlite3_column_int64(stmt, 7);
        state->wal_frame = (uint32_t)sqlite3_column_int64(stmt, 9);
        state->wal_frame_hash = (uint64_t)sqlite3_column_int64(stmt, 11);
        state->database_pages = (uint32_t)sqlite3_column_int64(stmt, 12);
        state->schema_cookie = (uint32_t)sqlite3_column_int64(stmt, 13);
        state->is_backfilled = sqlite3_column_int(stmt, 14) != 0;
        state->source_size = sqlite3_column_int64(stmt, 15);
        state->source_mtime_ns = sqlite3_column_int64(stmt, 16);
        state->source_change_counter = (uint32_t)sqlite3_column_int64(stmt, 17);
        sql_column_lsn(stmt, 18, &state->max_lsn);
        state->last_commit_time_ns = sqlite3_column_int64(stmt, 19);
        state->next_change = (uint64_t)sqlite3_column_int64(stmt, 20);
        if (!copy_blob(stmt, 8, state->wal_salt, sizeof state->wal_salt) ||
                !copy_blob(stmt, 10, state->wal_frame_header, sizeof state->wal_frame_header))
                return -EBADMSG;
        return sql_column_string(stmt, 3, &state->source_path);
}

static int read_row(sqlite3_stmt *stmt, struct state *state)
{
        int64_t encoding = sqlite3_column_int64(stmt, 1);
        state->encoding = (enum text_encoding)encoding;
        state->base_ino = (uint64_t)sqlite3_column_int64(stmt, 2);
        state->has_min_lsn = sql_column_lsn(stmt, 21, &state->min_lsn);
        state->next_ino = (uint64_t)sqlite3_column_int64(stmt, 22);
        state->last_mtime_ns = sqlite3_column_int64(stmt, 23);
        state->catalog_version = (uint64_t)sqlite3_column_int64(stmt, 24);
        state->capture_stopped = sqlite3_column_int(stmt, 25) != 0;
        if (encoding < TEXT_UTF8 || encoding > TEXT_UTF16BE ||
                !copy_blob(stmt, 0, state->store_id, STATE_ID_SIZE))
                return -EBADMSG;
        return read_position(stmt, state);
}

int state_load(struct store *store, struct state *ret_state)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        struct state state = {0};
        int r = store_statement(store,
                "SELECT store_id, encoding, base_ino, source_path, source_device, source_inode,"
                "  page_size, generation, wal_salt, wal_frame, wal_frame_header, wal_frame_hash,"
                "  database_pages, schema_cookie, is_backfilled, source_size, source_mtime_ns,"
                "  source_change_counter, max_lsn, last_commit_time_ns, next_change, min_lsn,"
                "  next_ino, last_mtime_ns, catalog_version, capture_stopped FROM cdcfs_state",
                &stmt);
        if (r < 0)
                return r;
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        r = read_row(stmt, &state);
        if (r < 0) {
                state_release(&state);
                return r;
        }
        *ret_state = state;
        return 0;
}

void state_release(struct state *state)
{
        free(state->source_path);
        state->source_path = NULL;
}

/* The numbers cannot fail to bind: the parameters exist and take no memory. */
static void bind_numbers(sqlite3_stmt *stmt, const struct state *state)
{
        sqlite3_bind_int64(stmt, 2, (int64_t)state->source_device);
        sqlite3_bind_int64(stmt, 3, (int64_t)state->source_inode);
        sqlite3_bind_int64(stmt, 4, state->page_size);
        sqlite3_bind_int64(stmt, 5, state->generation);
        sqlite3_bind_int64(stmt, 7, state->wal_frame);
        sqlite3_bind_int64(stmt, 9, (int64_t)state->wal_frame_hash);
        sqlite3_bind_int64(stmt, 10, state->database_pages);
        sqlite3_bind_int64(stmt, 11, state->schema_cookie);
        sqlite3_bind_int(stmt, 12, state->is_backfilled);
        sqlite3_bind_int64(stmt, 13, state->source_size);
        sqlite3_bind_int64(stmt, 14, state->source_mtime_ns);
        sqlite3_bind_int64(stmt, 15, state->source_change_counter);
        sqlite3_bind_int64(stmt, 17, state->last_commit_time_ns);
        sqlite3_bind_int64(stmt, 18, (int64_t)state->next_change);
}

int state_save(struct store *store, const struct state *state)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_state SET source_path = ?1, source_device = ?2, source_inode = ?3,"
                "  page_size = ?4, generation = ?5, wal_salt = ?6, wal_frame = ?7,"
                "  wal_frame_header = ?8, wal_frame_hash = ?9, database_pages = ?10,"
                "  schema_cookie = ?11, is_backfilled = ?12, source_size = ?13,"
                "  source_mtime_ns = ?14, source_change_counter = ?15, max_lsn = ?16,"
                "  last_commit_time_ns = ?17, next_change = ?18",
                &stmt);
        if (r < 0)
                return r;
        bind_numbers(stmt, state);
        r = sql_bind_path(stmt, 1, state->source_path);
        if (r == 0)
                r = problem_errno(sqlite3_bind_blob(
                        stmt, 6, state->wal_salt, sizeof state->wal_salt, SQLITE_STATIC));
        if (r == 0)
                r = problem_errno(sqlite3_bind_blob(stmt, 8, state->wal_frame_header,
                        sizeof state->wal_frame_header, SQLITE_STATIC));
        if (r == 0 && !lsn_is_zero(state->max_lsn))
                r = sql_bind_lsn(stmt, 16, state->max_lsn);
        return r < 0 ? r : sql_run(stmt);
}

int state_set_min_lsn(struct store *store, struct lsn min_lsn)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_state SET min_lsn = ?1 WHERE min_lsn IS NULL OR min_lsn < ?1", &stmt);
        if (r == 0)
                r = sql_bind_lsn(stmt, 1, min_lsn);
        return r < 0 ? r : sql_run(stmt);
}

int state_set_capture_stopped(struct store *store, bool is_stopped)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, "UPDATE cdcfs_state SET capture_stopped = ?", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int(stmt, 1, is_stopped);
        return sql_run(stmt);
}

int state_bump_catalog(struct store *store)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(
                store, "UPDATE cdcfs_state SET catalog_version = catalog_version + 1", &stmt);
        return r < 0 ? r : sql_run(stmt);
}

/* Runs a statement that gives one integer. */
static int take_integer(sqlite3_stmt *stmt, int64_t *ret_value)
{
        int r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        *ret_value = sqlite3_column_int64(stmt, 0);
        /* An UPDATE with RETURNING is done only when it was stepped to its end. */
        r = sql_next(stmt);
        return r > 0 ? -EBADMSG : r;
}

int state_take_inos(struct store *store, unsigned count, uint64_t *ret_first)
{
        sqlite3_stmt *stmt = NULL;
        int64_t next = 0;
        int r = store_statement(
                store, "UPDATE cdcfs_state SET next_ino = next_ino + ? RETURNING next_ino", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, count);
        r = take_integer(stmt, &next);
        if (r < 0)
                return r;
        *ret_first = (uint64_t)next - count;
        return (uint64_t)next > ino_limit ? -EOVERFLOW : 0;
}

int state_take_mtime(struct store *store, int64_t at_ns, int64_t *ret_mtime_ns)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_state SET last_mtime_ns = max(last_mtime_ns + 1, ?)"
                " RETURNING last_mtime_ns",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, at_ns);
        return take_integer(stmt, ret_mtime_ns);
}

int state_catalog_version(struct store *store, uint64_t *ret_version)
{
        sqlite3_stmt *stmt = NULL;
        int64_t version = 0;
        int r = store_statement(store, "SELECT catalog_version FROM cdcfs_state", &stmt);
        if (r == 0)
                r = take_integer(stmt, &version);
        if (r == 0)
                *ret_version = (uint64_t)version;
        return r;
}
