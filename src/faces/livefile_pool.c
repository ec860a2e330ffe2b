/* SPDX-License-Identifier: MIT
 *
 * livefile_pool: the files that were looked at, by inode number and by last use. Those that nobody
 * uses lose their bytes first, and are forgotten when they are too many; the next look renders
 * them anew. It renders nothing itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faces/livefile_private.h"

int livefile_pool_new(
        const char *directory, uint64_t budget, void *owner, struct livefile_pool **ret_pool)
{
        struct livefile_pool *pool = calloc(1, sizeof *pool);
        if (!pool || !(pool->directory = strdup(directory))) {
                free(pool);
                return -ENOMEM;
        }
        pool->budget = budget ? budget : LIVEFILE_BUDGET;
        pool->owner = owner;
        pthread_mutex_init(&pool->lock, NULL);
        *ret_pool = pool;
        return 0;
}

static void livefile_free(struct livefile *livefile)
{
        if (livefile->fd >= 0)
                close(livefile->fd);
        pthread_mutex_destroy(&livefile->lock);
        pthread_cond_destroy(&livefile->moved);
        free(livefile);
}

void livefile_pool_free(struct livefile_pool *pool)
{
        if (!pool)
                return;
        for (struct livefile *livefile = pool->newest, *older; livefile; livefile = older) {
                older = livefile->older;
                livefile_free(livefile);
        }
        pthread_mutex_destroy(&pool->lock);
        free(pool->directory);
        free(pool);
}

void *livefile_owner(const struct livefile *livefile)
{
        return livefile->pool->owner;
}

uint64_t livefile_pool_bytes(struct livefile_pool *pool)
{
        pthread_mutex_lock(&pool->lock);
        uint64_t bytes = pool->bytes;
        pthread_mutex_unlock(&pool->lock);
        return bytes;
}

size_t livefile_pool_count(struct livefile_pool *pool)
{
        pthread_mutex_lock(&pool->lock);
        size_t count = pool->count;
        pthread_mutex_unlock(&pool->lock);
        return count;
}

/* ---- the functions with `pool_` want pool->lock ---- */

static struct livefile **pool_bucket(struct livefile_pool *pool, uint64_t ino)
{
        return &pool->buckets[ino % LIVEFILE_BUCKETS];
}

static void pool_unlink(struct livefile_pool *pool, struct livefile *livefile)
{
        if (livefile->newer)
                livefile->newer->older = livefile->older;
        else
                pool->newest = livefile->older;
        if (livefile->older)
                livefile->older->newer = livefile->newer;
        else
                pool->oldest = livefile->newer;
        livefile->newer = livefile->older = NULL;
}

static void pool_link_newest(struct livefile_pool *pool, struct livefile *livefile)
{
        livefile->older = pool->newest;
        if (pool->newest)
                pool->newest->newer = livefile;
        else
                pool->oldest = livefile;
        pool->newest = livefile;
}

/* sign: 1 for one that nobody uses any more, -1 for one that is used again. */
static void pool_count_idle(struct livefile_pool *pool, const struct livefile *livefile, int sign)
{
        pool->idle_count += (size_t)sign;
        pool->idle_spools += livefile->charged > 0 ? (size_t)sign : 0;
        pool->idle_bytes += (uint64_t)sign * livefile->charged;
}

static struct livefile *pool_find(struct livefile_pool *pool, uint64_t ino)
{
        struct livefile *livefile = *pool_bucket(pool, ino);
        while (livefile && livefile->ino != ino)
                livefile = livefile->next;
        if (!livefile)
                return NULL;
        if (livefile->users++ == 0)
                pool_count_idle(pool, livefile, -1);
        pool_unlink(pool, livefile);
        pool_link_newest(pool, livefile);
        return livefile;
}

static void pool_add(struct livefile_pool *pool, struct livefile *livefile)
{
        struct livefile **bucket = pool_bucket(pool, livefile->ino);
        livefile->next = *bucket;
        *bucket = livefile;
        pool_link_newest(pool, livefile);
        livefile->users = 1;
        pool->count++;
}

