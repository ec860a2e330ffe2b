/* SPDX-License-Identifier: MIT
 *
 * content_read: pieces that are wanted are rendered once, put on a shelf, and read from there.
 *
 * The lock is never held over SQLite or a spool: a piece that is being rendered is marked so, one
 * that is being read has a user.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "faces/content_private.h"
#include "ground/buf.h"
#include "ground/cleanup.h"

/* ---- onto the shelf ---- */

/* Of a range more is put aside than memory has room for, since its rows may go; of a file only
 * what is too large for memory, or must stay. */
static struct shelf *choose_shelf(
        const struct content *content, const struct filebytes_position *position, size_t size)
{
        bool is_far = content->is_range && position->offset >= CONTENT_RANGE_MEMORY;
        bool is_on_disk = size > CONTENT_RANGE_MEMORY || is_far || content->is_kept;
        return &content->pool->shelves[is_on_disk ? CONTENT_DISK : CONTENT_MEMORY];
}

/* A place on the shelf, opening its spool where it has none. With the lock, which is let go of
 * meanwhile. */
static int place(
        struct content *content, struct shelf *shelf, struct shelf_piece *piece, size_t size)
{
        while (shelf_wants_spool(shelf)) {
                struct shelf_spool *spool = NULL;
                content_unlock(content);
                int r = shelf_open_spool(shelf, &spool);
                content_lock(content);
                if (r < 0)
                        return r;
                if (!shelf_wants_spool(shelf))
                        shelf_unref_spool(spool);
                else
                        shelf_give_spool(shelf, spool);
        }
        shelf_place(shelf, piece, size);
        return 0;
}

/* With the lock, which is let go of meanwhile. */
static int put(struct content *content, size_t index, const struct buf *buf)
{
        struct shelf_piece *piece = calloc(1, sizeof *piece);
        if (!piece)
                return -ENOMEM;
        piece->owner = content;
        piece->index = index;
        struct shelf *shelf = choose_shelf(content, &content->marks[index].position, buf->size);
        int r = place(content, shelf, piece, buf->size);
        if (r < 0) {
                free(piece);
                return r;
        }
        content_unlock(content);
        r = shelf_write(piece, buf->data);
        if (r < 0)
                shelf_free_pieces(piece);
        content_lock(content);
        if (r < 0)
                return r == -ENOSPC ? -EIO : r;
        shelf_add(piece);
        shelf_keep(piece, content->is_kept);
        content->marks[index].piece = piece;
        return 0;
}

/* ---- rendering ---- */

uint64_t content_end_of(const struct content *content, size_t index)
{
        if (index + 1 < content->mark_count)
                return content->marks[index + 1].position.offset;
        return content->is_whole ? (uint64_t)content->file.bytes : UINT64_MAX;
}

/* Did the piece end where it must? `r`: what filebytes_render said. */
static bool is_right(
        const struct content *content, size_t index, const struct filebytes_position *end, int r)
{
        if (index + 1 < content->mark_count) {
                const struct filebytes_position *next = &content->marks[index + 1].position;
                /* A mark that was set at the end of what there was names the number after it: of a
                 * change of another table, or of none. */
                return end->offset == next->offset && end->next_change >= next->next_change;
        }
        if (content->is_whole)
                return r == 0 && end->offset == (uint64_t)content->file.bytes;
        if (content->is_range)
                return true;
        /* Before a reader can see them: too many bytes, or an end too soon. */
        uint64_t size = (uint64_t)content->file.bytes;
        return r > 0 ? end->offset <= size : end->offset == size;
}

/* The last piece so far was rendered for the first time: the next one begins there, or the file
 * ends. With the lock. */
static int go_on(struct content *content, const struct filebytes_position *end, int r)
{
        if (r > 0)
                return content_add_mark(content, *end);
        content->is_whole = true;
        content->file.bytes = (int64_t)end->offset;
        return 0;
}

