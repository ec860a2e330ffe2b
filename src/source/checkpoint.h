/* SPDX-License-Identifier: MIT
 *
 * checkpoint: the engine's own checkpoints, and the short write barrier around their tail.
 *
 * While the engine is pinned, no checkpoint of the application can finish, and past 1000 frames
 * each of its commits would run one in vain; so the engine drives them. Only PASSIVE is used: it
 * waits for nobody. The barrier is a BEGIN IMMEDIATE that writes nothing. When to run them, and
 * that the pin must stand on a read mark >= 1 without the barrier, is the caller's business.
 */
#ifndef CDC_CHECKPOINT_H
#define CDC_CHECKPOINT_H

#include "source/database.h"

struct checkpoint {
        const struct database *database; /* borrowed */
        sqlite3 *barrier;                /* owned */
        bool has_barrier;
};

int checkpoint_open(const struct database *database, struct checkpoint *ret_checkpoint);
void checkpoint_close(struct checkpoint *checkpoint);
/* One PASSIVE checkpoint, retried for at most limit_ns while another connection holds the CKPT
 * lock. *ret_frames: frames in the log, *ret_copied: of them in the database file. 0, -EAGAIN
 * (busy all that time), -EIO. */
int checkpoint_run(struct checkpoint *checkpoint, int64_t limit_ns, uint32_t *ret_frames,
        uint32_t *ret_copied);
/* Empties the log, whose frames are all in the database file, while the pin stands on read-lock 0.
 * The one checkpoint that is not PASSIVE: it takes the write lock before it looks at the header.
 * 0, -EAGAIN (a writer or reader is in the way), -EIO. */
int checkpoint_empty(struct checkpoint *checkpoint);
/* Takes the write lock with at most limit_ns of retries; one that is held is kept. 0, or -EAGAIN:
 * another writer has it. */
int checkpoint_take_barrier(struct checkpoint *checkpoint, int64_t limit_ns);
void checkpoint_drop_barrier(struct checkpoint *checkpoint);

#endif
