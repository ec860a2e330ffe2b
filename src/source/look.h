/* SPDX-License-Identifier: MIT
 *
 * look: the schema of a source, for a command that leaves nothing behind.
 *
 * A database that nobody has open is read as immutable, so that no -wal or -shm appears beside it;
 * one that has a log is read as every application does, without the checkpoint at the close, which
 * could take from the agent what it has not captured.
 */
#ifndef CDC_LOOK_H
#define CDC_LOOK_H

#include <stdbool.h>

#include "ground/problem.h"
#include "source/schema.h"

struct look {
        struct schema *schema; /* one reference, the caller's */
        bool is_auto_vacuum;
};

/* path: as check_source found it. 0 or negative errno. */
int look_at_schema(const char *path, enum text_encoding encoding, struct look *ret_look,
        struct problem *problem);

#endif
