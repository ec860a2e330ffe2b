/* SPDX-License-Identifier: MIT
 *
 * query_changes: the change functions, over a range of LSNs or a window of time.
 *
 * A range is judged and its rows are read in one read transaction, which ends with the rows.
 */
#include <string.h>

#include "cdc.h"
#include "desk/call.h"
#include "desk/query.h"
#include "desk/rows.h"
#include "faces/functions.h"
#include "faces/timerange.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/state.h"
#include "source/look.h"

static int open_reading(
        const struct cdc_database *database, struct problem *problem, struct store **ret_store)
{
        _cleanup_(store_closep) struct store *store = NULL;
        int r = query_not_again(query_open(database, problem, &store));
        if (r == 0)
                r = query_not_again(store_begin_read(store));
        if (r == 0)
                *ret_store = steal(store);
        return r;
}

CDC_API int cdc_get_all_changes(const struct cdc_database *database, const char *instance,
        const char *from, const char *to, const char *row_filter, struct cdc_rows **ret_rows,
        struct cdc_error *ret_error)
{
        const struct functions_window window = {instance, from, to, row_filter};
        struct problem problem = {0};
        _cleanup_(store_closep) struct store *store = NULL;
        struct changes *changes = NULL;
        int r = open_reading(database, &problem, &store);
        if (r == 0)
                r = functions_get_all(store_db(store), &window, &problem, &changes);
        if (r == 0)
                r = rows_of_changes(steal(store), changes, ret_rows);
        return call_answer(r, &problem, ret_error);
}

CDC_API int cdc_get_net_changes(const struct cdc_database *database, const char *instance,
        const char *from, const char *to, const char *row_filter, struct cdc_rows **ret_rows,
        struct cdc_error *ret_error)
{
        const struct functions_window window = {instance, from, to, row_filter};
        struct problem problem = {0};
        _cleanup_(store_closep) struct store *store = NULL;
        struct netchanges *net = NULL;
        int r = open_reading(database, &problem, &store);
        if (r == 0)
                r = functions_get_net(store_db(store), &window, &problem, &net);
        if (r == 0)
                r = rows_of_net(steal(store), net, ret_rows);
        return call_answer(r, &problem, ret_error);
}

/* ---- by time ---- */

/* A moment before the question whose commits, and all before them, are captured; 0 where that
 * cannot be told. Only while an agent runs does the log keep what is not captured. */
static int find_as_of(
        const struct cdc_database *database, struct look_log *ret_log, int64_t *ret_moment_ns)
{
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        int64_t now_ns = clock_wall(NULL);
        pid_t pid;
        *ret_moment_ns = 0;
        int r = call_find_paths(database, &paths);
        if (r < 0)
                return r;
        if (call_find_agent(paths.source, &pid) > 0 && look_at_log(paths.source, ret_log) > 0)
                *ret_moment_ns = now_ns;
        return 0;
}

static bool has_captured(const struct state *state, const struct look_log *log)
{
        if (log->frames == 0)
                return true;
        return memcmp(log->salt, state->wal_salt, sizeof(log->salt)) == 0 &&
               state->wal_frame >= log->frames;
}

/* What was asked by time. */
struct asked {
        const struct cdc_database *database;
        const char *instance;
        const char *from_time;
        const char *to_time;
        const char *filter;
};

static int parse_window(
        const struct asked *asked, struct timerange *window, struct problem *problem)
{
        int r = 0;
        window->has_from = asked->from_time;
        window->has_to = asked->to_time;
        if (window->has_from)
                r = timerange_parse("from_time", asked->from_time, &window->from_ns, problem);
        if (r == 0 && window->has_to)
                r = timerange_parse("to_time", asked->to_time, &window->to_ns, problem);
        return r;
}

/* The log is looked at before the store, so that the store cannot be behind what was seen. */
static int open_window(const struct asked *asked, struct timerange *window, struct problem *problem,
        struct store **ret_store)
{
        _cleanup_(state_release) struct state state = {0};
        struct look_log log = {0};
        int r = parse_window(asked, window, problem);
        if (r == 0)
                r = find_as_of(asked->database, &log, &window->as_of_ns);
        if (r == 0)
                r = open_reading(asked->database, problem, ret_store);
        if (r == 0)
                r = state_load(*ret_store, &state);
        if (r == 0 && !has_captured(&state, &log))
                window->as_of_ns = 0;
        return query_not_again(r);
}

/* The change numbers of the window, none where it is empty. */
static int find_range(sqlite3 *db, int64_t object_id, const struct timerange *window,
        struct problem *problem, struct changes_range *ret_range)
{
        struct lsn from, to;
        int r = timerange_find(db, object_id, window, &from, &to, problem);
        *ret_range = (struct changes_range){1, 0};
        if (r > 0)
                r = changes_find_range(db, from, to, ret_range);
        return r < 0 ? query_not_again(r) : 0;
}

static int get_all(const struct asked *asked, enum changes_filter filter, struct problem *problem,
        struct cdc_rows **ret_rows)
{
        _cleanup_(store_closep) struct store *store = NULL;
        struct timerange window = {0};
        struct changes_range range;
        struct changes *changes = NULL;
        int64_t object_id;
        int r = open_window(asked, &window, problem, &store);
        if (r == 0)
                r = functions_find_instance(store_db(store), asked->instance, problem, &object_id);
        if (r == 0)
                r = find_range(store_db(store), object_id, &window, problem, &range);
        if (r == 0)
                r = changes_open_range(store_db(store), object_id, range, filter, &changes);
        return r < 0 ? r : rows_of_changes(steal(store), changes, ret_rows);
}

static int get_net(const struct asked *asked, enum netchanges_filter filter,
        struct problem *problem, struct cdc_rows **ret_rows)
{
        _cleanup_(store_closep) struct store *store = NULL;
        struct timerange window = {0};
        struct changes_range range;
        struct netchanges *net = NULL;
        int64_t object_id;
        int r = open_window(asked, &window, problem, &store);
        if (r == 0)
                r = functions_find_instance(store_db(store), asked->instance, problem, &object_id);
        if (r == 0)
                r = netchanges_check(store_db(store), object_id, problem);
        if (r == 0)
                r = find_range(store_db(store), object_id, &window, problem, &range);
        if (r == 0)
                r = netchanges_open_range(store_db(store), object_id, range, filter, &net);
        return r < 0 ? r : rows_of_net(steal(store), net, ret_rows);
}

CDC_API int cdc_get_all_changes_by_time(const struct cdc_database *database, const char *instance,
        const char *from_time, const char *to_time, const char *row_filter,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error)
{
        const struct asked asked = {database, instance, from_time, to_time, row_filter};
        enum changes_filter filter = CHANGES_ALL_UPDATE_OLD;
        struct problem problem = {0};
        int r = row_filter ? functions_parse_all(row_filter, &problem, &filter) : 0;
        if (r == 0)
                r = get_all(&asked, filter, &problem, ret_rows);
        return call_answer(r, &problem, ret_error);
}

CDC_API int cdc_get_net_changes_by_time(const struct cdc_database *database, const char *instance,
        const char *from_time, const char *to_time, const char *row_filter,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error)
{
        const struct asked asked = {database, instance, from_time, to_time, row_filter};
        enum netchanges_filter filter = NETCHANGES_ALL_WITH_MASK;
        struct problem problem = {0};
        int r = row_filter ? functions_parse_net(row_filter, &problem, &filter) : 0;
        if (r == 0)
                r = get_net(&asked, filter, &problem, ret_rows);
        return call_answer(r, &problem, ret_error);
}
