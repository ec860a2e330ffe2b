/* SPDX-License-Identifier: MIT
 *
 * admin_job: the procedures of the jobs: add, change, drop, help, start, stop.
 *
 * Parameters stand in the store, whether an agent runs or not; to start and stop the capture job is
 * asked of the agent. It refuses to know how a job works.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cdc.h"
#include "desk/call.h"
#include "desk/hint.h"
#include "desk/rows.h"
#include "ground/cleanup.h"
#include "memory/jobs.h"
#include "memory/sql.h"
#include "memory/state.h"

enum {
        NUMBER_ADD = 22836,
        NUMBER_FOREIGN_RETENTION = 22995,
        NUMBER_FOREIGN_CAPTURE = 22996,
        NUMBER_NO_JOB = 22997,
        NUMBER_CONTINUOUS = 22998,
        NUMBER_POLL = 22999,
};

/* What a call works with. */
struct desk {
        struct call_paths paths;
        struct store *store; /* owned */
        struct problem *problem;
};

static void desk_release(struct desk *desk)
{
        store_close(desk->store);
        call_paths_release(&desk->paths);
}

static int open_desk(const struct cdc_database *database, enum store_mode mode, struct desk *desk)
{
        int r = call_find_paths(database, &desk->paths);
        return r < 0 ? r : call_open_store(&desk->paths, mode, desk->problem, &desk->store);
}

static struct job *job_of(struct jobs *jobs, enum jobs_type type)
{
        return type == JOBS_CAPTURE ? &jobs->capture : &jobs->cleanup;
}

/* ---- parameters ---- */

static bool is_set(int64_t value)
{
        return value != CDC_UNSET;
}

static int check_foreign(enum jobs_type type, const struct cdc_job *job, struct problem *problem)
{
        bool has_capture = is_set(job->maxtrans) || is_set(job->maxscans) ||
                           is_set(job->continuous) || is_set(job->pollinginterval);
        if (type == JOBS_CAPTURE && (is_set(job->retention) || is_set(job->threshold)))
                return problem_set(problem, EINVAL, NUMBER_FOREIGN_RETENTION,
                        "retention and threshold are parameters of the cleanup job, not of the "
                        "capture job");
        if (type == JOBS_CLEANUP && has_capture)
                return problem_set(problem, EINVAL, NUMBER_FOREIGN_CAPTURE,
                        "maxtrans, maxscans, continuous and pollinginterval are parameters of the "
                        "capture job, not of the cleanup job");
        return 0;
}

static int check_continuous(int64_t continuous, struct problem *problem)
{
        if (!is_set(continuous) || continuous == 0 || continuous == 1)
                return 0;
        return problem_set(problem, EINVAL, NUMBER_CONTINUOUS, "continuous must be 0 or 1");
}

static void set(int64_t value, int64_t *parameter)
{
        if (is_set(value))
                *parameter = value;
}

/* The coupling: a job that is switched to one pass has no pollinginterval, whatever was given; one
 * that is given a pollinginterval alone becomes continuous. */
static int couple(const struct cdc_job *given, struct job *job, struct problem *problem)
{
        bool was_continuous = job->continuous;
        if (is_set(given->continuous))
                job->continuous = given->continuous == 1;
        else if (is_set(given->pollinginterval) && given->pollinginterval > 0)
                job->continuous = true;
        if (job->continuous || was_continuous) {
                if (!job->continuous)
                        job->pollinginterval = 0;
                return 0;
        }
        if (job->pollinginterval > 0)
                return problem_set(
                        problem, EINVAL, NUMBER_POLL, "a pollinginterval wants continuous to be 1");
        return 0;
}

static int apply(
        enum jobs_type type, const struct cdc_job *given, struct job *job, struct problem *problem)
{
        int r = check_foreign(type, given, problem);
        if (r == 0)
                r = check_continuous(given->continuous, problem);
        if (r < 0)
                return r;
        set(given->maxtrans, &job->maxtrans);
        set(given->maxscans, &job->maxscans);
        set(given->pollinginterval, &job->pollinginterval);
        set(given->retention, &job->retention);
        set(given->threshold, &job->threshold);
        r = jobs_check(type, job, problem);
        if (r == 0 && type == JOBS_CAPTURE)
                r = couple(given, job, problem);
        return r;
}

