/* SPDX-License-Identifier: MIT
 *
 * status: what runs, how far it is and what is wrong, as rows of name and value.
 *
 * The facts go into a small table in memory, so that they are rows like all others. It judges
 * nothing, and reads the source by no other way than its lock and the header of its wal-index.
 */
#include <errno.h>
#include <string.h>

#include "cdc.h"
#include "desk/call.h"
#include "desk/rows.h"
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/history.h"
#include "memory/sql.h"
#include "memory/state.h"
#include "source/look.h"

struct facts {
        sqlite3 *db; /* owned; table facts(name, value) */
        sqlite3_stmt *insert;
        int error; /* sticky */
};

static void facts_release(struct facts *facts)
{
        sqlite3_finalize(facts->insert);
        sqlite3_close_v2(facts->db);
}

static int facts_open(struct facts *facts)
{
        int r = problem_errno(sqlite3_open(":memory:", &facts->db));
        if (r == 0)
                r = sql_execute(facts->db, "CREATE TABLE facts(name, value)");
        if (r == 0)
                r = problem_errno(sqlite3_prepare_v2(
                        facts->db, "INSERT INTO facts VALUES(?, ?)", -1, &facts->insert, NULL));
        return r;
}

static void add(struct facts *facts, const char *name, int bound)
{
        int r = problem_errno(bound);
        if (r == 0)
                r = sql_bind_text(facts->insert, 1, name);
        if (r == 0)
                r = sql_run(facts->insert);
        if (r < 0 && !facts->error)
                facts->error = r;
}

static void add_text(struct facts *facts, const char *name, const char *text)
{
        add(facts, name, sqlite3_bind_text(facts->insert, 2, text, -1, SQLITE_TRANSIENT));
}

static void add_number(struct facts *facts, const char *name, int64_t number)
{
        add(facts, name, sqlite3_bind_int64(facts->insert, 2, number));
}

static void add_lsn(struct facts *facts, const char *name, struct lsn lsn)
{
        char text[LSN_TEXT_SIZE];
        lsn_format(lsn, text);
        add_text(facts, name, lsn_is_zero(lsn) ? NULL : text);
}

static void add_time(struct facts *facts, const char *name, int64_t wall_ns)
{
        char text[CLOCK_TEXT_SIZE];
        if (wall_ns != 0)
                clock_format(wall_ns, text);
        add_text(facts, name, wall_ns != 0 ? text : NULL);
}

/* The columns of the first row of a SELECT, by their names. */
static int add_select(struct facts *facts, sqlite3 *store, const char *sql)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(store, sql, -1, &stmt, NULL));
        if (r < 0 || (r = sql_next(stmt)) <= 0)
                return r;
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
                bool is_text = sqlite3_column_type(stmt, i) == SQLITE_TEXT;
                if (is_text)
                        add_text(facts, sqlite3_column_name(stmt, i),
                                (const char *)sqlite3_column_text(stmt, i));
                else
                        add_number(
                                facts, sqlite3_column_name(stmt, i), sqlite3_column_int64(stmt, i));
        }
        return 0;
}

static int add_agent(struct facts *facts, const char *source, const struct state *state)
{
        pid_t pid = 0;
        int r = call_find_agent(source, &pid);
        if (r < 0)
                return r;
        add_text(facts, "agent", r > 0 ? "running" : "none");
        if (pid > 0)
                add_number(facts, "pid", pid);
        add_text(facts, "capture",
                state->capture_stopped ? "stopped"
                : r > 0                ? "running"
                                       : "no agent");
        return 0;
}

static void add_position(struct facts *facts, const char *source, const struct state *state)
{
        struct look_log log;
        add_lsn(facts, "min_lsn", state->has_min_lsn ? state->min_lsn : (struct lsn){{0}});
        add_lsn(facts, "max_lsn", state->max_lsn);
        add_time(facts, "max_time", state->last_commit_time_ns);
        if (look_at_log(source, &log) <= 0) {
                add_text(facts, "uncaptured_frames", NULL);
                return;
        }
        bool is_same = memcmp(log.salt, state->wal_salt, sizeof(log.salt)) == 0;
        uint32_t captured = is_same && state->wal_frame <= log.frames ? state->wal_frame : 0;
        add_number(facts, "uncaptured_frames", log.frames - captured);
}

/* "main_orders: " for a gap of one instance, "" for one of the whole database. */
static int find_owner(sqlite3 *store, int64_t object_id, char **ret_owner)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(store,
                "SELECT coalesce((SELECT capture_instance || ': ' FROM change_tables "
                "WHERE object_id = ?), '')",
                -1, &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_next(stmt);
        return r <= 0 ? r : sql_column_string(stmt, 0, ret_owner);
}

static int add_gap(struct facts *facts, sqlite3 *store, const struct history_gap *gap)
{
        char from[LSN_TEXT_SIZE], to[LSN_TEXT_SIZE];
        _cleanup_free_ char *owner = NULL;
        _cleanup_(buf_release) struct buf line = BUF_INIT;
        int r = find_owner(store, gap->object_id, &owner);
        if (r < 0)
                return r;
        lsn_format(gap->from, from);
        lsn_format(gap->to, to);
        buf_append_format(&line, "%sfrom %s %s%s: %s", owner, from, gap->is_open ? "on" : "to ",
                gap->is_open ? "" : to, gap->cause ? gap->cause : "");
        add_text(facts, "gap", buf_string(&line));
        return buf_error(&line);
}

