/* SPDX-License-Identifier: MIT
 *
 * filebytes: the bytes of a closed file, a piece at a time.
 *
 * A closed file is a pure function of its change rows, its instance's column names and the
 * version of its renderer. Its bytes begin anew at any position, so that nobody holds a read
 * transaction of the store from one piece to the next:
 *
 *      struct filebytes_position position = filebytes_start(&file);
 *      while ((r = filebytes_render(db, &file, 1 << 20, &position, &buf, NULL)) > 0)
 *              … buf.data, buf_reset(&buf) …
 *
 * A position is whatever stands between two changes; one that is kept (a checkpoint) leads to
 * the same bytes for ever.
 */
#ifndef CDC_FILEBYTES_H
#define CDC_FILEBYTES_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "ground/buf.h"
#include "memory/files.h"

/* A piece of net changes has at least this many bytes, whatever is asked: each reads the changes of
 * the whole file. */
enum { FILEBYTES_NET_PIECE = 8 << 20 };

struct filebytes_position {
        uint64_t offset;      /* bytes of the file that stand before it */
        uint64_t next_change; /* `__$seqval` that the first change after it has at least */
        int64_t rows;         /* written on the way here */
};

/* How many bytes a piece at an offset should have, so that pieces begin at the same offsets for
 * whoever cuts a file: little for a glance at its head, a MiB for one who reads on. */
size_t filebytes_piece(uint64_t offset);
/* Before the header. */
struct filebytes_position filebytes_start(const struct file_row *file);
/* Appends at least `size` bytes (fewer at the end), whole changes always, and moves *position
 * behind them. odd_text, if not NULL, is raised by the TEXT values that had to be shown as hex.
 * 1: there is more; 0: the file ends here; -ENOTSUP: no renderer of its version is known;
 * -ENOENT: its instance is gone. After an error the buffer's new bytes are worthless and the
 * position has not moved. */
int filebytes_render(sqlite3 *db, const struct file_row *file, size_t size,
        struct filebytes_position *position, struct buf *buf, int64_t *odd_text);

#endif
