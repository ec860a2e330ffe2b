/* SPDX-License-Identifier: MIT
 *
 * closer: size, hash and odd texts of a closed file, in one pass over its bytes.
 */
#include "desk/closer.h"

#include <errno.h>
#include <stddef.h>

#include "faces/filebytes.h"
#include "ground/buf.h"
#include "ground/hash.h"

/* The state of one pass. */
struct pass {
        struct files_measure measure;
        struct hash hash;
        struct filebytes_position position;
        struct buf buf;
};

/* 1: there is more; 0: the file ends here. */
static int measure_piece(sqlite3 *db, const struct file_row *file, struct pass *pass)
{
        struct files_measure *measure = &pass->measure;
        buf_reset(&pass->buf);
        int r = filebytes_render(db, file, filebytes_piece(pass->position.offset), &pass->position,
                &pass->buf, &measure->odd_text);
        if (r < 0)
                return r;
        hash_update(&pass->hash, pass->buf.data, pass->buf.size);
        if (r == 0)
                return 0;
        r = checkpoints_append(
                &measure->checkpoints, pass->position.offset, pass->position.next_change);
        return r < 0 ? r : 1;
}

int closer_measure(sqlite3 *db, const struct file_row *file, const atomic_bool *is_stopped,
        struct files_measure *ret_measure)
{
        if (file->is_open)
                return -EINVAL;
        struct pass pass = {.position = filebytes_start(file)};
        hash_init(&pass.hash);
        int r = 1;
        while (r > 0)
                r = is_stopped && atomic_load(is_stopped) ? -EINTR : measure_piece(db, file, &pass);
        buf_release(&pass.buf);
        if (r < 0) {
                checkpoints_release(&pass.measure.checkpoints);
                return r;
        }
        pass.measure.bytes = (int64_t)pass.position.offset;
        pass.measure.rows = pass.position.rows;
        pass.measure.has_rows = true;
        hash_finish(&pass.hash, pass.measure.sha256);
        *ret_measure = pass.measure;
        return 0;
}
