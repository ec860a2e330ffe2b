/* SPDX-License-Identifier: MIT
 *
 * livefile: growing, and reading what has grown.
 *
 * It knows neither FUSE nor catalogs, and not how bytes are made (filebytes) or kept (spool).
 *
 * Two locks, both leaves, never held over SQLite or the disk: the pool's guards which files are
 * known and used; a file's guards what of it may be shown and who is at work on it.
 */
#include "faces/livefile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "faces/livefile_private.h"
#include "faces/spool.h"
#include "ground/buf.h"
#include "ground/cleanup.h"

/* ---- the spool ---- */

/* The descriptor keeps its number, so that whoever reads in it meets the old spool or the new. */
static int move_to_disk(struct livefile *livefile)
{
        _cleanup_close_ int fd = -1;
        _cleanup_free_ char *bytes = malloc(LIVEFILE_MEMORY_SIZE);
        if (!bytes)
                return -ENOMEM;
        int r = spool_open(livefile->pool->directory, SPOOL_MEMORY_SIZE, &fd);
        for (uint64_t at = 0; r == 0 && at < livefile->written.offset;) {
                uint64_t left = livefile->written.offset - at;
                size_t size = left < LIVEFILE_MEMORY_SIZE ? (size_t)left : LIVEFILE_MEMORY_SIZE;
                r = spool_read(livefile->fd, bytes, size, at);
                if (r == 0)
                        r = spool_write(fd, bytes, size, at);
                at += size;
        }
        if (r == 0 && dup3(fd, livefile->fd, O_CLOEXEC) < 0)
                r = -errno;
        livefile->is_on_disk |= r == 0;
        return r;
}

static int open_spool(struct livefile *livefile)
{
        livefile->written = filebytes_start(&livefile->file);
        livefile->is_on_disk = livefile->measured.offset > LIVEFILE_MEMORY_SIZE;
        return spool_open(livefile->pool->directory, livefile->is_on_disk ? SPOOL_MEMORY_SIZE : 0,
                &livefile->fd);
}

static int append(
        struct livefile *livefile, const struct buf *buf, const struct filebytes_position *position)
{
        int r = 0;
        if (!livefile->is_on_disk && position->offset > LIVEFILE_MEMORY_SIZE)
                r = move_to_disk(livefile);
        if (r == 0)
                r = spool_write(livefile->fd, buf->data, buf->size, livefile->written.offset);
        if (r < 0)
                return r == -ENOSPC ? -EIO : r;
        livefile->written = *position;
        livefile_charge(livefile, position->offset);
        return 0;
}

/* ---- growing: by the one thread that has set is_working ---- */

/* One piece from a position on, up to the change number `end`; 1: there is more. */
static int render(const struct livefile *livefile, sqlite3 *db, uint64_t end,
        struct filebytes_position *position, struct buf *buf)
{
        struct file_row file = livefile->file;
        file.last_change = end;
        buf_reset(buf);
        int r = filebytes_render(db, &file, LIVEFILE_PIECE, position, buf, NULL);
        return r == -ENOENT ? -ESTALE : r;
}

static int measure(struct livefile *livefile, sqlite3 *db, uint64_t end)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        int r;
        do {
                struct filebytes_position position = livefile->measured;
                bool is_kept =
                        livefile->fd >= 0 && livefile->written.offset == livefile->measured.offset;
                r = render(livefile, db, end, &position, &buf);
                if (r < 0)
                        return r;
                /* If the bytes cannot be kept, whoever reads them will be told. */
                if (is_kept)
                        append(livefile, &buf, &position);
                livefile->measured = position;
        } while (r > 0);
        return 0;
}

/* *ret_time_ns: of the last row that came, 0 if none did. */
static int grow(struct livefile *livefile, sqlite3 *db, uint64_t end, int64_t *ret_time_ns)
{
        int r = livefile_find_last(
                db, livefile->file.object_id, livefile->measured.next_change, end, ret_time_ns);
        if (r < 0)
                return r == -ENOENT ? -ESTALE : r;
        if (r > 0 || !livefile->is_begun)
                return measure(livefile, db, end);
        livefile->measured.next_change = end + 1;
        return 0;
}

/* With livefile->lock held before and after. */
static int grow_alone(struct livefile *livefile, sqlite3 *db, uint64_t end)
{
        int64_t time_ns = 0;
        livefile->is_working = true;
        pthread_mutex_unlock(&livefile->lock);
        int r = grow(livefile, db, end, &time_ns);
        pthread_mutex_lock(&livefile->lock);
        livefile->is_working = false;
        livefile->spooled = livefile->fd >= 0 ? livefile->written.offset : 0;
        if (r == 0) {
                livefile->is_begun = true;
                livefile->size = livefile->measured.offset;
                livefile->next_change = end + 1;
        }
        if (r == 0 && time_ns > 0)
                livefile->mtime_ns =
                        time_ns > livefile->mtime_ns ? time_ns : livefile->mtime_ns + 1;
        pthread_cond_broadcast(&livefile->moved);
        return r;
}

static bool is_behind(const struct livefile *livefile, uint64_t end)
{
        return !livefile->is_begun || livefile->next_change <= end;
}

/* Until everything up to `end` is shown. */
static int bring_up(struct livefile *livefile, sqlite3 *db, uint64_t end, bool is_patient)
{
        int r = 0;
        pthread_mutex_lock(&livefile->lock);
        while (r == 0 && is_behind(livefile, end)) {
                uint64_t missing = end + 1 - livefile->next_change;
                if (!is_patient && (livefile->is_working || missing > LIVEFILE_AT_ONCE))
                        r = -EAGAIN;
                else if (livefile->is_working)
                        pthread_cond_wait(&livefile->moved, &livefile->lock);
                else
                        r = grow_alone(livefile, db, end);
        }
        pthread_mutex_unlock(&livefile->lock);
        return r;
}

