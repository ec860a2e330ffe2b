/* SPDX-License-Identifier: MIT
 *
 * content: shared spools of closed files, and which of them stay.
 *
 * It knows neither FUSE nor catalogs, and not how bytes are made (filebytes) or kept (spool).
 *
 * Two locks, both leaves, never held over SQLite or the disk: the pool's guards the list, the
 * counts and the sums; a content's guards how far it is rendered and who renders.
 */
#include "faces/content.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "faces/filebytes.h"
#include "faces/spool.h"
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "memory/files.h"

struct content {
        struct content_pool *pool;
        struct file_row file; /* immutable */
        /* guarded by pool->lock */
        struct content *newer, *older; /* in the list, by last use */
        unsigned handles;
        uint64_t charged; /* bytes it counts for in the pool */
        /* guarded by lock */
        pthread_mutex_t lock;
        pthread_cond_t moved; /* `ready` grew, or nobody renders any more */
        uint64_t ready;       /* bytes in the spool */
        bool is_rendering;
        bool is_bad; /* it came out other than it was measured */
        /* written by whoever renders; the descriptor stays once `ready` is above 0 */
        int fd;
        struct filebytes_position position;
        size_t piece;
};

struct content_pool {
        char *directory;
        uint64_t budget;
        void *owner;
        pthread_mutex_t lock;
        struct content *newest, *oldest;
        unsigned idle_count; /* without handles */
        uint64_t idle_bytes;
        uint64_t bytes;
};

/* ---- the pool ---- */

int content_pool_new(
        const char *directory, uint64_t budget, void *owner, struct content_pool **ret_pool)
{
        struct content_pool *pool = calloc(1, sizeof *pool);
        if (!pool || !(pool->directory = strdup(directory))) {
                free(pool);
                return -ENOMEM;
        }
        pool->budget = budget ? budget : CONTENT_BUDGET;
        pool->owner = owner;
        pthread_mutex_init(&pool->lock, NULL);
        *ret_pool = pool;
        return 0;
}

static void content_free(struct content *content)
{
        if (content->fd >= 0)
                close(content->fd);
        pthread_mutex_destroy(&content->lock);
        pthread_cond_destroy(&content->moved);
        free(content);
}

void content_pool_free(struct content_pool *pool)
{
        if (!pool)
                return;
        for (struct content *content = pool->newest, *next; content; content = next) {
                next = content->older;
                content_free(content);
        }
        pthread_mutex_destroy(&pool->lock);
        free(pool->directory);
        free(pool);
}

void *content_owner(const struct content *content)
{
        return content->pool->owner;
}

uint64_t content_pool_bytes(struct content_pool *pool)
{
        pthread_mutex_lock(&pool->lock);
        uint64_t bytes = pool->bytes;
        pthread_mutex_unlock(&pool->lock);
        return bytes;
}

/* The functions with `pool_` want pool->lock. */
static void pool_unlink(struct content_pool *pool, struct content *content)
{
        if (content->newer)
                content->newer->older = content->older;
        else
                pool->newest = content->older;
        if (content->older)
                content->older->newer = content->newer;
        else
                pool->oldest = content->newer;
        content->newer = content->older = NULL;
}

static void pool_link_newest(struct content_pool *pool, struct content *content)
{
        content->older = pool->newest;
        if (pool->newest)
                pool->newest->newer = content;
        else
                pool->oldest = content;
        pool->newest = content;
}

static struct content *pool_find(struct content_pool *pool, uint64_t ino)
{
        for (struct content *content = pool->newest; content; content = content->older) {
                if (content->file.ino == ino)
                        return content;
        }
        return NULL;
}

static void pool_take_handle(struct content_pool *pool, struct content *content)
{
        if (content->handles++ == 0) {
                pool->idle_count--;
                pool->idle_bytes -= content->charged;
        }
        pool_unlink(pool, content);
        pool_link_newest(pool, content);
}

