/* SPDX-License-Identifier: MIT
 *
 * admin_cleanup: sp_cdc_cleanup_change_table, and the holds of consumers.
 *
 * The agent moves a mark, since it counts what is in open files; without one this process holds
 * its place while it does so. It refuses to know what goes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cdc.h"
#include "desk/call.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/cleanup.h"
#include "memory/holds.h"
#include "memory/jobs.h"
#include "memory/running.h"
#include "memory/sql.h"
#include "source/identity.h"

enum { NUMBER_NO_INSTANCE = 22920, NUMBER_NO_LSN = 22964 };

/* What a call works with. */
struct desk {
        struct call_paths paths;
        struct store *store; /* owned */
        struct problem *problem;
        int64_t object_id;
        struct lsn min, max; /* zero while the instance is pending */
};

static void desk_release(struct desk *desk)
{
        store_close(desk->store);
        call_paths_release(&desk->paths);
}

static int find_instance(struct desk *desk, const char *name)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(desk->store,
                "SELECT object_id, start_lsn, max_lsn FROM change_tables, cdcfs_state"
                " WHERE capture_instance = ? COLLATE BINARY",
                &stmt);
        if (r == 0)
                r = sql_bind_text(stmt, 1, name);
        if (r == 0)
                r = sql_next(stmt);
        if (r < 0)
                return r;
        if (r == 0)
                return problem_set(desk->problem, ENOENT, NUMBER_NO_INSTANCE,
                        "there is no capture instance '%s'; cdcctl help-change-data-capture lists "
                        "them",
                        name);
        desk->object_id = sqlite3_column_int64(stmt, 0);
        if (sql_column_lsn(stmt, 1, &desk->min))
                sql_column_lsn(stmt, 2, &desk->max);
        return 0;
}

static int open_desk(const struct cdc_database *database, const char *instance, struct desk *desk)
{
        int r = call_find_paths(database, &desk->paths);
        if (r == 0)
                r = call_open_store(&desk->paths, STORE_WRITE, desk->problem, &desk->store);
        return r < 0 ? r : find_instance(desk, instance);
}

/* ---- cleanup of one table ---- */

struct mark {
        bool is_given;
        struct lsn lsn;
};

static int parse_mark(const char *text, struct problem *problem, struct mark *ret_mark)
{
        *ret_mark = (struct mark){.is_given = text != NULL};
        if (!text || lsn_parse(text, &ret_mark->lsn) == 0)
                return 0;
        return problem_set(problem, EINVAL, NUMBER_NO_LSN,
                "the low water mark is no LSN: '%s' (NULL leaves it where it is)", text);
}

static int raise_alone(struct desk *desk, const struct mark *mark, struct cleanup_now *now)
{
        int r = store_begin(desk->store);
        if (r < 0)
                return r;
        now->wall_ns = clock_wall(NULL);
        r = running_save(desk->store, NULL, &now->running_ns);
        if (r == 0 && mark->is_given)
                r = cleanup_raise(desk->store, now, desk->object_id, mark->lsn, desk->problem);
        if (r >= 0)
                r = store_commit(desk->store);
        if (r < 0)
                store_rollback(desk->store);
        return r < 0 ? r : store_sync(desk->store, desk->problem);
}

static int purge_alone(struct desk *desk, const struct cleanup_now *now, int64_t threshold,
        cdc_notice notice, void *context)
{
        struct cleanup_purge purge = {0};
        struct cleanup_limits limits = {.linger_ns = CLEANUP_LINGER_NS, .threshold = threshold};
        int r;
        do {
                struct problem problem = {0};
                r = cleanup_purge(desk->store, now, &limits, &purge, &problem);
                if (problem.number && notice)
                        notice(context, problem.number, problem.message);
        } while (r > 0);
        /* Who reads keeps the old log; whoever cleans next truncates it. */
        return r == -EAGAIN ? 0 : r;
}

/* While nobody can become the agent. With the source absent nobody can either. */
static int clean_alone(struct desk *desk, const struct mark *mark, int64_t threshold,
        cdc_notice notice, void *context)
{
        struct identity identity = {.fd = -1};
        struct cleanup_now now = {0};
        struct problem refusal = {0};
        int r = identity_claim(desk->paths.source, &identity, &refusal);
        if (r < 0 && r != -ENOENT) {
                *desk->problem = refusal;
                return r;
        }
        r = raise_alone(desk, mark, &now);
        if (r == 0)
                r = purge_alone(desk, &now, threshold, notice, context);
        identity_release(&identity);
        return r;
}

