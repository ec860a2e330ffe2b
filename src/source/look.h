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
#include <stdint.h>

#include "ground/problem.h"
#include "source/schema.h"

struct look {
        struct schema *schema; /* one reference, the caller's */
        enum text_encoding encoding;
};

/* path: as check_source found it. 0 or negative errno. */
int look_at_schema(const char *path, struct look *ret_look, struct problem *problem);

/* How far the log is, as its wal-index header says. */
struct look_log {
        uint32_t frames; /* committed in this WAL */
        uint8_t salt[8]; /* of it, as in its header */
};

/* 1; 0 where nobody has the log open, or a writer is just publishing. Only in a process without a
 * SQLite connection to the source. */
int look_at_log(const char *path, struct look_log *ret_log);

#endif
