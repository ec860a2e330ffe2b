/* SPDX-License-Identifier: MIT
 *
 * sessions_private: the rows in memory, shared by sessions.c (keeping) and sessions_flush.c
 * (writing).
 */
#ifndef CDC_SESSIONS_PRIVATE_H
#define CDC_SESSIONS_PRIVATE_H

#include "memory/sessions.h"

/* More errors than that are kept of no number of sessions: a fault that comes back at once must
 * not fill the memory. */
enum { SESSIONS_ERRORS_LIMIT = 256 };

struct session_row {
        int64_t session_id; /* 0 = the aggregate */
        int64_t start_ns;
        int64_t end_ns;   /* 0 = active */
        int64_t duration; /* seconds */
        enum sessions_phase phase;
        int64_t error_count;
        struct sessions_counts counts;
        int64_t latency; /* seconds */
        int64_t empty_scan_count;
        int64_t failed_count;
        bool is_dirty;
};

struct session_error_row {
        int64_t session_id;
        int64_t entry_ns;
        struct sessions_error error;
        char *message; /* owned; error.message points to it */
};

struct sessions {
        struct session_row rows[SESSIONS_KEPT]; /* session N at N % SESSIONS_KEPT */
        struct session_row aggregate;
        struct session_row current; /* valid while is_active */
        bool is_active;
        int64_t last_id;                                        /* of the newest row; 0 = none */
        struct session_error_row errors[SESSIONS_ERRORS_LIMIT]; /* oldest first */
        size_t error_count;
        bool are_errors_dirty;
        bool is_fresh; /* nothing was flushed yet: the tables hold another agent's rows */
};

#endif
