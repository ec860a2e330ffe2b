/* SPDX-License-Identifier: MIT
 *
 * cleanup: where marks go, and what they withdraw. It refuses to delete a row; cleanup_purge.c
 * does.
 */
#include "memory/cleanup.h"

#include <errno.h>
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "memory/holds.h"
#include "memory/instances.h"
#include "memory/mapping.h"
#include "memory/sql.h"
#include "memory/state.h"

/* The number of the first change at or after an LSN; that of the next change if there is none. */
static int first_change_from(struct store *store, struct lsn lsn, uint64_t *ret_number)
{
        static const struct lsn highest = {
                .bytes = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        uint64_t last;
        int r = mapping_find_changes(store_db(store), lsn, highest, ret_number, &last);
        if (r != 0)
                return r < 0 ? r : 0;
        r = store_statement(store, "SELECT next_change FROM cdcfs_state", &stmt);
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        *ret_number = (uint64_t)sqlite3_column_int64(stmt, 0);
        return 0;
}

/* ---- raising ---- */

static int withdraw_files(
        struct store *store, const struct cleanup_now *now, int64_t object_id, struct lsn mark)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_files SET is_withdrawn = 1, withdrawn_ns = ?3"
                " WHERE object_id = ?1 AND from_lsn < ?2 AND to_lsn IS NOT NULL"
                " AND NOT is_withdrawn",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 3, now->running_ns);
        r = sql_bind_lsn(stmt, 2, mark);
        return r < 0 ? r : sql_run(stmt);
}

/* What is open begins at the mark: its rows before it were never in a listed file. */
static int shorten_open_files(struct store *store, int64_t object_id, struct lsn mark)
{
        sqlite3_stmt *stmt = NULL;
        uint64_t number = 0;
        int r = first_change_from(store, mark, &number);
        if (r == 0)
                r = store_statement(store,
                        "UPDATE cdcfs_files SET from_lsn = ?2, first_change = max(first_change, ?3)"
                        " WHERE object_id = ?1 AND from_lsn < ?2 AND to_lsn IS NULL",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 3, (int64_t)number);
        r = sql_bind_lsn(stmt, 2, mark);
        return r < 0 ? r : sql_run(stmt);
}

/* The directory's mtime tells that files went. */
static int touch(struct store *store, const struct cleanup_now *now, int64_t object_id)
{
        sqlite3_stmt *stmt = NULL;
        int64_t mtime_ns = 0;
        int r = state_take_mtime(store, now->wall_ns, &mtime_ns);
        if (r == 0)
                r = store_statement(store,
                        "UPDATE cdcfs_instances SET changed_ns = max(changed_ns + 1, ?2)"
                        " WHERE object_id = ?1",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 2, mtime_ns);
        return sql_run(stmt);
}

static int move_mark(
        struct store *store, const struct cleanup_now *now, int64_t object_id, struct lsn mark)
{
        int r = instances_set_start(store, object_id, mark);
        if (r == 0)
                r = withdraw_files(store, now, object_id, mark);
        if (r == 0)
                r = shorten_open_files(store, object_id, mark);
        return r < 0 ? r : touch(store, now, object_id);
}

/* Files of lsn_time_mapping that lie before the database's interval go, and the open one begins
 * with it, if it does not later. */
static int withdraw_mapping(struct store *store, const struct cleanup_now *now, struct lsn lowest)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_files SET from_lsn = ?1"
                " WHERE object_id = 0 AND to_lsn IS NULL AND from_lsn < ?1",
                &stmt);
        if (r == 0)
                r = sql_bind_lsn(stmt, 1, lowest);
        if (r == 0)
                r = sql_run(stmt);
        if (r == 0)
                r = store_statement(store,
                        "UPDATE cdcfs_files SET is_withdrawn = 1, withdrawn_ns = ?2"
                        " WHERE object_id = 0 AND to_lsn < ?1 AND NOT is_withdrawn",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 2, now->running_ns);
        r = sql_bind_lsn(stmt, 1, lowest);
        if (r == 0)
                r = sql_run(stmt);
        if (r < 0 || sqlite3_changes(store_db(store)) == 0)
                return r;
        return touch(store, now, 0);
}