/* Takes what is over the budget out of the list, oldest first; the caller frees it. */
static struct content *pool_take_surplus(struct content_pool *pool)
{
        struct content *surplus = NULL;
        struct content *content = pool->oldest;
        while (content &&
                (pool->idle_bytes > pool->budget || pool->idle_count > CONTENT_IDLE_COUNT)) {
                struct content *newer = content->newer;
                if (content->handles == 0) {
                        pool_unlink(pool, content);
                        pool->idle_count--;
                        pool->idle_bytes -= content->charged;
                        pool->bytes -= content->charged;
                        content->older = surplus;
                        surplus = content;
                }
                content = newer;
        }
        return surplus;
}

/* ---- handles ---- */

static int load_content(
        struct content_pool *pool, sqlite3 *db, uint64_t ino, struct content **ret_content)
{
        struct file_row file;
        int r = files_find_ino(db, ino, &file);
        if (r < 0)
                return r;
        if (r == 0 || !file.is_published)
                return -ENOENT;
        struct content *content = calloc(1, sizeof *content);
        if (!content)
                return -ENOMEM;
        content->pool = pool;
        content->file = file;
        content->fd = -1;
        content->position = filebytes_start(&file);
        content->piece = CONTENT_PIECE_FIRST;
        pthread_mutex_init(&content->lock, NULL);
        pthread_cond_init(&content->moved, NULL);
        *ret_content = content;
        return 0;
}

static int find_or_load(
        struct content_pool *pool, sqlite3 *db, uint64_t ino, struct content **ret_content)
{
        pthread_mutex_lock(&pool->lock);
        struct content *found = pool_find(pool, ino);
        if (found)
                pool_take_handle(pool, found);
        pthread_mutex_unlock(&pool->lock);
        if (found) {
                *ret_content = found;
                return 0;
        }

        struct content *loaded = NULL;
        int r = load_content(pool, db, ino, &loaded);
        if (r < 0)
                return r;
        pthread_mutex_lock(&pool->lock);
        found = pool_find(pool, ino); /* another thread may have been faster */
        if (!found) {
                pool_link_newest(pool, loaded);
                pool->idle_count++;
        }
        pool_take_handle(pool, found ? found : loaded);
        pthread_mutex_unlock(&pool->lock);
        if (found)
                content_free(loaded);
        *ret_content = found ? found : loaded;
        return 0;
}

void content_close(struct content *content)
{
        struct content_pool *pool = content->pool;
        pthread_mutex_lock(&pool->lock);
        if (--content->handles == 0) {
                pool->idle_count++;
                pool->idle_bytes += content->charged;
        }
        struct content *surplus = pool_take_surplus(pool);
        pthread_mutex_unlock(&pool->lock);
        while (surplus) {
                struct content *next = surplus->older;
                content_free(surplus);
                surplus = next;
        }
}

/* ---- rendering ---- */

/* One piece into the spool, by the one thread that has set is_rendering. */
static int render_piece(struct content *content, sqlite3 *db, uint64_t ready, uint64_t *ret_ready)
{
        if (content->fd < 0) {
                int r = spool_open(
                        content->pool->directory, (uint64_t)content->file.bytes, &content->fd);
                if (r < 0)
                        return r;
        }
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_reserve(&buf, content->piece + content->piece / 8);
        struct filebytes_position position = content->position;
        int r = filebytes_render(db, &content->file, content->piece, &position, &buf, NULL);
        if (r < 0)
                return r == -ENOENT ? -ESTALE : r;
        /* Before a reader can see them: too many bytes, or an end too soon. */
        uint64_t size = (uint64_t)content->file.bytes;
        if (position.offset > size || (r == 0 && position.offset != size))
                return -EBADMSG;
        r = spool_write(content->fd, buf.data, buf.size, ready);
        if (r < 0)
                return r == -ENOSPC ? -EIO : r;
        content->position = position;
        if (content->piece < CONTENT_PIECE_LAST)
                content->piece *= 2;
        *ret_ready = position.offset;
        return 0;
}

static void charge(struct content *content, uint64_t bytes)
{
        pthread_mutex_lock(&content->pool->lock);
        content->pool->bytes += bytes - content->charged;
        content->charged = bytes;
        pthread_mutex_unlock(&content->pool->lock);
}