static int clean(struct desk *desk, const struct mark *mark, int64_t threshold, cdc_notice notice,
        void *context)
{
        char text[LSN_TEXT_SIZE] = "-", argument[96];
        if (mark->is_given)
                lsn_format(mark->lsn, text);
        snprintf(argument, sizeof(argument), "%" PRId64 " %" PRId64 " %s", desk->object_id,
                threshold, text);
        int r = call_agent_with(desk->store, desk->paths.source, "cleanup-change-table", argument,
                0, desk->problem);
        return r == -ESRCH ? clean_alone(desk, mark, threshold, notice, context) : r;
}

CDC_API int cdc_cleanup_change_table(const struct cdc_database *database, const char *instance,
        const char *low_water_mark, int64_t threshold, cdc_notice notice, void *context,
        struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        struct job job;
        struct mark mark;
        jobs_default(JOBS_CLEANUP, &job);
        if (threshold != CDC_UNSET)
                job.threshold = threshold;
        int r = jobs_check(JOBS_CLEANUP, &job, &problem);
        if (r == 0)
                r = open_desk(database, instance, &desk);
        if (r == 0)
                r = parse_mark(low_water_mark, &problem, &mark);
        if (r == 0)
                r = clean(&desk, &mark, job.threshold, notice, context);
        return call_answer(r, &problem, ret_error);
}

/* ---- holds ---- */

static int write_hold(struct desk *desk, const struct hold *hold, bool is_removed)
{
        int r = store_begin(desk->store);
        if (r < 0)
                return r;
        r = is_removed ? holds_remove(desk->store, hold->object_id, hold->name)
                       : holds_set(desk->store, hold);
        if (r == 0)
                r = store_commit(desk->store);
        if (r < 0)
                store_rollback(desk->store);
        return r < 0 ? r : store_sync(desk->store, desk->problem);
}

static int check_position(const struct desk *desk, struct lsn lsn)
{
        char min[LSN_TEXT_SIZE], max[LSN_TEXT_SIZE], text[LSN_TEXT_SIZE];
        lsn_format(lsn, text);
        lsn_format(desk->min, min);
        lsn_format(desk->max, max);
        if (lsn_is_zero(desk->min))
                return problem_set(desk->problem, ERANGE, 0,
                        "the instance is pending: there is nothing to hold yet");
        if (lsn_compare(lsn, desk->min) < 0)
                return problem_set(desk->problem, ERANGE, 0,
                        "%s cannot be held any more: the instance begins at %s", text, min);
        if (lsn_compare(lsn, lsn_increment(desk->max)) > 0)
                return problem_set(desk->problem, ERANGE, 0,
                        "%s is not captured yet: the instance ends at %s", text, max);
        return 0;
}

static int parse_hold(struct desk *desk, const char *lsn, const char *expires, struct hold *hold)
{
        hold->created_ns = clock_wall(NULL);
        if (lsn_parse(lsn, &hold->lsn) < 0)
                return problem_set(desk->problem, EINVAL, 0, "'%s' is no LSN", lsn);
        if (expires && clock_parse(expires, &hold->expires_ns) < 0)
                return problem_set(desk->problem, EINVAL, 0,
                        "'%s' is no time: write 2026-11-30T10:00:00Z", expires);
        if (expires && hold->expires_ns <= hold->created_ns)
                return problem_set(desk->problem, EINVAL, 0, "%s is over already", expires);
        return check_position(desk, hold->lsn);
}

CDC_API int cdc_hold(const struct cdc_database *database, const char *name, const char *instance,
        const char *lsn, const char *expires, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        struct hold hold = {.name = name};
        int r = name[0] ? open_desk(database, instance, &desk)
                        : problem_set(&problem, EINVAL, 0, "a hold wants a name");
        if (r == 0)
                r = parse_hold(&desk, lsn, expires, &hold);
        hold.object_id = desk.object_id;
        if (r == 0)
                r = write_hold(&desk, &hold, false);
        return call_answer(r, &problem, ret_error);
}

CDC_API int cdc_remove_hold(const struct cdc_database *database, const char *name,
        const char *instance, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        int r = open_desk(database, instance, &desk);
        struct hold hold = {.name = name, .object_id = desk.object_id};
        if (r == 0)
                r = write_hold(&desk, &hold, true);
        if (r == -ENOENT && !problem.message[0])
                problem_set(&problem, ENOENT, 0, "there is no hold '%s' on %s", name, instance);
        return call_answer(r, &problem, ret_error);
}
