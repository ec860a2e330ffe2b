/* SPDX-License-Identifier: MIT
 *
 * jobs: parameters of the jobs: defaults, limits, rows. It refuses to run one.
 */
#include "memory/jobs.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include "ground/cleanup.h"
#include "ground/text.h"
#include "memory/sql.h"
#include "memory/state.h"

/* Limits of sqlserver-cdc §0.2. */
static const int64_t pollinginterval_limit = 86399;
static const int64_t retention_limit = 52494800;

const char *jobs_name(enum jobs_type type)
{
        return type == JOBS_CAPTURE ? "capture" : "cleanup";
}

int jobs_parse_type(const char *name, struct problem *problem, enum jobs_type *ret_type)
{
        for (enum jobs_type type = JOBS_CAPTURE; type <= JOBS_CLEANUP; type++) {
                if (text_equal_name(name, jobs_name(type))) {
                        *ret_type = type;
                        return 0;
                }
        }
        return problem_set(
                problem, EINVAL, 22992, "'%s' is not a job type: it is capture or cleanup", name);
}

void jobs_default(enum jobs_type type, struct job *ret_job)
{
        static const struct job defaults[] = {
                [JOBS_CAPTURE] = {.maxtrans = 1000,
                        .maxscans = 10,
                        .continuous = true,
                        .pollinginterval = 5},
                [JOBS_CLEANUP] = {.retention = 4320, .threshold = 5000},
        };
        *ret_job = defaults[type];
}

static void read_job(sqlite3_stmt *stmt, struct job *job)
{
        memset(job, 0, sizeof *job);
        job->is_defined = true;
        if (sqlite3_column_bytes(stmt, 1) == sizeof job->job_id)
                memcpy(job->job_id, sqlite3_column_blob(stmt, 1), sizeof job->job_id);
        job->maxtrans = sqlite3_column_int64(stmt, 2);
        job->maxscans = sqlite3_column_int64(stmt, 3);
        job->continuous = sqlite3_column_int(stmt, 4) != 0;
        job->pollinginterval = sqlite3_column_int64(stmt, 5);
        job->retention = sqlite3_column_int64(stmt, 6);
        job->threshold = sqlite3_column_int64(stmt, 7);
}

int jobs_load(sqlite3 *db, struct jobs *ret_jobs)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        jobs_default(JOBS_CAPTURE, &ret_jobs->capture);
        jobs_default(JOBS_CLEANUP, &ret_jobs->cleanup);
        int r = problem_errno(sqlite3_prepare_v2(db,
                "SELECT job_type, job_id, maxtrans, maxscans, continuous, pollinginterval,"
                "  retention, threshold FROM cdc_jobs",
                -1, &stmt, NULL));
        while (r >= 0 && (r = sql_next(stmt)) > 0) {
                const char *name = (const char *)sqlite3_column_text(stmt, 0);
                if (name && strcmp(name, jobs_name(JOBS_CAPTURE)) == 0)
                        read_job(stmt, &ret_jobs->capture);
                if (name && strcmp(name, jobs_name(JOBS_CLEANUP)) == 0)
                        read_job(stmt, &ret_jobs->cleanup);
        }
        return r;
}

int jobs_check(enum jobs_type type, const struct job *job, struct problem *problem)
{
        if (type == JOBS_CAPTURE) {
                if (job->maxtrans < 1)
                        return problem_set(problem, EINVAL, 22991, "maxtrans must be at least 1");
                if (job->maxscans < 1)
                        return problem_set(problem, EINVAL, 22970, "maxscans must be at least 1");
                if (job->pollinginterval < 0 || job->pollinginterval > pollinginterval_limit)
                        return problem_set(problem, EINVAL, 22990,
                                "pollinginterval must be 0 to %lld seconds",
                                (long long)pollinginterval_limit);
                return 0;
        }
        if (job->retention < 1 || job->retention > retention_limit)
                return problem_set(problem, EINVAL, 22994, "retention must be 1 to %lld minutes",
                        (long long)retention_limit);
        if (job->threshold < 1)
                return problem_set(problem, EINVAL, 22850, "threshold must be at least 1");
        return 0;
}

/* As SQL Server's: a random one, and the version bits of a UUID to tell. */
static int fill_job_id(const struct job *job, uint8_t job_id[16])
{
        static const uint8_t zero[16];
        memcpy(job_id, job->job_id, sizeof zero);
        if (memcmp(job_id, zero, sizeof zero) != 0)
                return 0;
        if (getrandom(job_id, sizeof zero, 0) != (ssize_t)sizeof zero)
                return -EIO;
        job_id[6] = (uint8_t)((job_id[6] & 0x0f) | 0x40);
        job_id[8] = (uint8_t)((job_id[8] & 0x3f) | 0x80);
        return 0;
}

int jobs_save(struct store *store, enum jobs_type type, const struct job *job)
{
        sqlite3_stmt *stmt = NULL;
        uint8_t job_id[16];
        int r = fill_job_id(job, job_id);
        if (r == 0)
                r = store_statement(store,
                        "INSERT OR REPLACE INTO cdc_jobs(job_type, job_id, maxtrans, maxscans,"
                        "  continuous, pollinginterval, retention, threshold)"
                        " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_blob(stmt, 2, job_id, sizeof job_id, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 3, job->maxtrans);
        sqlite3_bind_int64(stmt, 4, job->maxscans);
        sqlite3_bind_int(stmt, 5, job->continuous);
        sqlite3_bind_int64(stmt, 6, job->pollinginterval);
        sqlite3_bind_int64(stmt, 7, job->retention);
        sqlite3_bind_int64(stmt, 8, job->threshold);
        r = sql_bind_text(stmt, 1, jobs_name(type));
        return r < 0 ? r : sql_run(stmt);
}

int jobs_add_defaults(struct store *store)
{
        struct jobs jobs;
        int r = jobs_load(store_db(store), &jobs);
        if (r == 0 && !jobs.capture.is_defined)
                r = jobs_save(store, JOBS_CAPTURE, &jobs.capture);
        if (r == 0 && !jobs.capture.is_defined)
                r = state_set_capture_stopped(store, false);
        if (r == 0 && !jobs.cleanup.is_defined)
                r = jobs_save(store, JOBS_CLEANUP, &jobs.cleanup);
        return r;
}

int jobs_drop(struct store *store, enum jobs_type type)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, "DELETE FROM cdc_jobs WHERE job_type = ?", &stmt);
        if (r == 0)
                r = sql_bind_text(stmt, 1, jobs_name(type));
        if (r == 0)
                r = sql_run(stmt);
        if (r < 0)
                return r;
        return sqlite3_changes(store_db(store)) > 0 ? 0 : -ENOENT;
}
