/* SPDX-License-Identifier: MIT
 *
 * resume: may capture go on where it was, or is continuity lost?
 *
 * Decided while the log is pinned. Exact means: the log still holds everything behind the stored
 * position, and the database file holds nothing newer than it, so old images are still to be had.
 * Anything that cannot be proved is a gap.
 */
#ifndef CDC_RESUME_H
#define CDC_RESUME_H

#include <stdbool.h>

#include "memory/state.h"
#include "source/database.h"
#include "source/identity.h"

enum resume_verdict {
        RESUME_FRESH, /* nothing was captured before */
        RESUME_EXACT,
        RESUME_GAP,
};

/* What a clean stop, or a checkpoint that copied everything, leaves for the next start. */
struct resume_file {
        int64_t size;
        int64_t mtime_ns;
        uint32_t change_counter;
};

/* is_held: this process has pinned the log ever since it stored the position. Then the log can only
 * have been restarted when the database file held the position, whole, and holds it still.
 * *ret_cause (static): why it is a gap. 0, -ENOMEM, -EIO. */
int resume_decide(const struct database *database, const struct identity *identity,
        const struct database_header *header, const struct state *state, bool is_held,
        enum resume_verdict *ret_verdict, const char **ret_cause);
/* Looks at the database file through descriptors that are open already. 0 or -EIO. */
int resume_look(const struct database *database, const struct identity *identity,
        struct resume_file *ret_file);

#endif
