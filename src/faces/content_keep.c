/* SPDX-License-Identifier: MIT
 *
 * content_keep: files that cleanup has withdrawn: whoever has one open reads it to its end, so all
 * of it is rendered before its rows go, and stays on the disk shelf, in no budget, until it is
 * closed.
 */
#include <errno.h>
#include <stdlib.h>

#include "faces/content_private.h"
#include "ground/cleanup.h"

/* ---- one ---- */

/* On a shelf, or known to be empty. With the lock. */
static bool is_there(const struct content *content, size_t index)
{
        const struct content_mark *mark = &content->marks[index];
        return mark->piece || content_end_of(content, index) == mark->position.offset;
}

/* With the lock. Marks are added meanwhile. */
static int render_all(struct content *content, sqlite3 *db)
{
        int r = 0;
        for (size_t i = 0; r == 0 && i < content->mark_count; i++) {
                while (r == 0 && !is_there(content, i))
                        r = content_step(content, db, i);
        }
        return r;
}

int content_render_whole(struct content *content, sqlite3 *db)
{
        content_lock(content);
        content->is_kept = true;
        for (size_t i = 0; i < content->mark_count; i++) {
                if (content->marks[i].piece)
                        shelf_keep(content->marks[i].piece, true);
        }
        int r = render_all(content, db);
        content_unlock(content);
        return r;
}

void content_unkeep(struct content *content)
{
        for (size_t i = 0; i < content->mark_count; i++) {
                struct shelf_piece *piece = content->marks[i].piece;
                if (piece)
                        shelf_keep(piece, false);
        }
        content->is_kept = false;
}

/* ---- all that are open ---- */

/* Handles of all files that have one. */
static int take_open(struct content_pool *pool, struct content ***ret_contents, size_t *ret_count)
{
        size_t count = 0;
        pthread_mutex_lock(&pool->lock);
        for (struct content *content = pool->newest; content; content = content->older)
                count += content->handles > 0 && !content->is_range;
        struct content **contents = calloc(count + 1, sizeof(struct content *));
        count = 0;
        for (struct content *content = pool->newest; contents && content;
                content = content->older) {
                if (content->handles == 0 || content->is_range)
                        continue;
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
        return content_render_whole(content, db);
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
