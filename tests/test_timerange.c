/* SPDX-License-Identifier: MIT
 *
 * timerange: windows of time as ranges of LSNs, and every reason to refuse one.
 */
#include "faces/timerange.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "changes_fixture.h"
#include "ground/clock.h"

/* Frame N was committed N seconds after the fixture's moment; main_t from frame 10 to 50, with a
 * gap from 22 to 28; 40 and 41 at the same time; main_stopped stopped at 51. */
struct fixture {
        struct store_fixture f;
        int64_t id, stopped, pending;
};

static struct fixture setup(void)
{
        static const uint32_t frames[] = {15, 20, 30, 40, 41, 50};
        struct fixture x;
        store_fixture_open(&x.f, TEXT_UTF8);
        x.id = changes_fixture_enable(&x.f, "main_t");
        x.stopped = changes_fixture_enable(&x.f, "main_stopped");
        x.pending =
                store_fixture_enable(&x.f, "CREATE TABLE u(x); CREATE TABLE v(x)", "v", "main_v");
        changes_fixture_recognise(&x.f, x.id, 10);
        changes_fixture_recognise(&x.f, x.stopped, 10);
        for (unsigned i = 0; i < COUNT(frames); i++)
                changes_fixture_commit(&x.f, x.id, frames[i], "u1");
        changes_fixture_gap(&x.f, 0, 22, 28);
        changes_fixture_gap(&x.f, x.stopped, 51, 0);
        store_fixture_check(sql_execute(store_db(x.f.store),
                                    "UPDATE lsn_time_mapping SET tran_end_time = "
                                    "(SELECT tran_end_time FROM lsn_time_mapping WHERE start_lsn ="
                                    " x'00000001000000280001') WHERE start_lsn = "
                                    "x'00000001000000290001'"),
                "UPDATE");
        return x;
}

enum { NONE = -1 };

static int64_t moment(int seconds)
{
        return STORE_FIXTURE_NOW + seconds * INT64_C(1000000000);
}

static struct timerange window_of(int from, int to, int as_of)
{
        return (struct timerange){.has_from = from != NONE,
                .has_to = to != NONE,
                .from_ns = moment(from),
                .to_ns = moment(to),
                .as_of_ns = as_of ? moment(as_of) : 0};
}

static const struct {
        const char *name;
        int from, to, as_of; /* seconds */
        int result;
        int number;
        const char *word;                 /* in the message */
        uint32_t first_frame, last_frame; /* of the mapping rows in the range, 0 = none */
} windows[] = {
        {"half open", 10, 20, 0, 1, 0, NULL, 15, 20},
        {"the next one", 20, 20, 0, 0, 0, NULL, 0, 0},
        {"between commits", 16, 19, 0, 1, 0, NULL, 0, 0},
        {"from a moment before", 14, 15, 0, 1, 0, NULL, 15, 15},
        {"two at one time, at the end", 30, 40, 0, 1, 0, NULL, 40, 41},
        {"two at one time, at the start", 40, 50, 0, 1, 0, NULL, 50, 50},
        {"from min_lsn", NONE, 15, 0, 1, 0, NULL, 10, 15},
        {"to max_lsn", 30, NONE, 0, 1, 0, NULL, 40, 50},
        {"from max_time", 50, NONE, 0, 0, 0, NULL, 0, 0},
        {"from max_time to as_of", 50, 60, 60, 0, 0, NULL, 0, 0},
        {"to as_of", 41, 60, 60, 1, 0, NULL, 50, 50},
        {"later than max_time", 30, 51, 0, -ERANGE, 313, "to_time", 0, 0},
        {"later than as_of", 30, 61, 60, -ERANGE, 313, "nobody has read", 0, 0},
        {"names what was asked", 30, 61, 60, -ERANGE, 313, "2026-11-30T10:01:01", 0, 0},
        {"names the interval", 30, 61, 60, -ERANGE, 313, "2026-11-30T10:01:00", 0, 0},
        {"before min", 9, 15, 0, -ERANGE, 313, "from_time", 0, 0},
        {"all before min", 1, 9, 0, -ERANGE, 313, "nothing of the window", 0, 0},
        {"to before min alone", NONE, 9, 0, -ERANGE, 313, "to_time", 0, 0},
        {"reversed", 20, 15, 0, -EINVAL, 313, "from_time is after to_time", 0, 0},
        {"over the gap", 20, 30, 0, -ENODATA, 0, "gap", 0, 0},
        {"to the last before the gap", 15, 20, 0, 1, 0, NULL, 20, 20},
        {"perhaps into the gap", 15, 21, 0, -ENODATA, 0, "gap", 0, 0},
        {"perhaps after the gap", 29, 40, 0, -ENODATA, 0, "gap", 0, 0},
        {"from the first after the gap", 30, 39, 0, 1, 0, NULL, 0, 0},
        {"in the gap alone", 23, 25, 0, -ENODATA, 0, "the log was reset", 0, 0},
        {"all", NONE, NONE, 0, -ENODATA, 0, "gap", 0, 0},
};

