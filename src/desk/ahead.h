/* SPDX-License-Identifier: MIT
 *
 * ahead: passes over large files that are still open, so that a closed one can be listed at once:
 * until it is, the rows behind it cannot be seen in `live/`.
 *
 * It belongs to the sealing thread and holds a few hundred bytes a file. Which files are worth it
 * is told from outside; one that is left out is measured when it is closed.
 */
#ifndef CDC_AHEAD_H
#define CDC_AHEAD_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "desk/closer.h"

enum { AHEAD_COUNT = 64 };

struct ahead;

/* NULL: no memory. */
struct ahead *ahead_new(void);
void ahead_free(struct ahead *ahead); /* NULL is allowed */
/* Measures the open files of an instance up to the change `end`, which ends a transaction, or
 * until is_wanted says that there is something better to do. 0 or negative errno. */
int ahead_advance(struct ahead *ahead, sqlite3 *db, int64_t object_id, uint64_t end,
        const atomic_bool *is_wanted);
/* Hands over the pass of a file, which may have been closed since; a new one if there is none. */
struct closer_pass ahead_take(struct ahead *ahead, const struct file_row *file);

#endif
