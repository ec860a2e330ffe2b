/* SPDX-License-Identifier: MIT
 *
 * content: the bytes of closed files at any offset, for any number of readers at once.
 *
 * The first reader that needs bytes renders them into a spool, in pieces that grow; all who read
 * the same file share the spool, and those who come meanwhile wait for the piece. Nothing is
 * rendered before it is asked for, and nobody renders the same bytes twice at once. Spools of
 * files that nobody has open are kept, the least recently used go first, up to a budget.
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
#include <stddef.h>
#include <stdint.h>

enum {
        CONTENT_BUDGET = 64 << 20,       /* bytes of spools that nobody has open */
        CONTENT_IDLE_COUNT = 256,        /* such spools, for each takes a descriptor */
        CONTENT_PIECE_FIRST = 128 << 10, /* bytes rendered at once: little for a glance, */
        CONTENT_PIECE_LAST = 2 << 20,    /* more for one who reads on */
};

struct content_pool;
struct content;

/* directory: for large spools, copied. budget 0: CONTENT_BUDGET. owner: what content_owner gives
 * for contents of this pool. */
int content_pool_new(
        const char *directory, uint64_t budget, void *owner, struct content_pool **ret_pool);
/* Contents that are still open go with it. NULL is allowed. */
void content_pool_free(struct content_pool *pool);
void *content_owner(const struct content *content);
/* Bytes in spools now, open ones included. */
uint64_t content_pool_bytes(struct content_pool *pool);

/* A handle of a published file. One that is withdrawn is rendered whole at once, for its rows will
 * go. -ENOENT: no such file. */
int content_open(
        struct content_pool *pool, sqlite3 *db, uint64_t ino, struct content **ret_content);
/* Fills `size` bytes at `offset`, fewer only at the end of the file, rendering or waiting as
 * needed. -EIO also where the file does not come out as it was measured, for as long as it is
 * in the pool; -ESTALE: its instance is gone. Other errors are not kept: the next call tries
 * again. */
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
