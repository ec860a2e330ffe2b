/* SPDX-License-Identifier: MIT
 *
 * identity: which file the source is, and which process runs its jobs.
 *
 * One process at a time holds flock(LOCK_EX) on a descriptor of the source file and keeps it for
 * its life: it is refused through symlinks and hard links alike, and disturbs no lock of SQLite
 * (flock and POSIX locks do not meet). The descriptor must be closed after the last SQLite
 * connection of this process to the source: closing it drops their POSIX locks.
 */
#ifndef CDC_IDENTITY_H
#define CDC_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "ground/problem.h"

struct identity {
        int fd; /* owned */
        uint64_t device;
        uint64_t inode;
        char *path; /* owned, absolute */
};

/* Takes the lock. -EBUSY if another process has it (the message names its pid), -ENOTSUP if the
 * file has several hard links, else the system's error. */
int identity_claim(const char *path, struct identity *ret_identity, struct problem *problem);
void identity_release(struct identity *identity);
/* The same lock on a store, which two databases must not write. Its descriptor is never closed,
 * since that would drop the POSIX locks of this process's connections to the store. 0 and the
 * descriptor, -ENOENT, -EADDRINUSE if another process has the lock (the message names its pid),
 * else the system's error. */
int identity_claim_store(const char *path, int *ret_fd, struct problem *problem);
/* Gives the lock of a store back and leaves the descriptor open. -1 is allowed. */
void identity_release_store(int fd);
/* 1 if the path no longer leads to the claimed file, 0 if it does, -ENOENT if it leads nowhere. */
int identity_changed(const struct identity *identity);
/* The wal-index file, to be asked who holds a lock in it. The descriptor must be closed after the
 * last SQLite connection of this process to the source, as must the identity's. Negative errno. */
int identity_open_index(const struct identity *identity);
/* Does another process hold the lock of the log's one writer, of its one checkpointer? Asks without
 * disturbing anybody (file format, "WAL-Index Locks": bytes 120 and 121). */
bool identity_is_written(int index_fd);
bool identity_is_checkpointed(int index_fd);
/* 1 if a process runs the jobs of the database, 0 if none does, or negative errno. *ret_pid is 0
 * where the system does not tell. Only for a process without a SQLite connection to the source. */
int identity_holder(const char *path, pid_t *ret_pid);

#endif
