/* SPDX-License-Identifier: MIT
 *
 * sessions: keeps scan sessions and errors in memory. It refuses to decide when they are written.
 */
#include "memory/sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "memory/sessions_private.h"

static const int64_t second_ns = 1000000000;

struct sessions *sessions_new(void)
{
        struct sessions *sessions = calloc(1, sizeof *sessions);
        if (sessions)
                sessions->is_fresh = true;
        return sessions;
}

void sessions_free(struct sessions *sessions)
{
        if (!sessions)
                return;
        for (size_t i = 0; i < sessions->error_count; i++)
                free(sessions->errors[i].message);
        free(sessions);
}

int64_t sessions_current(const struct sessions *sessions)
{
        return sessions->is_active ? sessions->current.session_id : sessions->last_id;
}

static struct session_row *row_of(struct sessions *sessions, int64_t session_id)
{
        return &sessions->rows[session_id % SESSIONS_KEPT];
}

void sessions_begin(struct sessions *sessions, int64_t now_ns)
{
        if (sessions->is_active)
                sessions_end(sessions, &(struct sessions_counts){.is_failed = true}, now_ns);
        memset(&sessions->current, 0, sizeof sessions->current);
        sessions->current.session_id = sessions->last_id + 1;
        sessions->current.start_ns = now_ns;
        sessions->current.phase = SESSIONS_PHASE_CONFIGURATION;
        sessions->is_active = true;
}

void sessions_set_phase(struct sessions *sessions, enum sessions_phase phase)
{
        sessions->current.phase = phase;
}

static void add_to_aggregate(struct session_row *aggregate, const struct session_row *row)
{
        struct sessions_counts *sum = &aggregate->counts;
        const struct sessions_counts *counts = &row->counts;
        if (aggregate->start_ns == 0)
                aggregate->start_ns = row->start_ns;
        aggregate->end_ns = row->end_ns;
        aggregate->duration += row->duration;
        aggregate->error_count += row->error_count;
        aggregate->empty_scan_count += row->empty_scan_count;
        aggregate->failed_count += row->failed_count;
        if (row->latency > 0)
                aggregate->latency = row->latency;
        sum->tran_count += counts->tran_count;
        sum->log_record_count += counts->log_record_count;
        sum->schema_change_count += counts->schema_change_count;
        sum->command_count += counts->command_count;
        if (lsn_is_zero(sum->start_lsn))
                sum->start_lsn = counts->start_lsn;
        if (lsn_is_zero(sum->first_begin_cdc_lsn))
                sum->first_begin_cdc_lsn = counts->first_begin_cdc_lsn;
        if (!lsn_is_zero(counts->last_commit_lsn)) {
                sum->current_lsn = counts->current_lsn;
                sum->end_lsn = counts->end_lsn;
                sum->last_commit_lsn = counts->last_commit_lsn;
                sum->last_commit_time_ns = counts->last_commit_time_ns;
        }
        if (!lsn_is_zero(counts->last_commit_cdc_lsn)) {
                sum->last_commit_cdc_lsn = counts->last_commit_cdc_lsn;
                sum->last_commit_cdc_time_ns = counts->last_commit_cdc_time_ns;
        }
        aggregate->is_dirty = true;
}

/* An empty scan right after another one: that one's row counts it. */
static bool fold(struct sessions *sessions, const struct session_row *row)
{
        struct session_row *last = row_of(sessions, sessions->last_id);
        if (row->empty_scan_count == 0 || sessions->last_id == 0 || last->empty_scan_count == 0)
                return false;
        last->empty_scan_count++;
        last->end_ns = row->end_ns;
        last->is_dirty = true;
        return true;
}

void sessions_end(struct sessions *sessions, const struct sessions_counts *counts, int64_t now_ns)
{
        struct session_row *row = &sessions->current;
        if (!sessions->is_active)
                return;
        sessions->is_active = false;
        row->counts = *counts;
        row->end_ns = now_ns;
        row->is_dirty = true;
        row->failed_count = counts->is_failed;
        bool is_empty = counts->tran_count == 0 && counts->schema_change_count == 0;
        row->empty_scan_count = is_empty && !counts->is_failed && row->error_count == 0;
        if (!counts->is_failed)
                row->phase = SESSIONS_PHASE_DONE;
        if (counts->command_count > 0) {
                int64_t lag_ns = now_ns - counts->last_commit_cdc_time_ns;
                row->duration = (now_ns - row->start_ns) / second_ns;
                row->latency = lag_ns > 0 ? lag_ns / second_ns : 0;
        }
        add_to_aggregate(&sessions->aggregate, row);
        if (fold(sessions, row))
                return;
        sessions->last_id = row->session_id;
        *row_of(sessions, row->session_id) = *row;
}

static void drop_oldest_error(struct sessions *sessions)
{
        free(sessions->errors[0].message);
        sessions->error_count--;
        memmove(&sessions->errors[0], &sessions->errors[1],
                sessions->error_count * sizeof sessions->errors[0]);
}

/* Errors of the last 32 sessions stay, and those that stand between them. */
static void drop_old_errors(struct sessions *sessions)
{
        int64_t oldest = sessions_current(sessions) - SESSIONS_ERRORS_KEPT + 1;
        bool is_too_old = true;
        while (sessions->error_count > 0 && is_too_old) {
                int64_t session_id = sessions->errors[0].session_id;
                is_too_old = session_id != 0 && session_id < oldest;
                if (is_too_old)
                        drop_oldest_error(sessions);
        }
        while (sessions->error_count >= SESSIONS_ERRORS_LIMIT)
                drop_oldest_error(sessions);
}

int sessions_error(struct sessions *sessions, const struct sessions_error *error, int64_t now_ns)
{
        char *message = strdup(error->message ? error->message : "");
        if (!message)
                return -ENOMEM;
        drop_old_errors(sessions);
        struct session_error_row *row = &sessions->errors[sessions->error_count++];
        *row = (struct session_error_row){
                .session_id = sessions->is_active ? sessions->current.session_id : 0,
                .entry_ns = now_ns,
                .error = *error,
                .message = message,
        };
        row->error.message = message;
        if (sessions->is_active)
                sessions->current.error_count++;
        sessions->are_errors_dirty = true;
        return 0;
}
