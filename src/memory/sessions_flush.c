/* SPDX-License-Identifier: MIT
 *
 * sessions_flush: writes what changed in memory to dm_cdc_log_scan_sessions and dm_cdc_errors. It
 * refuses to begin or end a transaction.
 */
#include <string.h>
#include "memory/sessions_private.h"
#include "memory/sql.h"

/* LSNs stand in these views as text; a zero one as NULL. */
static int bind_lsn_text(sqlite3_stmt *stmt, int parameter, struct lsn lsn)
{
        char text[LSN_TEXT_SIZE];
        if (lsn_is_zero(lsn))
                return 0;
        lsn_format(lsn, text);
        return problem_errno(sqlite3_bind_text(stmt, parameter, text, -1, SQLITE_TRANSIENT));
}

static int bind_time_or_null(sqlite3_stmt *stmt, int parameter, int64_t wall_ns)
{
        return wall_ns == 0 ? 0 : sql_bind_time(stmt, parameter, wall_ns);
}

static const char *phase_name(const struct session_row *row)
{
        if (row->session_id == 0)
                return "Aggregate";
        switch (row->phase) {
        case SESSIONS_PHASE_CONFIGURATION:
                return "Reading configuration";
        case SESSIONS_PHASE_SCAN:
                return "First scan";
        case SESSIONS_PHASE_SCHEMA:
                return "Schema versioning";
        case SESSIONS_PHASE_ROWS:
                return "Last scan";
        case SESSIONS_PHASE_DONE:
                return "Done";
        }
        return "";
}

static int bind_texts(sqlite3_stmt *stmt, const struct session_row *row)
{
        const struct {
                int parameter;
                struct lsn lsn;
        } lsns[] = {
                {7, row->counts.start_lsn},
                {8, row->counts.current_lsn},
                {9, row->counts.end_lsn},
                {11, row->counts.last_commit_lsn},
                {16, row->counts.first_begin_cdc_lsn},
                {17, row->counts.last_commit_cdc_lsn},
        };
        const struct {
                int parameter;
                int64_t time_ns;
        } times[] = {
                {2, row->start_ns},
                {3, row->end_ns},
                {12, row->counts.last_commit_time_ns},
                {18, row->counts.last_commit_cdc_time_ns},
        };
        int r = sql_bind_text(stmt, 5, phase_name(row));
        for (size_t i = 0; r == 0 && i < sizeof lsns / sizeof lsns[0]; i++)
                r = bind_lsn_text(stmt, lsns[i].parameter, lsns[i].lsn);
        for (size_t i = 0; r == 0 && i < sizeof times / sizeof times[0]; i++)
                r = bind_time_or_null(stmt, times[i].parameter, times[i].time_ns);
        return r;
}

static int write_row(struct store *store, struct session_row *row)
{
        sqlite3_stmt *stmt = NULL;
        if (!row->is_dirty)
                return 0;
        int r = store_statement(store,
                "INSERT OR REPLACE INTO dm_cdc_log_scan_sessions VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?,"
                "  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, row->session_id);
        sqlite3_bind_int64(stmt, 4, row->duration);
        sqlite3_bind_int64(stmt, 6, row->error_count);
        sqlite3_bind_int64(stmt, 10, row->counts.tran_count);
        sqlite3_bind_int64(stmt, 13, row->counts.log_record_count);
        sqlite3_bind_int64(stmt, 14, row->counts.schema_change_count);
        sqlite3_bind_int64(stmt, 15, row->counts.command_count);
        sqlite3_bind_int64(stmt, 19, row->latency);
        sqlite3_bind_int64(stmt, 20, row->empty_scan_count);
        sqlite3_bind_int64(stmt, 21, row->failed_count);
        r = bind_texts(stmt, row);
        if (r == 0)
                r = sql_run(stmt);
        if (r == 0)
                row->is_dirty = false;
        return r;
}

static int delete_overwritten(struct store *store, int64_t last_id)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "DELETE FROM dm_cdc_log_scan_sessions WHERE session_id BETWEEN 1 AND ?", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, last_id - SESSIONS_KEPT);
        return sql_run(stmt);
}

static int write_error(struct store *store, const struct session_error_row *row)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(
                store, "INSERT INTO dm_cdc_errors VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, row->session_id);
        sqlite3_bind_int(stmt, 2, row->error.phase);
        sqlite3_bind_int(stmt, 4, row->error.number);
        sqlite3_bind_int(stmt, 5, row->error.severity);
        sqlite3_bind_int(stmt, 6, row->error.state);
        r = sql_bind_time(stmt, 3, row->entry_ns);
        if (r == 0)
                r = sql_bind_text(stmt, 7, row->message);
        if (r == 0)
                r = bind_lsn_text(stmt, 8, row->error.start_lsn);
        if (r == 0)
                r = bind_lsn_text(stmt, 9, row->error.begin_lsn);
        if (r == 0)
                r = bind_lsn_text(stmt, 10, row->error.sequence_value);
        return r < 0 ? r : sql_run(stmt);
}

static int write_errors(struct sessions *sessions, struct store *store)
{
        if (!sessions->are_errors_dirty)
                return 0;
        int r = sql_execute(store_db(store), "DELETE FROM dm_cdc_errors");
        for (size_t i = 0; r == 0 && i < sessions->error_count; i++)
                r = write_error(store, &sessions->errors[i]);
        if (r == 0)
                sessions->are_errors_dirty = false;
        return r;
}

int sessions_flush(struct sessions *sessions, struct store *store)
{
        int64_t oldest = sessions->last_id - SESSIONS_KEPT + 1;
        int r = 0;
        if (sessions->is_fresh)
                r = sql_execute(store_db(store),
                        "DELETE FROM dm_cdc_log_scan_sessions; DELETE FROM dm_cdc_errors");
        for (int64_t id = oldest > 1 ? oldest : 1; r == 0 && id <= sessions->last_id; id++)
                r = write_row(store, &sessions->rows[id % SESSIONS_KEPT]);
        if (r == 0)
                r = write_row(store, &sessions->aggregate);
        if (r == 0)
                r = delete_overwritten(store, sessions->last_id);
        if (r == 0)
                r = write_errors(sessions, store);
        if (r == 0)
                sessions->is_fresh = false;
        return r;
}

void sessions_unflush(struct sessions *sessions)
{
        for (size_t i = 0; i < SESSIONS_KEPT; i++)
                sessions->rows[i].is_dirty = true;
        sessions->aggregate.is_dirty = sessions->aggregate.start_ns != 0;
        sessions->are_errors_dirty = true;
        sessions->is_fresh = true;
}
