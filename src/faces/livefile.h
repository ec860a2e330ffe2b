/* SPDX-License-Identifier: MIT
 *
 * livefile: the bytes of files that are not listed yet, as far as they have grown.
 *
 * An open file is a prefix of what it will be when it is closed, and always ends with a whole
 * transaction: it is rendered from where it ended before, up to the last change number that the
 * store's state names, and only then is its new size shown. How far each file has been rendered
 * is kept (a few hundred bytes a file); the bytes only of files that somebody reads, in a spool
 * to which growth is appended. Nobody renders the same bytes twice at once.
 *
 *      livefile_pool_new(directory, 0, NULL, &pool);
 *      livefile_stat(pool, db, ino, &status);
 *      livefile_open(pool, db, ino, &livefile);
 *      if (livefile_try_read(livefile, offset, buffer, size, &got) == -EAGAIN)
 *              livefile_read(livefile, db, offset, buffer, size, &got);
 *      livefile_close(livefile);
 *
 * What reads give has at least the size that anybody was told, here or in the listing. A file that
 * is closed and listed meanwhile stays readable here to its end.
 *
 * Thread-safe; `db` is the calling thread's own connection, with no transaction open, used by the
 * call only.
 */
#ifndef CDC_LIVEFILE_H
#define CDC_LIVEFILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        LIVEFILE_BUDGET = 32 << 20,     /* bytes of spools that nobody has open */
        LIVEFILE_IDLE_COUNT = 8192,     /* files that nobody has open and whose size is known */
        LIVEFILE_IDLE_SPOOLS = 128,     /* such with bytes, for each takes a descriptor */
        LIVEFILE_MEMORY_SIZE = 2 << 20, /* a spool that outgrows it moves to a disk */
        LIVEFILE_PIECE = 1 << 20,       /* bytes rendered at once */
        LIVEFILE_AT_ONCE = 1000,        /* changes of all tables that livefile_try_stat renders */
};

struct livefile_pool;
struct livefile;

struct livefile_status {
        uint64_t size;
        int64_t mtime_ns; /* commit time of the last row, rising with each growth */
        bool is_listed;   /* it has its name and will never change */
};

/* directory: for large spools, copied. budget 0: LIVEFILE_BUDGET. owner: what livefile_owner gives
 * for files of this pool. */
int livefile_pool_new(
        const char *directory, uint64_t budget, void *owner, struct livefile_pool **ret_pool);
/* What is still open goes with it. NULL is allowed. */
void livefile_pool_free(struct livefile_pool *pool);
void *livefile_owner(const struct livefile *livefile);
/* Bytes in spools now, and files that are known. */
uint64_t livefile_pool_bytes(struct livefile_pool *pool);
size_t livefile_pool_count(struct livefile_pool *pool);

/* As of now. -ENOENT: no such file; -ESTALE: its instance is gone. */
int livefile_stat(
        struct livefile_pool *pool, sqlite3 *db, uint64_t ino, struct livefile_status *ret_status);
/* The same if that is quick: -EAGAIN where much must be rendered first, or waited for. */
int livefile_try_stat(
        struct livefile_pool *pool, sqlite3 *db, uint64_t ino, struct livefile_status *ret_status);
/* A handle; nothing is rendered. Errors as of livefile_stat. */
int livefile_open(
        struct livefile_pool *pool, sqlite3 *db, uint64_t ino, struct livefile **ret_livefile);
/* Fills `size` bytes at `offset`, fewer only at the end, rendering or waiting as needed. */
int livefile_read(struct livefile *livefile, sqlite3 *db, uint64_t offset, void *buffer,
        size_t size, size_t *ret_size);
/* The same from what is rendered already: -EAGAIN where it is not. Never waits. */
int livefile_try_read(
        struct livefile *livefile, uint64_t offset, void *buffer, size_t size, size_t *ret_size);
void livefile_close(struct livefile *livefile);

#endif
