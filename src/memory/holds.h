/* SPDX-License-Identifier: MIT
 *
 * holds: rows of cdcfs_holds: consumers that keep cleanup below their position in an instance.
 *
 * A hold is live until its time is over, it is removed, or it had to yield because the store grew
 * too large; then its row stays, with the time, for the record. It deletes no change.
 */
#ifndef CDC_HOLDS_H
#define CDC_HOLDS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "ground/lsn.h"
#include "memory/store.h"

struct hold {
        int64_t object_id;
        const char *name; /* borrowed for holds_set */
        struct lsn lsn;   /* what the consumer still needs begins here */
        int64_t created_ns;
        int64_t expires_ns; /* 0 = never */
};

/* Sets or moves a hold, which is live then. In the caller's transaction, as the next two. */
int holds_set(struct store *store, const struct hold *hold);
/* -ENOENT: no such hold. */
int holds_remove(struct store *store, int64_t object_id, const char *name);
/* The live hold that is lowest, over all instances, yields. 1 with its line for the record (the
 * caller frees it), 0 if there is none, or negative errno. */
int holds_yield(struct store *store, int64_t now_ns, char **ret_line);

/* The lowest live hold of an instance: 1 with its LSN and name (the caller frees it; ret_name may
 * be NULL), 0, or negative errno. */
int holds_find_lowest(
        sqlite3 *db, int64_t object_id, int64_t now_ns, struct lsn *ret_lsn, char **ret_name);

#endif