/* The database's interval begins where the first of its instances' does. */
static int raise_database(struct store *store, const struct cleanup_now *now)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        struct lsn lowest;
        int r = store_statement(store, "SELECT min(start_lsn) FROM change_tables", &stmt);
        if (r == 0)
                r = sql_next(stmt);
        if (r <= 0)
                return r;
        if (!sql_column_lsn(stmt, 0, &lowest))
                return 0;
        r = state_set_min_lsn(store, lowest);
        return r < 0 ? r : withdraw_mapping(store, now, lowest);
}

/* ---- the job ---- */

/* FROM of the first closed file that stays: it holds the border or what is after it, or has not
 * been listed long enough. 1, 0 if none stays, or negative errno. */
static int find_kept_file(struct store *store, int64_t object_id, struct lsn border,
        int64_t listed_before_ns, struct lsn *ret_from)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT min(from_lsn) FROM cdcfs_files WHERE object_id = ?1 AND to_lsn IS NOT NULL"
                " AND NOT is_withdrawn"
                " AND (to_lsn >= ?2 OR mtime_ns IS NULL OR listed_ns IS NULL OR listed_ns > ?3)",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 3, listed_before_ns);
        r = sql_bind_lsn(stmt, 2, border);
        if (r == 0)
                r = sql_next(stmt);
        return r <= 0 ? r : sql_column_lsn(stmt, 0, ret_from);
}

/* Has the change table rows with first <= number < end? */
static int has_rows(
        struct store *store, const struct instance *instance, uint64_t first, uint64_t end)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        buf_append_string(&sql, "SELECT 1 FROM ");
        text_append_identifier(&sql, instance->change_table);
        buf_append_format(&sql, " WHERE %s >= ? AND %s < ? LIMIT 1", instance->rowid_name,
                instance->rowid_name);
        const char *text = buf_string(&sql);
        int r = buf_error(&sql);
        if (r == 0)
                r = problem_errno(sqlite3_prepare_v2(store_db(store), text, -1, &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, (int64_t)(2 * first));
        sqlite3_bind_int64(stmt, 2, (int64_t)(2 * end));
        return sql_next(stmt);
}

/* No closed file is left: the mark is the border, unless rows before it were never listed. */
static int lower_to_open_file(
        struct store *store, const struct instance *instance, struct lsn border, struct lsn *ret_to)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        struct lsn from;
        uint64_t end;
        *ret_to = border;
        int r = store_statement(store,
                "SELECT from_lsn, first_change FROM cdcfs_files WHERE object_id = ?"
                " AND to_lsn IS NULL ORDER BY from_lsn LIMIT 1",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, instance->object_id);
        r = sql_next(stmt);
        if (r <= 0 || !sql_column_lsn(stmt, 0, &from) || lsn_compare(from, border) >= 0)
                return r < 0 ? r : 0;
        uint64_t first = (uint64_t)sqlite3_column_int64(stmt, 1);
        r = first_change_from(store, border, &end);
        if (r == 0)
                r = has_rows(store, instance, first, end);
        if (r > 0)
                *ret_to = from;
        return r < 0 ? r : 0;
}

struct job_run {
        struct store *store;
        const struct cleanup_now *now;
        int64_t retention_ns;
        struct lsn border; /* the first commit that is young enough */
};

/* 1 if the instance's mark rose. */
static int raise_by_job(const struct job_run *run, const struct instance *instance)
{
        struct lsn mark, border = run->border, hold;
        int r = holds_find_lowest(
                store_db(run->store), instance->object_id, run->now->wall_ns, &hold, NULL);
        if (r > 0 && lsn_compare(hold, border) < 0)
                border = hold;
        if (r >= 0)
                r = find_kept_file(run->store, instance->object_id, border,
                        run->now->running_ns - run->retention_ns, &mark);
        if (r == 0)
                r = lower_to_open_file(run->store, instance, border, &mark);
        /* The FROM of what follows a gap may lie above the border. */
        else if (r > 0 && lsn_compare(mark, border) > 0)
                mark = border;
        if (r < 0 || lsn_compare(mark, instance->start_lsn) <= 0)
                return r < 0 ? r : 0;
        r = move_mark(run->store, run->now, instance->object_id, mark);
        return r < 0 ? r : 1;
}

static int find_border(struct job_run *run)
{
        struct mapping_row row;
        sqlite3 *db = store_db(run->store);
        int r = mapping_last(db, &row);
        if (r > 0)
                r = mapping_find_time(db, MAPPING_SMALLEST_GREATER_THAN_OR_EQUAL,
                        row.end_ns - run->retention_ns, &row);
        if (r > 0)
                run->border = row.start_lsn;
        return r;
}

