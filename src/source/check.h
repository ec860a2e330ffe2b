/* SPDX-License-Identifier: MIT
 *
 * check: can the database at this path be captured? Asked by commands, before anything is made.
 *
 * Every refusal says what is in the way and what to do. A refused database is left as it was: no
 * byte of it and no file beside it is changed or made, which is why its header is read with plain
 * file calls and SQLite does not open it.
 *
 * Only for a process (a command) that has no SQLite connection to the source: closing the file
 * drops the POSIX locks that SQLite holds on it.
 */
#ifndef CDC_CHECK_H
#define CDC_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "ground/problem.h"

/* What its header says. */
struct check {
        char *path; /* owned, absolute and without symlinks: where SQLite puts the WAL */
        uint64_t device;
        uint64_t inode;
        uint32_t page_size;
        bool is_wal;
};

/* -ENOENT: there is no such file. -EISDIR: a directory. -EACCES, -EROFS: it, its -shm or -wal, or
 * its directory may not be written by this process. -EBADMSG: not a SQLite database, or an
 * encrypted one. -EBUSY: another process holds it with locking_mode=EXCLUSIVE. -ENOTSUP: empty,
 * no regular file, several hard links, or a file system that is shared over a network. */
int check_source(const char *path, struct check *ret_check, struct problem *problem);
/* 0 if it is in WAL mode; else -ENOTSUP with the reason and the way out. */
int check_is_wal(const struct check *check, struct problem *problem);
/* Sets WAL mode and check->is_wal. -EBUSY: another process has the database open. */
int check_set_wal(struct check *check, struct problem *problem);
/* 0 if shared memory and locks work on the file system that holds the path (a file or a
 * directory), else -ENOTSUP with its name. */
int check_filesystem(const char *path, struct problem *problem);
void check_release(struct check *check);

#endif
