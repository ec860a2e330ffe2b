/* SPDX-License-Identifier: MIT
 *
 * checkpoints: rows of cdcfs_checkpoints: positions in a closed file from which it can be rendered
 * without what stands before.
 *
 * They are found when the file is sealed, written with its publication and go with its row. A
 * file without any (a small one, or one of an older store) is rendered from its start. It does not
 * know how far apart they are. (What SQLite calls a checkpoint is in source/checkpoint.h.)
 */
#ifndef CDC_CHECKPOINTS_H
#define CDC_CHECKPOINTS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/store.h"

struct checkpoints_entry {
        uint64_t offset; /* bytes of the file before it */
        uint64_t change; /* number of the first change after it */
};

/* A growing list, by offset. A zeroed one is empty. */
struct checkpoints {
        struct checkpoints_entry *items; /* owned */
        size_t count;
};

/* 0 or -ENOMEM. */
int checkpoints_append(struct checkpoints *checkpoints, uint64_t offset, uint64_t change);
void checkpoints_release(struct checkpoints *checkpoints);

/* In the caller's transaction. */
int checkpoints_add(struct store *store, uint64_t ino, const struct checkpoints *checkpoints);
/* Those of a file, none where it has none. */
int checkpoints_load(sqlite3 *db, uint64_t ino, struct checkpoints *ret_checkpoints);

#endif