/* ---- starting and stopping ---- */

static int write_stopped(struct desk *desk, bool is_stopped)
{
        int r = store_begin(desk->store);
        if (r < 0)
                return r;
        r = state_set_capture_stopped(desk->store, is_stopped);
        if (r == 0)
                r = store_commit(desk->store);
        if (r < 0)
                store_rollback(desk->store);
        return r < 0 ? r : store_sync(desk->store, desk->problem);
}

/* -ESRCH: there is no agent, and the next one starts so. */
static int tell_agent(struct desk *desk, bool is_stopped)
{
        int r = call_agent(desk->store, desk->paths.source, is_stopped ? "stop-job" : "start-job",
                0, desk->problem);
        if (r != -ESRCH)
                return r;
        r = write_stopped(desk, is_stopped);
        return r < 0 ? r : -ESRCH;
}

static int refuse_without_agent(const struct desk *desk, const char *what)
{
        _cleanup_(buf_release) struct buf agents = BUF_INIT;
        hint_agents(&agents, &desk->paths);
        return problem_set(desk->problem, EBUSY, 0, "no agent runs the jobs of %s: run %s; %s",
                desk->paths.source, buf_string(&agents), what);
}

static int find_job(struct desk *desk, enum jobs_type type, struct job *ret_job)
{
        struct jobs jobs;
        int r = jobs_load(store_db(desk->store), &jobs);
        if (r < 0)
                return r;
        *ret_job = *job_of(&jobs, type);
        if (ret_job->is_defined)
                return 0;
        _cleanup_(buf_release) struct buf add = BUF_INIT;
        hint_command(&add, &desk->paths, "add-job");
        return problem_set(desk->problem, ENOENT, NUMBER_NO_JOB,
                "there is no %s job: %s %s makes one", jobs_name(type), buf_string(&add),
                jobs_name(type));
}

/* Opens the store and finds the job. */
static int open_job(const struct cdc_database *database, const char *name, struct desk *desk,
        enum jobs_type *ret_type, struct job *ret_job)
{
        int r = jobs_parse_type(name ? name : "capture", desk->problem, ret_type);
        if (r == 0)
                r = open_desk(database, STORE_WRITE, desk);
        return r < 0 ? r : find_job(desk, *ret_type, ret_job);
}

static int start(struct desk *desk, enum jobs_type type)
{
        bool is_capture = type == JOBS_CAPTURE;
        int r = is_capture
                        ? tell_agent(desk, false)
                        : call_agent(desk->store, desk->paths.source, "cleanup", 0, desk->problem);
        if (r == -ESRCH)
                return refuse_without_agent(desk,
                        is_capture ? "the capture job starts with it" : "the cleanup job is its");
        return r;
}

CDC_API int cdc_start_job(
        const struct cdc_database *database, const char *type, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        enum jobs_type job_type;
        struct job job;
        int r = open_job(database, type, &desk, &job_type, &job);
        if (r == 0)
                r = start(&desk, job_type);
        return call_answer(r, &problem, ret_error);
}

CDC_API int cdc_stop_job(
        const struct cdc_database *database, const char *type, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        enum jobs_type job_type;
        struct job job;
        int r = open_job(database, type, &desk, &job_type, &job);
        if (r == 0)
                r = job_type == JOBS_CAPTURE ? tell_agent(&desk, true)
                                             : call_agent(desk.store, desk.paths.source,
                                                       "stop-cleanup", 0, &problem);
        return call_answer(r == -ESRCH ? 0 : r, &problem, ret_error);
}

/* ---- add, change, drop ---- */

static int save(struct desk *desk, enum jobs_type type, const struct job *job)
{
        int r = store_begin(desk->store);
        if (r < 0)
                return r;
        r = jobs_save(desk->store, type, job);
        if (r == 0)
                r = store_commit(desk->store);
        if (r < 0)
                store_rollback(desk->store);
        return r < 0 ? r : store_sync(desk->store, desk->problem);
}

