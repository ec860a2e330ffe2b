/* SPDX-License-Identifier: MIT
 *
 * content_private: the state that the files of the room "content" share. Nobody else includes it.
 *
 *   content.c          the pool and its handles
 *   content_read.c     rendering, measuring and reading
 *   content_keep.c     files that were withdrawn
 */
#ifndef CDC_CONTENT_PRIVATE_H
#define CDC_CONTENT_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>

#include "faces/content.h"
#include "faces/filebytes.h"
#include "faces/shelf.h"
#include "memory/files.h"

/* Where a piece begins; it ends at the next mark, or with the file. */
struct content_mark {
        struct filebytes_position position;
        struct shelf_piece *piece; /* NULL: not on a shelf */
        bool is_rendering;
};

/* All but `pool` and the file's identity is guarded by the pool's lock. */
struct content {
        struct content_pool *pool;
        struct file_row file; /* of a range, `bytes` is set with is_whole */
        bool is_range;
        struct content *newer, *older; /* in the pool, by last use */
        unsigned handles;
        pthread_cond_t moved; /* a piece was rendered, or could not be */
        struct content_mark *marks;
        size_t mark_count, mark_room;
        bool is_whole; /* the last mark's piece ends with the file; else where it ends is unknown */
        bool is_bad;   /* it came out other than it was measured */
        bool is_kept;  /* its rows may go: its pieces stay as long as somebody has it open */
};

enum { CONTENT_MEMORY, CONTENT_DISK, CONTENT_SHELVES };

struct content_pool {
        char *directory; /* immutable, as the next */
        void *owner;
        pthread_mutex_t lock; /* guards all below and all contents; a leaf, held over no I/O */
        struct content *newest, *oldest;
        unsigned idle_count; /* without handles */
        void *files;         /* tree of struct content by inode number */
        void *ranges;        /* tree of those that are ranges, by what they are of */
        uint64_t next_ino;   /* of ranges */
        struct shelf shelves[CONTENT_SHELVES];
};

/* Takes the lock of the pool, for all functions that want it. */
void content_lock(struct content *content);
void content_unlock(struct content *content);
/* Adds a mark. 0 or -ENOMEM. With the lock, or before the content is shared. */
int content_add_mark(struct content *content, struct filebytes_position position);
/* Takes what is over the budgets off the shelves. With the lock; the caller frees the pieces of
 * each when he has let go of it. */
void content_take_surplus(struct content_pool *pool, struct shelf_piece *ret[CONTENT_SHELVES]);
void content_free_surplus(struct shelf_piece *surplus[CONTENT_SHELVES]);
/* Where the piece at a mark ends by what is known: the next mark, or the end of the file. With the
 * lock, as all that follow but the last. */
uint64_t content_end_of(const struct content *content, size_t index);
/* The piece at a mark is rendered, by this thread or another; the lock is let go of meanwhile. */
int content_step(struct content *content, sqlite3 *db, size_t index);
/* Its pieces need not stay any more. */
void content_unkeep(struct content *content);
/* Renders what is not on a shelf and keeps it there. */
int content_render_whole(struct content *content, sqlite3 *db);

#endif
