/* SPDX-License-Identifier: MIT
 *
 * content: the bytes of closed files and of ranges at any offset, for any number of readers.
 *
 * A content is cut into pieces of about a MiB (the first ones are smaller: a glance is cheap).
 * Whoever needs a piece renders it onto a shelf, from where all who read the same file have it;
 * those who come meanwhile wait for it. Nobody renders the same piece twice at once. A closed
 * file's pieces begin at its checkpoints, so that its last bytes cost no more than its first; a
 * range is rendered once to learn its size, and its checkpoints stay here. All pieces share one
 * byte budget in memory and one on a disk, however many handles there are: the least recently
 * used go first and are made again when they are wanted.
 *
 *      content_pool_new(directory, 0, NULL, &pool);
 *      content_open(pool, db, ino, &content);
 *      if (content_try_read(content, offset, buffer, size, &got) == -EAGAIN)
 *              content_read(content, db, offset, buffer, size, &got);
 *      content_close(content);
 *
 * Thread-safe; `db` is the calling thread's own connection, with no transaction open, used by the
 * call only.
 */
#ifndef CDC_CONTENT_H
#define CDC_CONTENT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/files.h"

enum {
        CONTENT_BUDGET = 48 << 20,       /* bytes of pieces in memory, */
        CONTENT_DISK_BUDGET = 256 << 20, /* and on a disk: what of a range is beyond its first */
        CONTENT_RANGE_MEMORY = 8 << 20,  /* MiB, and pieces that are larger than this alone */
        CONTENT_IDLE_COUNT = 512,        /* contents that nobody has open and that are kept */
};

/* Numbers of ranges: no number of a store is so high. */
#define CONTENT_FIRST_RANGE (UINT64_C(1) << 52)

struct content_pool;
struct content;

/* Asked between pieces of long work: true ends it with -EINTR. What is done stays done. */
struct content_stop {
        bool (*is_stopped)(void *context);
        void *context;
};

/* directory: for what goes to a disk, copied. budget 0: CONTENT_BUDGET. owner: what content_owner
 * gives for contents of this pool. */
int content_pool_new(
        const char *directory, uint64_t budget, void *owner, struct content_pool **ret_pool);
/* Contents that are still open go with it. NULL is allowed. */
void content_pool_free(struct content_pool *pool);
void *content_owner(const struct content *content);
/* Bytes on shelves now, kept ones included. */
uint64_t content_pool_bytes(struct content_pool *pool);

/* A handle of a published file, or of a range that the pool still knows. A file that is withdrawn
 * is rendered whole at once, for its rows will go. -ENOENT: no such file. */
int content_open(
        struct content_pool *pool, sqlite3 *db, uint64_t ino, struct content **ret_content);
/* A handle of a range: object_id, format, renderer_version, from_lsn, to_lsn, first_change,
 * last_change and mtime_ns say of what; it gets its number here. Nothing is rendered. */
int content_open_range(
        struct content_pool *pool, const struct file_row *range, struct content **ret_content);
/* Renders a range to its end, once: then its size is known. stop may be NULL. Errors as of
 * content_read. */
int content_measure(struct content *content, sqlite3 *db, const struct content_stop *stop);
/* Its number, and its size as far as it is known. */
void content_status(
        struct content *content, uint64_t *ret_ino, uint64_t *ret_size, int64_t *ret_mtime_ns);

/* Fills `size` bytes at `offset`, fewer only at the end of the file, rendering or waiting as
 * needed. -EIO also where the file does not come out as it was measured, for as long as it is
 * in the pool; -ESTALE: its instance is gone, or the rows of a range. Other errors are not kept:
 * the next call tries again. */
int content_read(struct content *content, sqlite3 *db, uint64_t offset, void *buffer, size_t size,
        size_t *ret_size);
/* The same from what is rendered already: -EAGAIN where it is not. Never waits. */
int content_try_read(
        struct content *content, uint64_t offset, void *buffer, size_t size, size_t *ret_size);
void content_close(struct content *content);
/* Files may have been withdrawn: renders to the end those that somebody has open, so that they stay
 * whole when their rows go. 0, or the first error. */
int content_pool_keep(struct content_pool *pool, sqlite3 *db);

#endif