static int add(struct desk *desk, enum jobs_type type, const struct cdc_job *given, bool is_started)
{
        struct jobs jobs;
        struct job job;
        int r = jobs_load(store_db(desk->store), &jobs);
        if (r < 0)
                return r;
        if (job_of(&jobs, type)->is_defined)
                return problem_set(desk->problem, EEXIST, NUMBER_ADD,
                        "there is a %s job already: cdcctl change-job changes it", jobs_name(type));
        jobs_default(type, &job);
        r = apply(type, given, &job, desk->problem);
        if (r == 0)
                r = save(desk, type, &job);
        if (r == 0 && type == JOBS_CAPTURE)
                r = tell_agent(desk, !is_started);
        return r == -ESRCH ? 0 : r;
}

CDC_API int cdc_add_job(const struct cdc_database *database, const struct cdc_job *job,
        bool is_started, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        enum jobs_type type;
        int r = jobs_parse_type(job->type ? job->type : "", &problem, &type);
        if (r == 0)
                r = open_desk(database, STORE_WRITE, &desk);
        if (r == 0)
                r = add(&desk, type, job, is_started);
        return call_answer(r, &problem, ret_error);
}

CDC_API int cdc_change_job(
        const struct cdc_database *database, const struct cdc_job *job, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        enum jobs_type type;
        struct job changed;
        int r = open_job(database, job->type, &desk, &type, &changed);
        if (r == 0)
                r = apply(type, job, &changed, &problem);
        if (r == 0)
                r = save(&desk, type, &changed);
        return call_answer(r, &problem, ret_error);
}

static int drop(struct desk *desk, enum jobs_type type)
{
        int r = type == JOBS_CAPTURE ? tell_agent(desk, true) : 0;
        if (r < 0 && r != -ESRCH)
                return r;
        r = store_begin(desk->store);
        if (r < 0)
                return r;
        r = jobs_drop(desk->store, type);
        if (r == 0)
                r = store_commit(desk->store);
        if (r < 0)
                store_rollback(desk->store);
        return r < 0 ? r : store_sync(desk->store, desk->problem);
}

CDC_API int cdc_drop_job(
        const struct cdc_database *database, const char *type, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        enum jobs_type job_type;
        struct job job;
        int r = open_job(database, type ? type : "", &desk, &job_type, &job);
        if (r == 0)
                r = drop(&desk, job_type);
        return call_answer(r, &problem, ret_error);
}

/* ---- help ---- */

static const char help_select[] =
        "SELECT lower(substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-' || substr(h, 13, 4) || '-'"
        "    || substr(h, 17, 4) || '-' || substr(h, 21)) AS job_id,"
        "  job_type, 'cdc.' || ?1 || '_' || job_type AS job_name, maxtrans, maxscans, continuous,"
        "  pollinginterval, retention, threshold,"
        "  CASE WHEN job_type = 'capture' AND (SELECT capture_stopped FROM cdcfs_state)"
        "    THEN 'stopped' WHEN NOT ?2 THEN 'no agent' WHEN job_type = 'capture' THEN 'running'"
        "    ELSE 'scheduled' END AS state"
        " FROM (SELECT *, hex(job_id) AS h FROM cdc_jobs) ORDER BY job_type";

static int open_help(struct desk *desk, struct result *result)
{
        pid_t pid = 0;
        const char *slash = strrchr(desk->paths.source, '/');
        int has_agent = call_find_agent(desk->paths.source, &pid);
        if (has_agent < 0)
                return has_agent;
        int r = result_open(result, store_db(desk->store), help_select);
        if (r == 0)
                r = problem_errno(sqlite3_bind_text(result->stmt, 1,
                        slash ? slash + 1 : desk->paths.source, -1, SQLITE_TRANSIENT));
        if (r == 0)
                r = problem_errno(sqlite3_bind_int(result->stmt, 2, has_agent));
        return r;
}

CDC_API int cdc_help_jobs(const struct cdc_database *database, struct cdc_rows **ret_rows,
        struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        _cleanup_(result_close) struct result result = {0};
        int r = open_desk(database, STORE_READ, &desk);
        if (r == 0)
                r = open_help(&desk, &result);
        if (r == 0)
                r = rows_of_select(steal(desk.store), &result, ret_rows);
        return call_answer(r, &problem, ret_error);
}
