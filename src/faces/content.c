/* SPDX-License-Identifier: MIT
 *
 * content: the pool: which contents are known, who has them open, and which stay.
 *
 * It knows neither FUSE nor catalogs, and not how bytes are made (filebytes) or kept (shelf).
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "faces/content_private.h"
#include "ground/cleanup.h"

void content_lock(struct content *content)
{
        pthread_mutex_lock(&content->pool->lock);
}

void content_unlock(struct content *content)
{
        pthread_mutex_unlock(&content->pool->lock);
}

/* ---- finding ---- */

static int order_ino(const void *a, const void *b)
{
        const struct content *x = a, *y = b;
        return (x->file.ino > y->file.ino) - (x->file.ino < y->file.ino);
}

static int order_range(const void *a, const void *b)
{
        const struct file_row *x = &((const struct content *)a)->file;
        const struct file_row *y = &((const struct content *)b)->file;
        int order = (x->object_id > y->object_id) - (x->object_id < y->object_id);
        if (order == 0)
                order = lsn_compare(x->from_lsn, y->from_lsn);
        if (order == 0)
                order = lsn_compare(x->to_lsn, y->to_lsn);
        return order ? order : strcmp(x->format, y->format);
}

static struct content *found(void *node)
{
        return node ? *(struct content **)node : NULL;
}

/* The functions with `pool_` want pool->lock. */
static struct content *pool_find(struct content_pool *pool, const struct content *key)
{
        return key->is_range ? found(tfind(key, &pool->ranges, order_range))
                             : found(tfind(key, &pool->files, order_ino));
}

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

static int pool_add(struct content_pool *pool, struct content *content)
{
        if (content->is_range)
                content->file.ino = pool->next_ino++;
        if (!tsearch(content, &pool->files, order_ino))
                return -ENOMEM;
        if (content->is_range && !tsearch(content, &pool->ranges, order_range)) {
                tdelete(content, &pool->files, order_ino);
                return -ENOMEM;
        }
        pool_link_newest(pool, content);
        pool->idle_count++;
        return 0;
}

static void pool_take_handle(struct content_pool *pool, struct content *content)
{
        if (content->handles++ == 0)
                pool->idle_count--;
        pool_unlink(pool, content);
        pool_link_newest(pool, content);
}

/* ---- shelves ---- */

static void forget_piece(struct shelf_piece *piece)
{
        struct content *content = piece->owner;
        content->marks[piece->index].piece = NULL;
}

void content_take_surplus(struct content_pool *pool, struct shelf_piece *ret[CONTENT_SHELVES])
{
        for (unsigned i = 0; i < CONTENT_SHELVES; i++) {
                ret[i] = shelf_take_surplus(&pool->shelves[i]);
                for (struct shelf_piece *piece = ret[i]; piece; piece = piece->older)
                        forget_piece(piece);
        }
}

void content_free_surplus(struct shelf_piece *surplus[CONTENT_SHELVES])
{
        for (unsigned i = 0; i < CONTENT_SHELVES; i++)
                shelf_free_pieces(surplus[i]);
}

/* Takes all its pieces off the shelves. */
static struct shelf_piece *pool_take_pieces(struct content *content)
{
        struct shelf_piece *pieces = NULL;
        for (size_t i = 0; i < content->mark_count; i++) {
                struct shelf_piece *piece = content->marks[i].piece;
                if (!piece)
                        continue;
                shelf_remove(piece);
                content->marks[i].piece = NULL;
                piece->older = pieces;
                pieces = piece;
        }
        return pieces;
}

/* ---- contents ---- */

int content_add_mark(struct content *content, struct filebytes_position position)
{
        if (content->mark_count == content->mark_room) {
                size_t room = content->mark_room ? 2 * content->mark_room : 4;
                struct content_mark *marks =
                        reallocarray(content->marks, room, sizeof *content->marks);
                if (!marks)
                        return -ENOMEM;
                content->marks = marks;
                content->mark_room = room;
        }
        content->marks[content->mark_count++] = (struct content_mark){.position = position};
        return 0;
}

static void content_free(struct content *content)
{
        pthread_cond_destroy(&content->moved);
        free(content->marks);
        free(content);
}

/* One that nobody knows yet. */
static int content_new(
        struct content_pool *pool, const struct file_row *file, struct content **ret_content)
{
        struct content *content = calloc(1, sizeof *content);
        if (!content)
                return -ENOMEM;
        content->pool = pool;
        content->file = *file;
        pthread_cond_init(&content->moved, NULL);
        if (content_add_mark(content, filebytes_start(file)) < 0) {
                content_free(content);
                return -ENOMEM;
        }
        *ret_content = content;
        return 0;
}

static int add_checkpoints(struct content *content, sqlite3 *db)
{
        _cleanup_(checkpoints_release) struct checkpoints checkpoints = {0};
        int r = checkpoints_load(db, content->file.ino, &checkpoints);
        /* One that was kept when the file was still open may be its end. */
        uint64_t bytes = (uint64_t)content->file.bytes;
        for (size_t i = 0; r == 0 && i < checkpoints.count; i++)
                if (checkpoints.items[i].offset < bytes)
                        r = content_add_mark(
                                content, (struct filebytes_position){checkpoints.items[i].offset,
                                                 checkpoints.items[i].change});
        content->is_whole = checkpoints.count > 0;
        return r;
}