/* ---- attributes ---- */

static int stat_file(struct livefile_pool *pool, sqlite3 *db, uint64_t ino, bool is_patient,
        struct livefile_status *ret_status)
{
        struct livefile_look look;
        struct livefile *livefile = NULL;
        int r = livefile_look(db, ino, &look);
        if (r < 0)
                return r;
        if (look.file.is_published) {
                *ret_status = (struct livefile_status){
                        (uint64_t)look.file.bytes, look.file.mtime_ns, true};
                return 0;
        }
        r = livefile_take(pool, db, &look.file, &livefile);
        if (r < 0)
                return r;
        r = bring_up(livefile, db, look.end, is_patient);
        if (r == 0) {
                pthread_mutex_lock(&livefile->lock);
                *ret_status = (struct livefile_status){livefile->size, livefile->mtime_ns, false};
                pthread_mutex_unlock(&livefile->lock);
        }
        livefile_put(livefile);
        return r;
}

int livefile_stat(
        struct livefile_pool *pool, sqlite3 *db, uint64_t ino, struct livefile_status *ret_status)
{
        return stat_file(pool, db, ino, true, ret_status);
}

int livefile_try_stat(
        struct livefile_pool *pool, sqlite3 *db, uint64_t ino, struct livefile_status *ret_status)
{
        return stat_file(pool, db, ino, false, ret_status);
}

/* ---- handles ---- */

int livefile_open(
        struct livefile_pool *pool, sqlite3 *db, uint64_t ino, struct livefile **ret_livefile)
{
        struct livefile_look look;
        int r = livefile_look(db, ino, &look);
        return r < 0 ? r : livefile_take(pool, db, &look.file, ret_livefile);
}

void livefile_close(struct livefile *livefile)
{
        livefile_put(livefile);
}

/* ---- reading ---- */

/* The next piece of what is shown and not in the spool yet. */
static int fill(struct livefile *livefile, sqlite3 *db)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        int r = livefile->fd < 0 ? open_spool(livefile) : 0;
        if (r < 0)
                return r;
        struct filebytes_position position = livefile->written;
        r = render(livefile, db, livefile->measured.next_change - 1, &position, &buf);
        return r < 0 ? r : append(livefile, &buf, &position);
}

static int fill_alone(struct livefile *livefile, sqlite3 *db)
{
        livefile->is_working = true;
        pthread_mutex_unlock(&livefile->lock);
        int r = fill(livefile, db);
        pthread_mutex_lock(&livefile->lock);
        livefile->is_working = false;
        livefile->spooled = livefile->fd >= 0 ? livefile->written.offset : 0;
        pthread_cond_broadcast(&livefile->moved);
        return r;
}

/* The functions with `locked_` want livefile->lock. */
static size_t locked_clip(const struct livefile *livefile, uint64_t offset, size_t size)
{
        if (offset >= livefile->size)
                return 0;
        return size < livefile->size - offset ? size : (size_t)(livefile->size - offset);
}

static int locked_make_ready(struct livefile *livefile, sqlite3 *db, uint64_t end)
{
        int r = 0;
        while (r == 0 && livefile->spooled < end) {
                if (livefile->is_working)
                        pthread_cond_wait(&livefile->moved, &livefile->lock);
                else
                        r = fill_alone(livefile, db);
        }
        return r;
}

/* A larger size may have been told than is known here: one that was listed is told without a look
 * at its bytes. And whoever is given fewer bytes than he was told takes that for the end. */
static bool locked_may_be_short(const struct livefile *livefile, uint64_t offset, size_t size)
{
        return !livefile->is_whole && (!livefile->is_begun || offset + size > livefile->size);
}

static int catch_up(struct livefile *livefile, sqlite3 *db)
{
        struct livefile_look look;
        int r = livefile_look(db, livefile->ino, &look);
        if (r == 0)
                r = bring_up(livefile, db, look.end, true);
        if (r < 0)
                return r == -ENOENT ? -ESTALE : r;
        pthread_mutex_lock(&livefile->lock);
        livefile->is_whole |= !look.file.is_open && look.end == look.file.last_change;
        pthread_mutex_unlock(&livefile->lock);
        return 0;
}

int livefile_read(struct livefile *livefile, sqlite3 *db, uint64_t offset, void *buffer,
        size_t size, size_t *ret_size)
{
        pthread_mutex_lock(&livefile->lock);
        bool may_be_short = locked_may_be_short(livefile, offset, size);
        pthread_mutex_unlock(&livefile->lock);
        int r = may_be_short ? catch_up(livefile, db) : 0;
        if (r < 0)
                return r;
        pthread_mutex_lock(&livefile->lock);
        size = locked_clip(livefile, offset, size);
        r = size ? locked_make_ready(livefile, db, offset + size) : 0;
        pthread_mutex_unlock(&livefile->lock);
        if (r == 0 && size)
                r = spool_read(livefile->fd, buffer, size, offset);
        if (r == 0)
                *ret_size = size;
        return r;
}

int livefile_try_read(
        struct livefile *livefile, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
        pthread_mutex_lock(&livefile->lock);
        bool is_ready = !locked_may_be_short(livefile, offset, size);
        size = locked_clip(livefile, offset, size);
        is_ready &= size == 0 || livefile->spooled >= offset + size;
        pthread_mutex_unlock(&livefile->lock);
        if (!is_ready)
                return -EAGAIN;
        int r = size ? spool_read(livefile->fd, buffer, size, offset) : 0;
        if (r == 0)
                *ret_size = size;
        return r;
}
