/* SPDX-License-Identifier: MIT
 *
 * functions: reads arguments, asks validity, opens the iterator. It refuses to know who calls.
 */
#include "faces/functions.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "faces/timerange.h"
#include "faces/validity.h"
#include "memory/mapping.h"
#include "memory/sql.h"

enum { NUMBER_NO_OBJECT = 22981, NUMBER_RANGE = 313 };

int functions_find_instance(
        sqlite3 *store, const char *name, struct problem *problem, int64_t *ret_object_id)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(store,
                "SELECT object_id FROM change_tables WHERE capture_instance = ? COLLATE BINARY", -1,
                &stmt, NULL));
        if (r < 0 || (r = sql_bind_text(stmt, 1, name)) < 0 || (r = sql_next(stmt)) < 0)
                return r;
        if (r == 0)
                return problem_set(problem, ENOENT, NUMBER_NO_OBJECT,
                        "there is no capture instance '%s'; cdcctl help-change-data-capture lists "
                        "them",
                        name ? name : "");
        *ret_object_id = sqlite3_column_int64(stmt, 0);
        return 0;
}

/* ---- change functions ---- */

int functions_parse_all(const char *text, struct problem *problem, enum changes_filter *ret_filter)
{
        if (changes_parse_filter(text, ret_filter) == 0)
                return 0;
        return problem_set(problem, EINVAL, NUMBER_RANGE,
                "there is no row filter '%s' of all changes, but 'all' and 'all update old'",
                text ? text : "");
}

int functions_parse_net(
        const char *text, struct problem *problem, enum netchanges_filter *ret_filter)
{
        if (netchanges_parse_filter(text, ret_filter) == 0)
                return 0;
        return problem_set(problem, EINVAL, NUMBER_RANGE,
                "there is no row filter '%s' of net changes, but 'all', 'all with mask' and 'all "
                "with merge'",
                text ? text : "");
}

/* A window that was judged. */
struct opening {
        int64_t object_id;
        struct lsn from;
        struct lsn to;
};

static int judge(sqlite3 *store, const struct functions_window *window, bool is_net,
        struct problem *problem, struct opening *ret_opening)
{
        struct opening opening = {0};
        int r = functions_find_instance(store, window->instance, problem, &opening.object_id);
        if (r == 0 && is_net)
                r = netchanges_check(store, opening.object_id, problem);
        if (r == 0)
                r = validity_parse(window->from, window->to, &opening.from, &opening.to, problem);
        if (r == 0)
                r = validity_check(store, opening.object_id, opening.from, opening.to, problem);
        /* -EAGAIN with words is "nothing new yet", and without them a store that is busy. */
        if (r == -EAGAIN && problem && !problem->message[0])
                return -EBUSY;
        if (r == 0)
                *ret_opening = opening;
        return r;
}

static int not_again(int r)
{
        return r == -EAGAIN ? -EBUSY : r;
}

int functions_get_all(sqlite3 *store, const struct functions_window *window,
        struct problem *problem, struct changes **ret_changes)
{
        enum changes_filter filter = CHANGES_ALL_UPDATE_OLD;
        struct opening opening = {0};
        int r = window->filter ? functions_parse_all(window->filter, problem, &filter) : 0;
        if (r == 0)
                r = judge(store, window, false, problem, &opening);
        if (r < 0)
                return r;
        return not_again(changes_open(
                store, opening.object_id, opening.from, opening.to, filter, ret_changes));
}

int functions_get_net(sqlite3 *store, const struct functions_window *window,
        struct problem *problem, struct netchanges **ret_net)
{
        enum netchanges_filter filter = NETCHANGES_ALL_WITH_MASK;
        struct opening opening = {0};
        int r = window->filter ? functions_parse_net(window->filter, problem, &filter) : 0;
        if (r == 0)
                r = judge(store, window, true, problem, &opening);
        if (r < 0)
                return r;
        return not_again(netchanges_open(
                store, opening.object_id, opening.from, opening.to, filter, ret_net));
}

/* ---- scalars ---- */

int functions_map_time(sqlite3 *store, const char *operator_text, const char *time,
        struct problem *problem, struct lsn *ret_lsn)
{
        enum mapping_operator comparison;
        struct mapping_row row;
        int64_t wall_ns;
        if (mapping_parse_operator(operator_text, &comparison) < 0)
                return problem_set(problem, EINVAL, 0,
                        "there is no relational operator '%s', but 'largest less than', 'largest "
                        "less than or equal', 'smallest greater than' and 'smallest greater than "
                        "or equal'",
                        operator_text);
        int r = timerange_parse("the time", time, &wall_ns, problem);
        if (r == 0)
                r = mapping_find_time(store, comparison, wall_ns, &row);
        if (r > 0)
                *ret_lsn = row.start_lsn;
        return r;
}

int functions_map_lsn(sqlite3 *store, struct lsn lsn, int64_t *ret_wall_ns)
{
        struct mapping_row row;
        int r = mapping_find_lsn(store, lsn, &row);
        if (r > 0)
                *ret_wall_ns = row.end_ns;
        return r;
}

int functions_find_column(
        sqlite3 *store, int64_t object_id, const char *column, unsigned *ret_ordinal)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(store,
                "SELECT column_ordinal FROM captured_columns WHERE object_id = ?"
                " AND column_name = ? COLLATE NOCASE",
                -1, &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_bind_text(stmt, 2, column);
        if (r == 0)
                r = sql_next(stmt);
        if (r > 0)
                *ret_ordinal = (unsigned)sqlite3_column_int(stmt, 0);
        return r;
}

static int hex_digit(char c)
{
        static const char digits[] = "0123456789abcdef";
        const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
        return found ? (int)(found - digits) : -1;
}

int functions_parse_mask(const char *text, struct buf *mask, struct problem *problem)
{
        const char *at = text;
        if (strncmp(at, "\\x", 2) == 0 || strncasecmp(at, "0x", 2) == 0)
                at += 2;
        for (; *at; at += 2) {
                int high = hex_digit(at[0]), low = high < 0 ? -1 : hex_digit(at[1]);
                if (low < 0)
                        return problem_set(problem, EINVAL, 0,
                                "'%s' is no update mask (write \\x and hex digits)", text);
                buf_append_byte(mask, (uint8_t)(high << 4 | low));
        }
        return buf_error(mask);
}
