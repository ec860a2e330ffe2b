/* SPDX-License-Identifier: MIT
 *
 * validity: reads the interval from the store and judges a range by it.
 *
 * It refuses to know who asks, and to repair a range: what a consumer gets is the whole of what
 * it asked for, or the reason why not.
 */
#include "faces/validity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "memory/history.h"
#include "memory/sql.h"

enum { VALIDITY_NUMBER = 313 };

/* What the messages speak of. */
struct subject {
        char *name; /* owned; of the instance, or "the database" */
        struct validity validity;
};

static void subject_release(struct subject *subject)
{
        free(subject->name);
}

int validity_parse_lsn(
        const char *name, const char *text, struct lsn *ret_lsn, struct problem *problem)
{
        if (text && lsn_parse(text, ret_lsn) == 0)
                return 0;
        return problem_set(problem, EINVAL, text ? 0 : VALIDITY_NUMBER,
                "%s is no LSN: %s%s%s (write 0000002d:00000580:0001, the 20 digits alone, or 0x "
                "and "
                "20 digits)",
                name, text ? "'" : "", text ? text : "NULL", text ? "'" : "");
}

int validity_parse(const char *from, const char *to, struct lsn *ret_from, struct lsn *ret_to,
        struct problem *problem)
{
        int r = validity_parse_lsn("from_lsn", from, ret_from, problem);
        return r < 0 ? r : validity_parse_lsn("to_lsn", to, ret_to, problem);
}

/* One row of min, max, name. A NULL min is what makes it pending. */
static int read_row(sqlite3_stmt *stmt, struct subject *subject)
{
        int r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        subject->validity.is_pending = !sql_column_lsn(stmt, 0, &subject->validity.min);
        if (!subject->validity.is_pending)
                sql_column_lsn(stmt, 1, &subject->validity.max);
        return sql_column_string(stmt, 2, &subject->name);
}

static int read_subject(sqlite3 *store, int64_t object_id, struct subject *subject)
{
        static const char of_database[] =
                "SELECT min_lsn, max_lsn, 'the database' FROM cdcfs_state";
        static const char of_instance[] =
                "SELECT c.start_lsn, s.max_lsn, c.capture_instance "
                "FROM change_tables AS c, cdcfs_state AS s WHERE c.object_id = ?";
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = sqlite3_prepare_v2(
                store, object_id == 0 ? of_database : of_instance, -1, &stmt, NULL);
        if (r != SQLITE_OK)
                return problem_errno(r);
        if (object_id != 0)
                sqlite3_bind_int64(stmt, 1, object_id);
        return read_row(stmt, subject);
}

int validity_read(sqlite3 *store, int64_t object_id, struct validity *ret_validity)
{
        _cleanup_(subject_release) struct subject subject = {0};
        int r = read_subject(store, object_id, &subject);
        if (r < 0)
                return r;
        *ret_validity = subject.validity;
        return 0;
}

static int check_gap(sqlite3 *store, int64_t object_id, struct lsn from, struct lsn to,
        const struct subject *subject, struct problem *problem)
{
        char gap_from[LSN_TEXT_SIZE], gap_to[LSN_TEXT_SIZE];
        _cleanup_(history_gap_release) struct history_gap gap = {0};
        int r = history_find_gap(store, object_id, from, to, &gap);
        if (r <= 0)
                return r;
        const char *cause = gap.cause ? gap.cause : "cause unknown";
        lsn_format(gap.from, gap_from);
        if (gap.is_open)
                return problem_set(problem, ENODATA, 0,
                        "capture of %s stopped: what changed from %s on is lost (%s); ranges that "
                        "end before it can be read",
                        subject->name, gap_from, cause);
        lsn_format(gap.to, gap_to);
        return problem_set(problem, ENODATA, 0,
                "the range touches a gap of %s: what changed from %s to %s is lost (%s); ranges "
                "before and after it can be read",
                subject->name, gap_from, gap_to, cause);
}

/* The end that is outside; where both are, the one that says more. */
static const char *name_cause(const struct validity *validity, struct lsn from, struct lsn to)
{
        if (lsn_compare(to, validity->min) < 0)
                return "to_lsn is before its min_lsn, so that nothing of the range is kept";
        if (lsn_compare(from, validity->max) > 0)
                return "from_lsn is after its max_lsn, so that nothing of the range is captured "
                       "yet";
        if (lsn_compare(from, validity->min) < 0)
                return "from_lsn is before its min_lsn";
        return "to_lsn is after its max_lsn, which is not captured yet";
}

static int refuse_reversed(struct lsn from, struct lsn to, struct problem *problem)
{
        char asked_from[LSN_TEXT_SIZE], asked_to[LSN_TEXT_SIZE];
        lsn_format(from, asked_from);
        lsn_format(to, asked_to);
        return problem_set(problem, EINVAL, VALIDITY_NUMBER,
                "from_lsn is after to_lsn: the range [%s, %s] is reversed", asked_from, asked_to);
}

static int refuse_outside(
        const struct subject *subject, struct lsn from, struct lsn to, struct problem *problem)
{
        char min[LSN_TEXT_SIZE], max[LSN_TEXT_SIZE], asked_from[LSN_TEXT_SIZE],
                asked_to[LSN_TEXT_SIZE];
        lsn_format(subject->validity.min, min);
        lsn_format(subject->validity.max, max);
        lsn_format(from, asked_from);
        lsn_format(to, asked_to);
        const char *why = name_cause(&subject->validity, from, to);
        return problem_set(problem, ERANGE, VALIDITY_NUMBER,
                "the range [%s, %s] is outside the validity interval of %s, [%s, %s]: %s",
                asked_from, asked_to, subject->name, min, max, why);
}

static int check_interval(
        const struct subject *subject, struct lsn from, struct lsn to, struct problem *problem)
{
        const struct validity *validity = &subject->validity;
        if (validity->is_pending)
                return problem_set(problem, ERANGE, VALIDITY_NUMBER,
                        "%s has no validity interval yet: it is pending until an agent captures it "
                        "(run cdcctl agent or cdcfs)",
                        subject->name);
        if (lsn_compare(from, lsn_increment(validity->max)) == 0 &&
                lsn_compare(to, validity->max) >= 0)
                return problem_set(problem, EAGAIN, 0,
                        "nothing new yet: from_lsn is the LSN after max_lsn; ask again later");
        if (lsn_compare(from, to) > 0)
                return refuse_reversed(from, to, problem);
        if (lsn_compare(from, validity->min) < 0 || lsn_compare(to, validity->max) > 0)
                return refuse_outside(subject, from, to, problem);
        return 0;
}

int validity_check(
        sqlite3 *store, int64_t object_id, struct lsn from, struct lsn to, struct problem *problem)
{
        _cleanup_(subject_release) struct subject subject = {0};
        int r = read_subject(store, object_id, &subject);
        if (r == -ENOENT)
                return problem_set(problem, ENOENT, 0, "there is no such capture instance");
        if (r < 0)
                return r;
        r = check_gap(store, object_id, from, to, &subject, problem);
        return r < 0 ? r : check_interval(&subject, from, to, problem);
}

int validity_check_gap(
        sqlite3 *store, int64_t object_id, struct lsn from, struct lsn to, struct problem *problem)
{
        _cleanup_(subject_release) struct subject subject = {0};
        int r = read_subject(store, object_id, &subject);
        return r < 0 ? r : check_gap(store, object_id, from, to, &subject, problem);
}