static void count_mapped(
        struct fixture *x, struct lsn from, struct lsn to, uint32_t *ret_first, uint32_t *ret_last)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        struct lsn lsn;
        *ret_first = *ret_last = 0;
        sqlite3_prepare_v2(store_db(x->f.store),
                "SELECT start_lsn FROM lsn_time_mapping WHERE start_lsn BETWEEN ? AND ?"
                " ORDER BY start_lsn",
                -1, &stmt, NULL);
        sql_bind_lsn(stmt, 1, from);
        sql_bind_lsn(stmt, 2, to);
        while (sql_next(stmt) > 0) {
                sql_column_lsn(stmt, 0, &lsn);
                *ret_first = *ret_first ? *ret_first : lsn_frame(lsn);
                *ret_last = lsn_frame(lsn);
        }
}

Test(timerange, finds_the_transactions_of_a_window)
{
        struct fixture x = setup();
        for (unsigned i = 0; i < COUNT(windows); i++) {
                struct timerange window =
                        window_of(windows[i].from, windows[i].to, windows[i].as_of);
                struct problem problem = {0};
                struct lsn from, to;
                uint32_t first = 0, last = 0;
                int r = timerange_find(store_db(x.f.store), x.id, &window, &from, &to, &problem);
                cr_expect_eq(
                        r, windows[i].result, "%s: %d %s", windows[i].name, r, problem.message);
                cr_expect_eq(problem.number, windows[i].number, "%s", windows[i].name);
                if (windows[i].word)
                        cr_expect_not_null(strstr(problem.message, windows[i].word), "%s: %s",
                                windows[i].name, problem.message);
                if (r > 0)
                        count_mapped(&x, from, to, &first, &last);
                cr_expect_eq(first, windows[i].first_frame, "%s: %u", windows[i].name, first);
                cr_expect_eq(last, windows[i].last_frame, "%s: %u", windows[i].name, last);
        }
        store_fixture_close(&x.f);
}

Test(timerange, refuses_instances_that_cannot_answer)
{
        struct fixture x = setup();
        sqlite3 *db = store_db(x.f.store);
        struct timerange window = window_of(30, 50, 0);
        struct timerange late = window_of(50, 60, 60);
        struct problem problem = {0};
        struct lsn from, to;
        cr_expect_eq(timerange_find(db, x.pending, &window, &from, &to, &problem), -ERANGE);
        cr_expect_not_null(strstr(problem.message, "pending"), "%s", problem.message);
        cr_expect_eq(timerange_find(db, 99, &window, &from, &to, NULL), -ENOENT);
        cr_expect_eq(timerange_find(db, x.stopped, &window, &from, &to, NULL), 1);
        cr_expect_eq(timerange_find(db, x.stopped, &late, &from, &to, &problem), -ENODATA);
        store_fixture_close(&x.f);
}

Test(timerange, reads_times)
{
        int64_t wall_ns = 0;
        struct problem problem = {0};
        cr_expect_eq(timerange_parse("it", "2026-11-30T10:00:00Z", &wall_ns, NULL), 0);
        cr_expect_eq(wall_ns, STORE_FIXTURE_NOW);
        cr_expect_eq(timerange_parse("it", "2026-11-30T10:00:00.5Z", &wall_ns, NULL), 0);
        cr_expect_eq(timerange_parse("it", "yesterday", &wall_ns, &problem), -EINVAL);
        cr_expect_not_null(strstr(problem.message, "it is no time: 'yesterday'"));
}
