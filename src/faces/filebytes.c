/* SPDX-License-Identifier: MIT
 *
 * filebytes: change rows from a position on, through the renderer that the file was made with.
 *
 * It knows neither who reads nor where the bytes go.
 */
#include "faces/filebytes.h"

#include <errno.h>
#include <stdbool.h>

#include "faces/changes.h"
#include "faces/render.h"
#include "ground/cleanup.h"

size_t filebytes_piece(uint64_t offset)
{
        enum { HEAD = 16 << 10, SECOND = 128 << 10, USUAL = 1 << 20 };
        return offset < HEAD ? HEAD : offset < SECOND ? SECOND : USUAL;
}

struct filebytes_position filebytes_start(const struct file_row *file)
{
        return (struct filebytes_position){.offset = 0, .next_change = file->first_change};
}

static int64_t count_odd_text(const struct result_shape *shape, const struct value *row)
{
        int64_t count = 0;
        for (unsigned i = CHANGES_METADATA; i < shape->count; i++)
                count += row[i].type == VALUE_TEXT && render_is_odd_text(&row[i], shape->encoding);
        return count;
}

/* Renders rows until `end` bytes stand in buf and the next row is another change. 1 with the
 * number of that change, 0 at the end. */
static int render_rows(struct changes *changes, const struct render *render, size_t end,
        struct buf *buf, int64_t *odd_text, uint64_t *ret_next)
{
        const struct value *row = NULL;
        uint64_t number = 0;
        int r;
        while ((r = changes_next(changes, &row)) > 0) {
                if (buf->size >= end && changes_number(changes) != number) {
                        *ret_next = changes_number(changes);
                        return 1;
                }
                number = changes_number(changes);
                render_row(render, row, buf);
                if (odd_text)
                        *odd_text += count_odd_text(changes_shape(changes), row);
                if (buf_error(buf) < 0)
                        return buf_error(buf);
        }
        return r;
}

int filebytes_render(sqlite3 *db, const struct file_row *file, size_t size,
        struct filebytes_position *position, struct buf *buf, int64_t *odd_text)
{
        const struct renderer *renderer = render_find_version(file->format, file->renderer_version);
        if (!renderer)
                return -ENOTSUP;
        _cleanup_changes_ struct changes *changes = NULL;
        int r = changes_open_range(db, file->object_id,
                (struct changes_range){position->next_change, file->last_change},
                CHANGES_ALL_UPDATE_OLD, &changes);
        if (r < 0)
                return r;
        _cleanup_(render_release) struct render render = {0};
        r = render_init(&render, renderer, changes_shape(changes));
        if (r < 0)
                return r;

        size_t start = buf->size;
        int64_t odd = 0;
        uint64_t next = position->next_change;
        if (position->offset == 0)
                render_header(&render, buf);
        r = render_rows(changes, &render, start + size, buf, odd_text ? &odd : NULL, &next);
        if (r >= 0 && buf_error(buf) < 0)
                r = buf_error(buf);
        if (r < 0)
                return r;
        position->offset += buf->size - start;
        position->next_change = r > 0 ? next : file->last_change + 1;
        if (odd_text)
                *odd_text += odd;
        return r;
}
