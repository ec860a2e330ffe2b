/* SPDX-License-Identifier: MIT
 *
 * sessions: dm_cdc_log_scan_sessions and dm_cdc_errors (sqlserver-cdc §3).
 *
 * Kept in memory by the capture thread, since idle time must write nothing, and written with the
 * next real commit. They begin empty with every agent, as SQL Server's do with the server. Row 0
 * is the aggregate; the newest 1000 sessions stay, and the errors of the last 32. An empty scan
 * after another adds no row: the last row's empty_scan_count grows.
 */
#ifndef CDC_SESSIONS_H
#define CDC_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ground/lsn.h"
#include "memory/store.h"

enum { SESSIONS_KEPT = 1000, SESSIONS_ERRORS_KEPT = 32 };

/* Phases of SQL Server's documentation; the ones our scan has. */
enum sessions_phase {
        SESSIONS_PHASE_CONFIGURATION = 1,
        SESSIONS_PHASE_SCAN = 2, /* reading transactions */
        SESSIONS_PHASE_SCHEMA = 6,
        SESSIONS_PHASE_ROWS = 7, /* writing rows */
        SESSIONS_PHASE_DONE = 8,
};

/* What one scan cycle did. A zero LSN is shown as NULL. */
struct sessions_counts {
        struct lsn start_lsn;   /* first commit read */
        struct lsn current_lsn; /* the one in hand when it ended */
        struct lsn end_lsn;     /* last commit read */
        int64_t tran_count;     /* transactions with change rows */
        struct lsn last_commit_lsn;
        int64_t last_commit_time_ns;
        int64_t log_record_count; /* frames */
        int64_t schema_change_count;
        int64_t command_count;          /* row changes */
        struct lsn first_begin_cdc_lsn; /* of transactions with change rows */
        struct lsn last_commit_cdc_lsn;
        int64_t last_commit_cdc_time_ns;
        bool is_failed;
};

struct sessions_error {
        int phase;
        int number;
        int severity;
        int state;
        const char *message;
        struct lsn start_lsn;
        struct lsn begin_lsn;
        struct lsn sequence_value;
};

struct sessions;

/* NULL: no memory. */
struct sessions *sessions_new(void);
void sessions_free(struct sessions *sessions);

/* A scan cycle begins. An unfinished one counts as failed. */
void sessions_begin(struct sessions *sessions, int64_t now_ns);
void sessions_set_phase(struct sessions *sessions, enum sessions_phase phase);
/* It ended. tran_count 0 without failure = an empty scan. */
void sessions_end(struct sessions *sessions, const struct sessions_counts *counts, int64_t now_ns);
/* An error of the session in hand, or (between two) of none: session 0. 0 or -ENOMEM. */
int sessions_error(struct sessions *sessions, const struct sessions_error *error, int64_t now_ns);

/* Writes what changed since the last flush that was committed, in the caller's transaction; the
 * first one empties both tables. After a rollback call sessions_unflush: everything is written
 * again. 0 or negative errno. */
int sessions_flush(struct sessions *sessions, struct store *store);
void sessions_unflush(struct sessions *sessions);

/* Number of the session in hand, or of the last one; 0 = none yet. */
int64_t sessions_current(const struct sessions *sessions);

#endif
