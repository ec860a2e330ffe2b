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
 *
 * A large file can be begun while it is still open, so that little is left when it is closed:
 *
 *      struct closer_pass pass = closer_begin(&open_file);
 *      while (closer_advance(db, &open_file, newest_change, &pass) > 0) …
 *      closer_finish(db, &closed_file, &is_stopping, &pass, &measure);   takes the pass over
 */
#ifndef CDC_CLOSER_H
#define CDC_CLOSER_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "faces/filebytes.h"
#include "ground/hash.h"
#include "memory/files.h"

/* How far a file has been measured. */
struct closer_pass {
        struct files_measure measure;
        struct hash hash;
        struct filebytes_position position;
        struct buf buf; /* scratch */
};

/* The file is closed (to_lsn is set), published or not. No transaction may be open on db; none is
 * held for longer than some MiB of rendering. is_stopped (NULL: never) ends it with -EINTR.
 * -EINVAL: the file is still open; -ENOTSUP: its format has no renderer of its version;
 * -ENOENT: its instance is gone. The caller releases the measure's checkpoints. */
int closer_measure(sqlite3 *db, const struct file_row *file, const atomic_bool *is_stopped,
        struct files_measure *ret_measure);

/* Before the first byte. */
struct closer_pass closer_begin(const struct file_row *file);
/* One piece of a file of all changes, up to the change `end`, which ends a transaction: 1: there
 * is more; 0: that is all for now. Errors as above; the pass is of no use then. */
int closer_advance(
        sqlite3 *db, const struct file_row *file, uint64_t end, struct closer_pass *pass);
/* The rest of the file, now closed; as closer_measure. The pass is released. */
int closer_finish(sqlite3 *db, const struct file_row *file, const atomic_bool *is_stopped,
        struct closer_pass *pass, struct files_measure *ret_measure);
void closer_release(struct closer_pass *pass);

#endif