static void pool_remove(struct livefile_pool *pool, struct livefile *livefile)
{
        struct livefile **link = pool_bucket(pool, livefile->ino);
        while (*link != livefile)
                link = &(*link)->next;
        *link = livefile->next;
        pool_unlink(pool, livefile);
        pool_count_idle(pool, livefile, -1);
        pool->bytes -= livefile->charged;
        pool->count--;
}

/* The bytes of one that nobody uses; -1 where none need go. */
static int pool_take_surplus_spool(struct livefile_pool *pool)
{
        struct livefile *livefile = pool->oldest;
        if (pool->idle_bytes <= pool->budget && pool->idle_spools <= LIVEFILE_IDLE_SPOOLS)
                return -1;
        while (livefile && (livefile->users > 0 || livefile->charged == 0))
                livefile = livefile->newer;
        if (!livefile)
                return -1;
        pool_count_idle(pool, livefile, -1);
        pool->bytes -= livefile->charged;
        livefile->charged = 0;
        pool_count_idle(pool, livefile, 1);
        int fd = livefile->fd;
        livefile->fd = -1;
        livefile->spooled = 0;
        return fd;
}

static struct livefile *pool_take_surplus(struct livefile_pool *pool)
{
        struct livefile *livefile = pool->oldest;
        if (pool->idle_count <= LIVEFILE_IDLE_COUNT)
                return NULL;
        while (livefile && livefile->users > 0)
                livefile = livefile->newer;
        if (livefile)
                pool_remove(pool, livefile);
        return livefile;
}

/* ---- users ---- */

static int livefile_new(struct livefile_pool *pool, sqlite3 *db, const struct file_row *file,
        struct livefile **ret_livefile)
{
        int64_t begin_ns = 0;
        int r = livefile_find_begin(db, file->object_id, &begin_ns);
        if (r < 0)
                return r;
        struct livefile *livefile = calloc(1, sizeof *livefile);
        if (!livefile)
                return -ENOMEM;
        livefile->pool = pool;
        livefile->ino = file->ino;
        livefile->file = *file;
        livefile->mtime_ns = begin_ns;
        livefile->measured = filebytes_start(file);
        livefile->next_change = livefile->measured.next_change;
        livefile->fd = -1;
        pthread_mutex_init(&livefile->lock, NULL);
        pthread_cond_init(&livefile->moved, NULL);
        *ret_livefile = livefile;
        return 0;
}

int livefile_take(struct livefile_pool *pool, sqlite3 *db, const struct file_row *file,
        struct livefile **ret_livefile)
{
        pthread_mutex_lock(&pool->lock);
        struct livefile *found = pool_find(pool, file->ino);
        pthread_mutex_unlock(&pool->lock);
        if (found) {
                *ret_livefile = found;
                return 0;
        }
        struct livefile *made = NULL;
        int r = livefile_new(pool, db, file, &made);
        if (r < 0)
                return r == -ENOENT ? -ESTALE : r;
        pthread_mutex_lock(&pool->lock);
        found = pool_find(pool, file->ino); /* another thread may have been faster */
        if (!found)
                pool_add(pool, made);
        pthread_mutex_unlock(&pool->lock);
        if (found)
                livefile_free(made);
        *ret_livefile = found ? found : made;
        return 0;
}

void livefile_put(struct livefile *livefile)
{
        struct livefile_pool *pool = livefile->pool;
        struct livefile *surplus = NULL;
        int fd;
        pthread_mutex_lock(&pool->lock);
        if (--livefile->users == 0)
                pool_count_idle(pool, livefile, 1);
        do {
                fd = pool_take_surplus_spool(pool);
                surplus = pool_take_surplus(pool);
                pthread_mutex_unlock(&pool->lock);
                if (fd >= 0)
                        close(fd);
                if (surplus)
                        livefile_free(surplus);
                pthread_mutex_lock(&pool->lock);
        } while (fd >= 0 || surplus);
        pthread_mutex_unlock(&pool->lock);
}

void livefile_charge(struct livefile *livefile, uint64_t bytes)
{
        pthread_mutex_lock(&livefile->pool->lock);
        livefile->pool->bytes += bytes - livefile->charged;
        livefile->charged = bytes;
        pthread_mutex_unlock(&livefile->pool->lock);
}
