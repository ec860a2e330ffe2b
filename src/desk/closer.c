/* SPDX-License-Identifier: MIT
 *
 * closer: size, hash and odd texts of a closed file, in one pass over its bytes.
 */
#include "desk/closer.h"

#include <errno.h>
#include <stddef.h>

#include "faces/filebytes.h"
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "ground/hash.h"

enum { PIECE = 1 << 20 };

int closer_measure(sqlite3 *db, const struct file_row *file, const atomic_bool *is_stopped,
        struct files_measure *ret_measure)
{
        if (file->is_open)
                return -EINVAL;
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        buf_reserve(&buf, PIECE + PIECE / 8);
        struct files_measure measure = {0};
        struct hash hash;
        hash_init(&hash);
        struct filebytes_position position = filebytes_start(file);
        int r;
        do {
                if (is_stopped && atomic_load(is_stopped))
                        return -EINTR;
                buf_reset(&buf);
                r = filebytes_render(db, file, PIECE, &position, &buf, &measure.odd_text);
                if (r < 0)
                        return r;
                hash_update(&hash, buf.data, buf.size);
        } while (r > 0);
        measure.bytes = (int64_t)position.offset;
        hash_finish(&hash, measure.sha256);
        *ret_measure = measure;
        return 0;
}
