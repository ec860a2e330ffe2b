/* SPDX-License-Identifier: MIT
 *
 * closer: what must be known of a closed file before its name may appear.
 *
 * Renders the file once and counts. It starts no thread and publishes nothing: the engine runs
 * it on its sealing thread, with that thread's own read connection, and hands the result to
 * files_publish:
 *
 *      struct files unpublished = {0};
 *      files_unpublished(db, &unpublished);
 *      for each: closer_measure(db, &unpublished.items[i], &is_stopping, &measure);
 *                … files_publish(store, ino, &measure, &mtime_ns) in a transaction …
 *                checkpoints_release(&measure.checkpoints);
 */
#ifndef CDC_CLOSER_H
#define CDC_CLOSER_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "memory/files.h"

/* The file is closed (to_lsn is set), published or not. No transaction may be open on db; none is
 * held for longer than some MiB of rendering. is_stopped (NULL: never) ends it with -EINTR.
 * -EINVAL: the file is still open; -ENOTSUP: its format has no renderer of its version;
 * -ENOENT: its instance is gone. The caller releases the measure's checkpoints. */
int closer_measure(sqlite3 *db, const struct file_row *file, const atomic_bool *is_stopped,
        struct files_measure *ret_measure);

#endif
