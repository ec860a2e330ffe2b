/* SPDX-License-Identifier: MIT
 *
 * cleanup: what was captured goes, in two parts.
 *
 *   marks   start_lsn of instances rises and the files below it are withdrawn, in the caller's
 *           transaction: from this commit on listing, min_lsn and the next file's FROM agree
 *   purge   the rows of withdrawn files and all other rows below the marks are deleted, a batch a
 *           transaction, so that capture goes on between two; then old mapping rows; then the
 *           store's WAL is truncated, for the deleted values stand in it
 *
 * Marks only rise and never depend on a purge: one that was killed, or failed for one instance, is
 * made good by the next.
 *
 * A withdrawn file opens by its exact name until `linger` has passed; then its row goes first, in
 * one transaction with the first of its change rows. Who has it open keeps its bytes by then
 * (faces/content.h).
 *
 * Times that decide what goes are running time (running.h). It knows neither agent nor clock.
 */
#ifndef CDC_MEMORY_CLEANUP_H
#define CDC_MEMORY_CLEANUP_H

#include <stdbool.h>
#include <stdint.h>
#include "ground/lsn.h"
#include "ground/problem.h"
#include "memory/store.h"

/* How long a withdrawn file can still be opened, unless an option says otherwise. */
#define CLEANUP_LINGER_NS (INT64_C(15) * 60 * 1000000000)

/* What a decision is made by. */
struct cleanup_now {
        int64_t wall_ns;
        int64_t running_ns;
};

/* The cleanup job's first part (sqlserver-cdc §1.6): counts `retention_ns` back from the newest
 * captured commit and raises every instance whose mark is lower, down to the FROM of the closed
 * file that holds it, and not above a live hold or the first file that was not listed for as long.
 * *ret_raised: how many rose. 0 or negative errno (22923, 22851 in the problem). */
int cleanup_raise_all(struct store *store, const struct cleanup_now *now, int64_t retention_ns,
        unsigned *ret_raised, struct problem *problem);

/* cleanup_change_table's mark, exactly: lowered only to the first commit of the same time. A file
 * that holds it is withdrawn, the rest of its range stays readable. The instance's own mark is
 * left as it is.
 * 1 if it rose, 0 if not, -EINVAL (22964: no commit of the mapping), -ERANGE (22957: outside the
 * interval), -EBUSY: above a live hold. */
int cleanup_raise(struct store *store, const struct cleanup_now *now, int64_t object_id,
        struct lsn mark, struct problem *problem);

/* ---- purge ---- */

enum cleanup_phase { CLEANUP_ROWS, CLEANUP_MAPPING, CLEANUP_LOG, CLEANUP_DONE };

/* Where a purge stands. All zero: at the begin. */
struct cleanup_purge {
        enum cleanup_phase phase;
        int64_t object_id; /* the instance in hand, or the last one */
        int64_t deleted;   /* rows so far */
        unsigned failed;   /* instances that were given up */
        bool has_removed;  /* files whose time was over went */
};

struct cleanup_limits {
        int64_t linger_ns;
        int64_t threshold; /* rows a transaction */
};

/* One batch, in a transaction of its own. 1: call again; 0: done.
 * An instance whose rows cannot be deleted is given up and told in *problem (22852, which stays
 * empty otherwise), and the next call goes on with the next. -EAGAIN: readers are in the way of
 * the WAL's truncation, try again in a while. Other errors: the store itself fails. */
int cleanup_purge(struct store *store, const struct cleanup_now *now,
        const struct cleanup_limits *limits, struct cleanup_purge *purge, struct problem *problem);
/* When (running time) the next withdrawn file may go; INT64_MAX: there is none. */
int cleanup_next_due(sqlite3 *db, int64_t linger_ns, int64_t *ret_running_ns);

/* Files that were published meanwhile are listed from now on. In the caller's transaction. */
int cleanup_note_listed(struct store *store, int64_t running_ns);

#endif
