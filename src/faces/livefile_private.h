/* SPDX-License-Identifier: MIT
 *
 * livefile_private: what livefile.c (handles, rendering, reading), livefile_pool.c (which files
 * are known and whose bytes stay) and livefile_look.c (how far a file may be shown) share.
 */
#ifndef CDC_LIVEFILE_PRIVATE_H
#define CDC_LIVEFILE_PRIVATE_H

#include <pthread.h>

#include "faces/filebytes.h"
#include "faces/livefile.h"
#include "memory/files.h"

enum { LIVEFILE_BUCKETS = 1024 };

struct livefile {
        struct livefile_pool *pool; /* immutable, as the next two */
        uint64_t ino;
        struct file_row file; /* as when it was first looked at: what it is and where it begins */
        /* guarded by pool->lock */
        struct livefile *next;          /* in its bucket */
        struct livefile *newer, *older; /* in the list, by last use */
        unsigned users;                 /* handles and calls */
        uint64_t charged;               /* bytes it counts for in the pool */
        /* guarded by lock */
        pthread_mutex_t lock;
        pthread_cond_t moved; /* something below moved, or nobody is at work any more */
        bool is_working;      /* one thread renders, and owns what stands below */
        bool is_begun;        /* the header is rendered */
        bool is_whole;        /* it is closed, and `size` is all of it */
        uint64_t size;        /* that may be shown: up to the end of a transaction */
        uint64_t next_change; /* all changes below it are in `size` */
        int64_t mtime_ns;
        uint64_t spooled; /* bytes in the spool; the descriptor stays while users > 0 */
        /* written by whoever works */
        struct filebytes_position measured; /* at `size` or behind it */
        struct filebytes_position written;  /* where the spool ends */
        int fd;                             /* -1: no bytes are kept */
        bool is_on_disk;
};

struct livefile_pool {
        char *directory;
        uint64_t budget;
        void *owner;
        pthread_mutex_t lock; /* guards all below, and links, users and charges of files */
        struct livefile *buckets[LIVEFILE_BUCKETS];
        struct livefile *newest, *oldest;
        size_t count;
        size_t idle_count;  /* without users */
        size_t idle_spools; /* of them, with bytes */
        uint64_t idle_bytes;
        uint64_t bytes;
};

/* What the store says of a file now. */
struct livefile_look {
        struct file_row file;
        uint64_t end; /* number of the last change that may be shown */
};

/* livefile_look.c. -ENOENT: no such file. */
int livefile_look(sqlite3 *db, uint64_t ino, struct livefile_look *ret_look);
/* The commit time of the file's last row with a number from `from` to `to`. 1, or 0: it has none;
 * -ENOENT: the instance is gone. */
int livefile_find_last(
        sqlite3 *db, int64_t object_id, uint64_t from, uint64_t to, int64_t *ret_time_ns);
/* When the instance's directory last changed: the time of a file without rows. */
int livefile_find_begin(sqlite3 *db, int64_t object_id, int64_t *ret_time_ns);

/* livefile_pool.c. A file with one more user, known already or made. */
int livefile_take(struct livefile_pool *pool, sqlite3 *db, const struct file_row *file,
        struct livefile **ret_livefile);
/* One user less. */
void livefile_put(struct livefile *livefile);
/* It has so many bytes in its spool now. */
void livefile_charge(struct livefile *livefile, uint64_t bytes);

#endif
