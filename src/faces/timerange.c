/* SPDX-License-Identifier: MIT
 *
 * timerange: finds the ends of a window in lsn_time_mapping, and refuses windows whose ends are
 * not captured or no longer kept. Times never fall from LSN to LSN, which is all it relies on.
 */
#include "faces/timerange.h"

#include <errno.h>

#include "faces/validity.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/mapping.h"
#include "memory/sql.h"

enum { TIMERANGE_NUMBER = 313 };

/* The interval in time. */
struct limits {
        struct validity validity;
        int64_t min_ns; /* whatever was committed before min_lsn was so at this time or before */
        int64_t max_ns; /* everything committed until then is captured */
};

int timerange_parse(
        const char *name, const char *text, int64_t *ret_wall_ns, struct problem *problem)
{
        if (clock_parse(text, ret_wall_ns) == 0)
                return 0;
        return problem_set(problem, EINVAL, 0,
                "%s is no time: '%s' (write 2026-11-30T10:00:00Z, with up to six decimals)", name,
                text);
}

/* The first row at or after min_lsn stands for those before it, which may be cleaned up. */
static int read_min_time(sqlite3 *store, struct lsn min, int64_t *ret_min_ns)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(store,
                "SELECT tran_end_time FROM lsn_time_mapping WHERE start_lsn >= ?"
                " ORDER BY rowid LIMIT 1",
                -1, &stmt, NULL));
        if (r == 0)
                r = sql_bind_lsn(stmt, 1, min);
        if (r == 0)
                r = sql_next(stmt);
        *ret_min_ns = r > 0 ? sql_column_time(stmt, 0) : 0;
        return r < 0 ? r : 0;
}

static int read_max_time(sqlite3 *store, int64_t as_of_ns, int64_t *ret_max_ns)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(
                store, "SELECT last_commit_time_ns FROM cdcfs_state", -1, &stmt, NULL));
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        int64_t last_ns = sqlite3_column_int64(stmt, 0);
        *ret_max_ns = last_ns > as_of_ns ? last_ns : as_of_ns;
        return 0;
}

static int read_limits(
        sqlite3 *store, int64_t object_id, int64_t as_of_ns, struct limits *ret_limits)
{
        int r = validity_read(store, object_id, &ret_limits->validity);
        if (r == 0)
                r = read_min_time(store, ret_limits->validity.min, &ret_limits->min_ns);
        return r < 0 ? r : read_max_time(store, as_of_ns, &ret_limits->max_ns);
}

static int refuse(const struct limits *limits, const char *name, int64_t asked_ns, const char *why,
        struct problem *problem)
{
        char min[CLOCK_TEXT_SIZE], max[CLOCK_TEXT_SIZE], asked[CLOCK_TEXT_SIZE];
        clock_format(limits->min_ns, min);
        clock_format(limits->max_ns, max);
        clock_format(asked_ns, asked);
        return problem_set(problem, ERANGE, TIMERANGE_NUMBER,
                "%s %s is outside the validity interval, which is [%s, %s] in time: %s", name,
                asked, min, max, why);
}

static int refuse_reversed(const struct timerange *window, struct problem *problem)
{
        char from[CLOCK_TEXT_SIZE], to[CLOCK_TEXT_SIZE];
        clock_format(window->from_ns, from);
        clock_format(window->to_ns, to);
        return problem_set(problem, EINVAL, TIMERANGE_NUMBER,
                "from_time is after to_time: the window (%s, %s] is reversed", from, to);
}

static int check_ends(
        const struct timerange *window, const struct limits *limits, struct problem *problem)
{
        if (limits->validity.is_pending)
                return problem_set(problem, ERANGE, TIMERANGE_NUMBER,
                        "there is no validity interval yet: the instance is pending until an agent "
                        "captures it (run cdcctl agent or cdcfs)");
        if (window->has_from && window->has_to && window->from_ns > window->to_ns)
                return refuse_reversed(window, problem);
        if (window->has_to && window->to_ns < limits->min_ns)
                return refuse(
                        limits, "to_time", window->to_ns, "nothing of the window is kept", problem);
        if (window->has_from && window->from_ns < limits->min_ns)
                return refuse(limits, "from_time", window->from_ns,
                        "what was committed before it begins is not kept", problem);
        if (window->has_to && window->to_ns > limits->max_ns)
                return refuse(limits, "to_time", window->to_ns,
                        "nobody has read the log that far yet", problem);
        return 0;
}

static int find_from(sqlite3 *store, const struct timerange *window, const struct limits *limits,
        struct lsn *ret_from)
{
        struct mapping_row before;
        *ret_from = limits->validity.min;
        if (!window->has_from)
                return 0;
        int r = mapping_find_time(
                store, MAPPING_LARGEST_LESS_THAN_OR_EQUAL, window->from_ns, &before);
        if (r > 0 && lsn_compare(before.start_lsn, *ret_from) >= 0)
                *ret_from = lsn_increment(before.start_lsn);
        return r < 0 ? r : 0;
}

/* The last LSN of which it is not known that it was committed too late: the end of what a gap may
 * not touch. */
static int find_to(sqlite3 *store, const struct timerange *window, const struct limits *limits,
        struct lsn *ret_to)
{
        struct mapping_row last, after;
        *ret_to = limits->validity.max;
        if (!window->has_to)
                return 0;
        int r = mapping_find_time(store, MAPPING_LARGEST_LESS_THAN_OR_EQUAL, window->to_ns, &last);
        if (r > 0 && last.end_ns == window->to_ns) {
                *ret_to = last.start_lsn;
                return 0;
        }
        if (r >= 0)
                r = mapping_find_time(store, MAPPING_SMALLEST_GREATER_THAN, window->to_ns, &after);
        if (r >= 0)
                *ret_to = lsn_decrement(r > 0 ? after.start_lsn : (struct lsn){{0}});
        return r < 0 ? r : 0;
}

static struct lsn later(struct lsn a, struct lsn b)
{
        return lsn_compare(a, b) > 0 ? a : b;
}

int timerange_find(sqlite3 *store, int64_t object_id, const struct timerange *window,
        struct lsn *ret_from, struct lsn *ret_to, struct problem *problem)
{
        struct limits limits;
        struct lsn from, to;
        int r = read_limits(store, object_id, window->as_of_ns, &limits);
        if (r == 0)
                r = check_ends(window, &limits, problem);
        if (r == 0)
                r = find_from(store, window, &limits, &from);
        if (r == 0)
                r = find_to(store, window, &limits, &to);
        if (r < 0)
                return r;
        /* Of an instance that has stopped, nobody may wait for more: its gap begins at `from`. */
        r = validity_check_gap(store, object_id, from, later(from, to), problem);
        if (lsn_compare(to, limits.validity.max) > 0)
                to = limits.validity.max;
        if (r < 0 || lsn_compare(from, to) > 0)
                return r;
        *ret_from = from;
        *ret_to = to;
        return 1;
}