static int load_content(
        struct content_pool *pool, sqlite3 *db, uint64_t ino, struct content **ret_content)
{
        struct file_row file;
        struct content *content = NULL;
        int r = files_find_ino(db, ino, &file);
        if (r < 0)
                return r;
        if (r == 0 || !file.is_published)
                return -ENOENT;
        r = content_new(pool, &file, &content);
        if (r < 0)
                return r;
        r = add_checkpoints(content, db);
        if (r < 0) {
                content_free(content);
                return r;
        }
        *ret_content = content;
        return 0;
}

/* A handle of the content, which nobody knows yet and which is taken over, or of the same one that
 * another thread was faster with. */
static int share(struct content_pool *pool, struct content *content, struct content **ret_content)
{
        int r = 0;
        pthread_mutex_lock(&pool->lock);
        struct content *other = pool_find(pool, content);
        if (!other)
                r = pool_add(pool, content);
        if (r == 0)
                pool_take_handle(pool, other ? other : content);
        pthread_mutex_unlock(&pool->lock);
        if (other || r < 0)
                content_free(content);
        if (r == 0)
                *ret_content = other ? other : content;
        return r;
}

static struct content *take_known(struct content_pool *pool, const struct content *key)
{
        pthread_mutex_lock(&pool->lock);
        struct content *content = pool_find(pool, key);
        if (content)
                pool_take_handle(pool, content);
        pthread_mutex_unlock(&pool->lock);
        return content;
}

int content_open(struct content_pool *pool, sqlite3 *db, uint64_t ino, struct content **ret_content)
{
        const struct content key = {.file.ino = ino};
        struct content *content = take_known(pool, &key);
        int r = 0;
        if (!content) {
                struct content *loaded = NULL;
                r = ino < CONTENT_FIRST_RANGE ? load_content(pool, db, ino, &loaded) : -ENOENT;
                if (r == 0)
                        r = share(pool, loaded, &content);
                if (r < 0)
                        return r;
        }
        if (content->file.is_withdrawn && (r = content_render_whole(content, db)) < 0) {
                content_close(content);
                return r;
        }
        *ret_content = content;
        return 0;
}

int content_open_range(
        struct content_pool *pool, const struct file_row *range, struct content **ret_content)
{
        const struct content key = {.file = *range, .is_range = true};
        struct content *content = take_known(pool, &key);
        if (!content) {
                int r = content_new(pool, range, &content);
                if (r < 0)
                        return r;
                content->is_range = true;
                return share(pool, content, ret_content);
        }
        *ret_content = content;
        return 0;
}

void content_status(
        struct content *content, uint64_t *ret_ino, uint64_t *ret_size, int64_t *ret_mtime_ns)
{
        content_lock(content);
        *ret_ino = content->file.ino;
        *ret_size = (uint64_t)content->file.bytes;
        *ret_mtime_ns = content->file.mtime_ns;
        content_unlock(content);
}

/* Takes the oldest that nobody has open out of the pool, if there are too many. */
static struct content *pool_take_idle(struct content_pool *pool)
{
        struct content *content = pool->oldest;
        if (pool->idle_count <= CONTENT_IDLE_COUNT)
                return NULL;
        while (content && content->handles > 0)
                content = content->newer;
        if (!content)
                return NULL;
        pool_unlink(pool, content);
        pool->idle_count--;
        tdelete(content, &pool->files, order_ino);
        if (content->is_range)
                tdelete(content, &pool->ranges, order_range);
        return content;
}

void content_close(struct content *content)
{
        struct content_pool *pool = content->pool;
        struct shelf_piece *surplus[CONTENT_SHELVES], *pieces = NULL;
        pthread_mutex_lock(&pool->lock);
        if (--content->handles == 0) {
                pool->idle_count++;
                content_unkeep(content);
        }
        struct content *gone = pool_take_idle(pool);
        if (gone)
                pieces = pool_take_pieces(gone);
        content_take_surplus(pool, surplus);
        pthread_mutex_unlock(&pool->lock);
        content_free_surplus(surplus);
        shelf_free_pieces(pieces);
        if (gone)
                content_free(gone);
}

/* ---- life ---- */

int content_pool_new(
        const char *directory, uint64_t budget, void *owner, struct content_pool **ret_pool)
{
        struct content_pool *pool = calloc(1, sizeof *pool);
        if (!pool || !(pool->directory = strdup(directory))) {
                free(pool);
                return -ENOMEM;
        }
        pool->owner = owner;
        pool->next_ino = CONTENT_FIRST_RANGE;
        pool->shelves[CONTENT_MEMORY].budget = budget ? budget : CONTENT_BUDGET;
        pool->shelves[CONTENT_DISK].budget = budget ? budget : CONTENT_DISK_BUDGET;
        pool->shelves[CONTENT_DISK].directory = pool->directory;
        pthread_mutex_init(&pool->lock, NULL);
        *ret_pool = pool;
        return 0;
}

static void forget(void *content)
{
}

void content_pool_free(struct content_pool *pool)
{
        if (!pool)
                return;
        for (struct content *content = pool->newest, *next; content; content = next) {
                next = content->older;
                shelf_free_pieces(pool_take_pieces(content));
                content_free(content);
        }
        tdestroy(pool->files, forget);
        tdestroy(pool->ranges, forget);
        for (unsigned i = 0; i < CONTENT_SHELVES; i++)
                shelf_unref_spool(pool->shelves[i].spool);
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
        uint64_t bytes = 0;
        pthread_mutex_lock(&pool->lock);
        for (unsigned i = 0; i < CONTENT_SHELVES; i++)
                bytes += pool->shelves[i].bytes + pool->shelves[i].kept_bytes;
        pthread_mutex_unlock(&pool->lock);
        return bytes;
}