static int add_gaps(struct facts *facts, sqlite3 *store)
{
        _cleanup_(history_gaps_release) struct history_gaps gaps = {0};
        int r = history_load_gaps(store, 0, &gaps);
        if (r < 0)
                return r;
        add_number(facts, "gaps", (int64_t)gaps.count);
        for (size_t i = 0; r >= 0 && i < gaps.count; i++)
                r = add_gap(facts, store, &gaps.items[i]);
        return r;
}

/* Instances that cannot go on, with the reason. */
static int add_stopped(struct facts *facts, sqlite3 *store)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(store,
                "SELECT capture_instance || ': ' || error FROM change_tables "
                "JOIN cdcfs_instances USING(object_id) WHERE error IS NOT NULL ORDER BY object_id",
                -1, &stmt, NULL));
        while (r >= 0 && (r = sql_next(stmt)) > 0)
                add_text(facts, "stopped_instance", (const char *)sqlite3_column_text(stmt, 0));
        return r;
}

/* Instances whose table was dropped: one that was made anew under its name is another table. */
static int add_dropped(struct facts *facts, sqlite3 *store)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(store,
                "SELECT capture_instance FROM change_tables WHERE has_drop_pending"
                " ORDER BY object_id",
                -1, &stmt, NULL));
        while (r >= 0 && (r = sql_next(stmt)) > 0)
                add_text(facts, "dropped_instance", (const char *)sqlite3_column_text(stmt, 0));
        return r;
}

/* What consumers keep from cleanup, and when that ran last. */
static int add_holds(struct facts *facts, sqlite3 *store, int64_t cleaned_ns)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        add_time(facts, "last_cleanup", cleaned_ns);
        int r = problem_errno(sqlite3_prepare_v2(store,
                "SELECT lsn, capture_instance || ': ' || name || ' from ',"
                "  coalesce(', yielded ' || yielded, ', until ' || expires, '') FROM cdcfs_holds"
                " JOIN change_tables USING(object_id) ORDER BY object_id, name",
                -1, &stmt, NULL));
        while (r >= 0 && (r = sql_next(stmt)) > 0) {
                _cleanup_(buf_release) struct buf line = BUF_INIT;
                char text[LSN_TEXT_SIZE];
                struct lsn lsn;
                sql_column_lsn(stmt, 0, &lsn);
                lsn_format(lsn, text);
                buf_append_format(&line, "%s%s%s", (const char *)sqlite3_column_text(stmt, 1), text,
                        (const char *)sqlite3_column_text(stmt, 2));
                add_text(facts, "hold", buf_string(&line));
                r = buf_error(&line);
        }
        return r;
}

static int read_cleaned(sqlite3 *store, int64_t *ret_ns)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(
                sqlite3_prepare_v2(store, "SELECT cleaned_ns FROM cdcfs_state", -1, &stmt, NULL));
        if (r == 0)
                r = sql_next(stmt);
        if (r > 0)
                *ret_ns = sqlite3_column_int64(stmt, 0);
        return r < 0 ? r : 0;
}

static int add_store(struct facts *facts, sqlite3 *store)
{
        static const char counts[] =
                "SELECT (SELECT count(*) FROM change_tables) AS instances,"
                "  (SELECT count(*) FROM change_tables WHERE start_lsn IS NULL)"
                "    AS pending_instances,"
                "  (SELECT count(*) FROM cdcfs_files WHERE mtime_ns IS NOT NULL) AS files,"
                "  (SELECT count(*) FROM dm_cdc_errors) AS errors";
        static const char last_error[] =
                "SELECT entry_time || ' ' || error_message AS last_error FROM dm_cdc_errors "
                "ORDER BY rowid DESC LIMIT 1";
        int64_t cleaned_ns = 0;
        int r = add_select(facts, store, counts);
        if (r >= 0)
                r = add_select(facts, store, last_error);
        if (r >= 0)
                r = add_stopped(facts, store);
        if (r >= 0)
                r = add_dropped(facts, store);
        if (r >= 0)
                r = read_cleaned(store, &cleaned_ns);
        if (r >= 0)
                r = add_holds(facts, store, cleaned_ns);
        return r < 0 ? r : add_gaps(facts, store);
}

static int collect(struct facts *facts, const struct call_paths *paths, struct problem *problem)
{
        _cleanup_(store_closep) struct store *store = NULL;
        _cleanup_(state_release) struct state state = {0};
        int r = call_open_store(paths, STORE_READ, problem, &store);
        if (r == 0)
                r = store_begin_read(store);
        if (r == 0)
                r = state_load(store, &state);
        if (r < 0)
                return r;
        add_text(facts, "database", paths->source);
        add_text(facts, "store", paths->store);
        r = add_agent(facts, paths->source, &state);
        add_position(facts, paths->source, &state);
        return r < 0 ? r : add_store(facts, store_db(store));
}

CDC_API int cdc_status(const struct cdc_database *database, struct cdc_rows **ret_rows,
        struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        _cleanup_(facts_release) struct facts facts = {0};
        _cleanup_(result_close) struct result result = {0};
        int r = call_find_paths(database, &paths);
        if (r == 0)
                r = facts_open(&facts);
        if (r == 0)
                r = collect(&facts, &paths, &problem);
        if (r >= 0)
                r = facts.error;
        if (r == 0)
                r = result_open(&result, facts.db, "SELECT name, value FROM facts ORDER BY rowid");
        if (r == 0)
                r = rows_of_database(steal(facts.db), &result, ret_rows);
        return call_answer(r, &problem, ret_error);
}
