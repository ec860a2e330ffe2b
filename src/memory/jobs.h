/* SPDX-License-Identifier: MIT
 *
 * jobs: the parameters of the capture and cleanup jobs (cdc_jobs), with SQL Server's limits.
 *
 * They are read when a job starts; whether one runs or is stopped is not here
 * (state.capture_stopped, and the agent).
 */
#ifndef CDC_JOBS_H
#define CDC_JOBS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "ground/problem.h"
#include "memory/store.h"

enum jobs_type { JOBS_CAPTURE, JOBS_CLEANUP };

struct job {
        bool is_defined; /* false: there is no such job; all else is its default then */
        uint8_t job_id[16];
        /* capture; 0 for cleanup */
        int64_t maxtrans;        /* source transactions a cycle, 1000 */
        int64_t maxscans;        /* cycles a pass, 10 */
        bool continuous;         /* 1 */
        int64_t pollinginterval; /* seconds, 5 */
        /* cleanup; 0 for capture */
        int64_t retention; /* minutes, 4320 */
        int64_t threshold; /* rows a delete, 5000 */
};

struct jobs {
        struct job capture;
        struct job cleanup;
};

/* "capture" or "cleanup". */
const char *jobs_name(enum jobs_type type);
/* 0, or -EINVAL (22992). */
int jobs_parse_type(const char *name, struct problem *problem, enum jobs_type *ret_type);
void jobs_default(enum jobs_type type, struct job *ret_job);
/* 0 or negative errno. */
int jobs_load(sqlite3 *db, struct jobs *ret_jobs);
/* Checks the limits: 22991 maxtrans, 22970 maxscans, 22990 pollinginterval (0 to 86399), 22994
 * retention (1 to 52494800), 22850 threshold. 0 or -EINVAL. */
int jobs_check(enum jobs_type type, const struct job *job, struct problem *problem);
/* Adds or replaces, in the caller's transaction. A zero job_id is replaced by a random one. */
int jobs_save(struct store *store, enum jobs_type type, const struct job *job);
/* Adds those that are not defined, with their defaults; a capture job that comes so is not
 * stopped. */
int jobs_add_defaults(struct store *store);
/* -ENOENT: not defined (22997 is the caller's to say). */
int jobs_drop(struct store *store, enum jobs_type type);

#endif
