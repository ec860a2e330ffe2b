/* SPDX-License-Identifier: MIT
 *
 * timeline: the LSNs that were delivered, in order, each with the number of the transaction that
 * its row of the marker table names; and which LSN a transaction of the history has.
 *
 * A transaction that wrote a marker is found by it, wherever it stands. One that wrote none (a
 * single statement) can only be the next LSN without marker between its neighbours.
 */
#ifndef DIFFERENTIAL_TIMELINE_H
#define DIFFERENTIAL_TIMELINE_H

#include "stream.h"

struct moment {
        char lsn[LSN_SIZE];
        uint64_t number; /* 0 = no marker */
        bool is_taken;
};

struct timeline {
        struct moment *moments;
        size_t count;
        size_t next; /* first one behind the last that was taken */
};

void timeline_release(struct timeline *timeline);
/* From all streams; the first one is the marker table's. */
void timeline_make(struct timeline *timeline, const struct stream *streams, unsigned count,
        const struct settings *settings, struct report *report);
/* The LSN of a marked transaction, NULL if it was not delivered. One that stands before a
 * transaction that came before it in the history is reported. */
const char *timeline_take_marked(
        struct timeline *timeline, const struct transaction *transaction, struct report *report);
/* The next LSN without marker, NULL if there is none before the next marker. */
const char *timeline_take_unmarked(struct timeline *timeline);
/* Reports every LSN that no transaction took. */
void timeline_report_rest(const struct timeline *timeline, struct report *report);

#endif