static int raise_each(const struct job_run *run, unsigned *ret_raised)
{
        _cleanup_(instances_release) struct instances instances = {0};
        int r = instances_load(run->store, &instances);
        for (size_t i = 0; r >= 0 && i < instances.count; i++) {
                if (!instances.items[i].has_start)
                        continue;
                r = raise_by_job(run, &instances.items[i]);
                *ret_raised += r > 0;
        }
        return r < 0 ? r : raise_database(run->store, run->now);
}

int cleanup_raise_all(struct store *store, const struct cleanup_now *now, int64_t retention_ns,
        unsigned *ret_raised, struct problem *problem)
{
        struct job_run run = {.store = store, .now = now, .retention_ns = retention_ns};
        *ret_raised = 0;
        int r = find_border(&run);
        if (r < 0)
                return problem_set(problem, -r, 22923, "cleanup finds no commit for its time: %s",
                        store_error(store));
        if (r == 0)
                return 0;
        r = raise_each(&run, ret_raised);
        if (r < 0)
                return problem_set(problem, -r, 22851, "cleanup cannot raise the marks: %s",
                        store_error(store));
        return 0;
}

/* ---- by hand ---- */

static int check_hold(struct store *store, const struct cleanup_now *now, int64_t object_id,
        struct lsn mark, struct problem *problem)
{
        _cleanup_free_ char *name = NULL;
        char text[LSN_TEXT_SIZE];
        struct lsn hold;
        int r = holds_find_lowest(store_db(store), object_id, now->wall_ns, &hold, &name);
        if (r <= 0 || lsn_compare(mark, hold) <= 0)
                return r < 0 ? r : 0;
        lsn_format(hold, text);
        return problem_set(problem, EBUSY, 0,
                "the consumer '%s' holds what begins at %s: let it move on, or remove the hold "
                "(cdcctl hold --remove)",
                name, text);
}

static int refuse_outside(struct lsn mark, struct lsn min, struct lsn max, struct problem *problem)
{
        char texts[3][LSN_TEXT_SIZE];
        lsn_format(mark, texts[0]);
        lsn_format(min, texts[1]);
        lsn_format(max, texts[2]);
        return problem_set(problem, ERANGE, 22957,
                "the low water mark %s is outside the validity interval [%s, %s]", texts[0],
                texts[1], texts[2]);
}

/* Commits of one time stay together. */
static int find_mark(struct store *store, struct lsn *mark, struct problem *problem)
{
        struct mapping_row row;
        char text[LSN_TEXT_SIZE];
        sqlite3 *db = store_db(store);
        int r = mapping_find_lsn(db, *mark, &row);
        if (r > 0)
                r = mapping_find_time(db, MAPPING_SMALLEST_GREATER_THAN_OR_EQUAL, row.end_ns, &row);
        if (r > 0)
                *mark = row.start_lsn;
        lsn_format(*mark, text);
        if (r == 0)
                return problem_set(problem, EINVAL, 22964,
                        "%s is the start_lsn of no row of lsn_time_mapping: take one from there",
                        text);
        return r < 0 ? r : 0;
}

static int read_interval(
        struct store *store, int64_t object_id, struct lsn *ret_min, struct lsn *ret_max)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT start_lsn, max_lsn FROM change_tables, cdcfs_state WHERE object_id = ?",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_next(stmt);
        if (r > 0 && (!sql_column_lsn(stmt, 0, ret_min) || !sql_column_lsn(stmt, 1, ret_max)))
                return 0;
        return r;
}

int cleanup_raise(struct store *store, const struct cleanup_now *now, int64_t object_id,
        struct lsn mark, struct problem *problem)
{
        struct lsn min, max;
        int r = find_mark(store, &mark, problem);
        if (r == 0)
                r = read_interval(store, object_id, &min, &max);
        if (r == 0)
                return problem_set(problem, ERANGE, 22956,
                        "the instance is pending: it has no low water mark that could move");
        if (r < 0)
                return r;
        if (lsn_compare(mark, min) < 0 || lsn_compare(mark, max) > 0)
                return refuse_outside(mark, min, max, problem);
        if (lsn_compare(mark, min) == 0)
                return 0;
        r = check_hold(store, now, object_id, mark, problem);
        if (r == 0)
                r = move_mark(store, now, object_id, mark);
        if (r == 0)
                r = raise_database(store, now);
        return r < 0 ? r : 1;
}