/* Renders the piece at a mark as the only one. With the lock, which is let go of meanwhile. */
static int render(struct content *content, sqlite3 *db, size_t index)
{
        struct filebytes_position position = content->marks[index].position, end = position;
        bool is_last = index + 1 == content->mark_count && !content->is_whole;
        size_t size = is_last ? filebytes_piece(position.offset)
                              : (size_t)(content_end_of(content, index) - position.offset);
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        content->marks[index].is_rendering = true;
        content_unlock(content);
        buf_reserve(&buf, size + size / 8);
        int r = filebytes_render(db, &content->file, size, &end, &buf, NULL);
        content_lock(content);
        if (r >= 0 && !is_right(content, index, &end, r)) {
                content->is_bad = true;
                return content->is_range ? -ESTALE : -EIO;
        }
        if (r < 0)
                return r == -ENOENT ? -ESTALE : r;
        int put_r = buf.size > 0 ? put(content, index, &buf) : 0;
        return put_r == 0 && is_last ? go_on(content, &end, r) : put_r;
}

static int render_and_tell(struct content *content, sqlite3 *db, size_t index)
{
        struct shelf_piece *surplus[CONTENT_SHELVES];
        int r = render(content, db, index);
        content->marks[index].is_rendering = false;
        pthread_cond_broadcast(&content->moved);
        content_take_surplus(content->pool, surplus);
        content_unlock(content);
        content_free_surplus(surplus);
        content_lock(content);
        return r;
}

/* A moment of waiting for another thread that renders. With the lock. */
static void wait_a_moment(struct content *content)
{
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&content->moved, &content->pool->lock, &until);
}

int content_step(struct content *content, sqlite3 *db, size_t index)
{
        if (content->is_bad)
                return content->is_range ? -ESTALE : -EIO;
        if (!content->marks[index].is_rendering)
                return render_and_tell(content, db, index);
        wait_a_moment(content);
        return 0;
}

int content_measure(struct content *content, sqlite3 *db, const struct content_stop *stop)
{
        int r = 0;
        content_lock(content);
        while (r == 0 && !content->is_whole) {
                content_unlock(content);
                bool is_stopped = stop && stop->is_stopped(stop->context);
                content_lock(content);
                r = is_stopped ? -EINTR : content_step(content, db, content->mark_count - 1);
        }
        content_unlock(content);
        return r;
}

/* ---- reading ---- */

/* The last mark at or before an offset. */
static size_t find_mark(const struct content *content, uint64_t offset)
{
        size_t low = 0, high = content->mark_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (content->marks[middle].position.offset <= offset)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low - 1;
}

/* Copies from a piece as much as it has from an offset on. With the lock, which is let go of
 * meanwhile. */
static int copy(struct content *content, size_t index, uint64_t offset, void *buffer, size_t size,
        size_t *ret_size)
{
        struct shelf_piece *piece = content->marks[index].piece;
        uint64_t skipped = offset - content->marks[index].position.offset;
        if (size > piece->size - skipped)
                size = (size_t)(piece->size - skipped);
        piece->users++;
        shelf_touch(piece);
        content_unlock(content);
        int r = shelf_read(piece, skipped, buffer, size);
        content_lock(content);
        piece->users--;
        *ret_size = size;
        return r;
}

/* All of it; db NULL: only from what is there. */
static int read_all(
        struct content *content, sqlite3 *db, uint64_t offset, char *buffer, size_t size)
{
        int r = 0;
        content_lock(content);
        while (r == 0 && size > 0) {
                size_t index = find_mark(content, offset), got = 0;
                if (content->marks[index].piece)
                        r = copy(content, index, offset, buffer, size, &got);
                else
                        r = db ? content_step(content, db, index) : -EAGAIN;
                offset += got;
                buffer += got;
                size -= got;
        }
        content_unlock(content);
        return r;
}

/* How many of `size` bytes at `offset` the file has. */
static size_t clip(struct content *content, uint64_t offset, size_t size)
{
        content_lock(content);
        uint64_t bytes = (uint64_t)content->file.bytes;
        content_unlock(content);
        if (offset >= bytes)
                return 0;
        return size < bytes - offset ? size : (size_t)(bytes - offset);
}

int content_read(struct content *content, sqlite3 *db, uint64_t offset, void *buffer, size_t size,
        size_t *ret_size)
{
        int r = content->is_range ? content_measure(content, db, NULL) : 0;
        if (r < 0)
                return r;
        size = clip(content, offset, size);
        r = read_all(content, db, offset, buffer, size);
        if (r == 0)
                *ret_size = size;
        return r;
}

int content_try_read(
        struct content *content, uint64_t offset, void *buffer, size_t size, size_t *ret_size)
{
        size = clip(content, offset, size);
        int r = read_all(content, NULL, offset, buffer, size);
        if (r == 0)
                *ret_size = size;
        return r;
}
