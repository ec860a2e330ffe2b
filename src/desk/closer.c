/* SPDX-License-Identifier: MIT
 *
 * closer: size, hash and odd texts of a closed file, in one pass over its bytes.
 */
#include "desk/closer.h"

#include <errno.h>
#include <string.h>

/* A position that is kept for readers stands a piece behind the one before. */
static int keep_checkpoint(struct closer_pass *pass)
{
        struct checkpoints *kept = &pass->measure.checkpoints;
        uint64_t last = kept->count > 0 ? kept->items[kept->count - 1].offset : 0;
        if (pass->position.offset < last + filebytes_piece(last))
                return 0;
        return checkpoints_append(kept, pass->position.offset, pass->position.next_change);
}

/* 1: there is more; 0: the file ends here. */
static int measure_piece(sqlite3 *db, const struct file_row *file, struct closer_pass *pass)
{
        buf_reset(&pass->buf);
        int r = filebytes_render(db, file, filebytes_piece(pass->position.offset), &pass->position,
                &pass->buf, &pass->measure.odd_text);
        if (r >= 0)
                hash_update(&pass->hash, pass->buf.data, pass->buf.size);
        return r;
}

struct closer_pass closer_begin(const struct file_row *file)
{
        struct closer_pass pass = {.position = filebytes_start(file)};
        hash_init(&pass.hash);
        return pass;
}

void closer_release(struct closer_pass *pass)
{
        buf_release(&pass->buf);
        checkpoints_release(&pass->measure.checkpoints);
        memset(pass, 0, sizeof *pass);
}

int closer_advance(sqlite3 *db, const struct file_row *file, uint64_t end, struct closer_pass *pass)
{
        struct file_row so_far = *file;
        so_far.last_change = end;
        if (end < pass->position.next_change)
                return 0;
        int r = measure_piece(db, &so_far, pass);
        int kept = r < 0 ? r : keep_checkpoint(pass);
        return kept < 0 ? kept : r;
}

static int measure_rest(sqlite3 *db, const struct file_row *file, const atomic_bool *is_stopped,
        struct closer_pass *pass)
{
        for (;;) {
                if (is_stopped && atomic_load(is_stopped))
                        return -EINTR;
                int r = measure_piece(db, file, pass);
                if (r <= 0 || (r = keep_checkpoint(pass)) < 0)
                        return r;
        }
}

int closer_finish(sqlite3 *db, const struct file_row *file, const atomic_bool *is_stopped,
        struct closer_pass *pass, struct files_measure *ret_measure)
{
        int r = file->is_open ? -EINVAL : measure_rest(db, file, is_stopped, pass);
        if (r == 0) {
                *ret_measure = pass->measure;
                ret_measure->bytes = (int64_t)pass->position.offset;
                ret_measure->rows = pass->position.rows;
                ret_measure->has_rows = true;
                hash_finish(&pass->hash, ret_measure->sha256);
                pass->measure.checkpoints = (struct checkpoints){0};
        }
        closer_release(pass);
        return r;
}

int closer_measure(sqlite3 *db, const struct file_row *file, const atomic_bool *is_stopped,
        struct files_measure *ret_measure)
{
        struct closer_pass pass = closer_begin(file);
        return closer_finish(db, file, is_stopped, &pass, ret_measure);
}
