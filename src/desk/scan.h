/* SPDX-License-Identifier: MIT
 *
 * scan: writes transactions of a source into the store: change rows, mapping, DDL, gaps, borders
 * of segments. Runs inside a store transaction that the caller begins and commits, so that rows
 * and position move together; knows no log, no pin, no file.
 */
#ifndef CDC_SCAN_H
#define CDC_SCAN_H

#include "desk/rowcounts.h"
#include "meaning/transaction_source.h"
#include "memory/instances.h"
#include "memory/segments.h"
#include "memory/sessions.h"
#include "memory/state.h"

struct scan {
        struct store *store; /* borrowed, all of them */
        struct state *state;
        const struct instances *instances;
        struct segments *segments;
        struct sessions *sessions;
        struct segments_limits limits;
        struct transaction_source source;
        /* what it did since scan_begin */
        struct sessions_counts counts;
        bool is_catalog_changed; /* an instance was dropped or stopped */
        unsigned files_closed;
        bool has_rows; /* of the last transaction */
        struct rowcounts rows;
};

/* Stores how an instance is bound now: table, positions, types. Inside a transaction. */
int scan_bind(
        struct store *store, const struct instance *instance, const struct change_binding *binding);
/* Sets the counts to zero. */
void scan_begin(struct scan *scan);
/* Frees what it counted with. */
void scan_end(struct scan *scan);
/* At most `limit` transactions. *ret_count: how many there were; fewer than the limit means that
 * the source has no more for now. 0, or the error of the source or the store: roll back. */
int scan_transactions(struct scan *scan, unsigned limit, unsigned *ret_count);

#endif