/* Renders as the only one, with content->lock held before and after. */
static int render_alone(struct content *content, sqlite3 *db)
{
        uint64_t ready = content->ready;
        content->is_rendering = true;
        pthread_mutex_unlock(&content->lock);
        int r = render_piece(content, db, ready, &ready);
        if (r == 0)
                charge(content, ready);
        pthread_mutex_lock(&content->lock);
        content->ready = ready;
        content->is_rendering = false;
        content->is_bad |= r == -EBADMSG;
        pthread_cond_broadcast(&content->moved);
        return r == -EBADMSG ? -EIO : r;
}

static int make_ready(struct content *content, sqlite3 *db, uint64_t end)
{
        int r = 0;
        pthread_mutex_lock(&content->lock);
        while (r == 0 && content->ready < end) {
                if (content->is_bad)
                        r = -EIO;
                else if (content->is_rendering)
                        pthread_cond_wait(&content->moved, &content->lock);
                else
                        r = render_alone(content, db);
        }
        pthread_mutex_unlock(&content->lock);
        return r;
}

/* ---- files that go ---- */

int content_open(struct content_pool *pool, sqlite3 *db, uint64_t ino, struct content **ret_content)
{
        struct content *content = NULL;
        int r = find_or_load(pool, db, ino, &content);
        if (r < 0)
                return r;
        if (content->file.is_withdrawn)
                r = make_ready(content, db, (uint64_t)content->file.bytes);
        if (r < 0) {
                content_close(content);
                return r;
        }
        *ret_content = content;
        return 0;
}

/* Handles of all contents that have one. */
static int take_open(struct content_pool *pool, struct content ***ret_contents, size_t *ret_count)
{
        size_t count = 0;
        pthread_mutex_lock(&pool->lock);
        for (struct content *content = pool->newest; content; content = content->older)
                count += content->handles > 0;
        struct content **contents = calloc(count + 1, sizeof(struct content *));
        count = 0;
        for (struct content *content = pool->newest; contents && content; content = content->older)
                if (content->handles > 0) {
                        content->handles++;
                        contents[count++] = content;
                }
        pthread_mutex_unlock(&pool->lock);
        if (!contents)
                return -ENOMEM;
        *ret_contents = contents;
        *ret_count = count;
        return 0;
}

static int keep(struct content *content, sqlite3 *db)
{
        struct file_row file;
        int r = files_find_ino(db, content->file.ino, &file);
        if (r <= 0 || !file.is_withdrawn)
                return r < 0 ? r : 0;
        return make_ready(content, db, (uint64_t)content->file.bytes);
}

int content_pool_keep(struct content_pool *pool, sqlite3 *db)
{
        _cleanup_free_ struct content **contents = NULL;
        size_t count = 0;
        int result = take_open(pool, &contents, &count);
        for (size_t i = 0; i < count; i++) {
                int r = keep(contents[i], db);
                if (r < 0 && result == 0)
                        result = r;
                content_close(contents[i]);
        }
        return result;
}

/* ---- reading ---- */

/* How many of `size` bytes at `offset` the file has. */
static size_t clip(const struct content *content, uint64_t offset, size_t size)
{
        uint64_t bytes = (uint64_t)content->file.bytes;
        if (offset >= bytes)
                return 0;
        return size < bytes - offset ? size : (size_t)(bytes - offset);
}

int content_read(struct content *content, sqlite3 *db, uint64_t offset, void *buffer, size_t size,
        size_t *ret_size)
{
        size = clip(content, offset, size);
        int r = size ? make_ready(content, db, offset + size) : 0;
        if (r == 0 && size)
                r = spool_read(content->fd, buffer, size, offset);
        if (r < 0)
                return r;
        *ret_size = size;
        return 0;
}

int content_try_read(
        struct content *content, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
        size = clip(content, offset, size);
        pthread_mutex_lock(&content->lock);
        bool is_ready = size == 0 || content->ready >= offset + size;
        pthread_mutex_unlock(&content->lock);
        if (!is_ready)
                return -EAGAIN;
        int r = size ? spool_read(content->fd, buffer, size, offset) : 0;
        if (r < 0)
                return r;
        *ret_size = size;
        return 0;
}
