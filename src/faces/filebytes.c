/* SPDX-License-Identifier: MIT
 *
 * filebytes: rows from a position on, through the renderer that the file was made with.
 *
 * It knows neither who reads nor where the bytes go.
 */
#include "faces/filebytes.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "faces/changes.h"
#include "faces/events.h"
#include "faces/mappingrows.h"
#include "faces/netchanges.h"
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

/* The rows of a file from a position on: of one of the two change functions, with commits or
 * without, or of lsn_time_mapping. */
struct rows {
        struct changes *changes; /* owned, or NULL, as the next two */
        struct events *events;
        struct netchanges *net;
        struct result mapping;
        const struct result_shape *shape;
        unsigned metadata; /* columns before the captured ones */
};

static void rows_close(struct rows *rows)
{
        changes_close(rows->changes);
        events_close(rows->events);
        netchanges_close(rows->net);
        result_close(&rows->mapping);
}

static int open_all(
        sqlite3 *db, const struct file_row *file, uint64_t next_change, struct rows *rows)
{
        const struct changes_range range = {next_change, file->last_change};
        int r = changes_open_range(
                db, file->object_id, range, CHANGES_ALL_UPDATE_OLD, &rows->changes);
        if (r < 0)
                return r;
        rows->shape = changes_shape(rows->changes);
        rows->metadata = CHANGES_METADATA;
        return 0;
}

static int open_events(
        sqlite3 *db, const struct file_row *file, uint64_t next_change, struct rows *rows)
{
        const struct changes_range range = {next_change, file->last_change};
        int r = events_open(db, file->object_id, range, &rows->events);
        if (r < 0)
                return r;
        rows->shape = events_shape(rows->events);
        rows->metadata = EVENTS_METADATA;
        return 0;
}

/* What a change comes to, all of the file says, so that each piece reads the whole. */
static int open_net(
        sqlite3 *db, const struct file_row *file, uint64_t next_change, struct rows *rows)
{
        const struct changes_range range = {file->first_change, file->last_change};
        int r = netchanges_open_range(
                db, file->object_id, range, NETCHANGES_ALL_WITH_MASK, &rows->net);
        if (r < 0)
                return r;
        netchanges_skip(rows->net, next_change);
        rows->shape = netchanges_shape(rows->net);
        rows->metadata = NETCHANGES_METADATA;
        return 0;
}

/* CSV is the table; JSONL is transactions/. */
static int open_mapping(sqlite3 *db, const struct file_row *file, const struct renderer *renderer,
        uint64_t next_change, struct rows *rows)
{
        enum mappingrows_kind kind =
                strcmp(renderer->name, "csv") == 0 ? MAPPINGROWS_TABLE : MAPPINGROWS_TRANSACTIONS;
        int r = mappingrows_open(db, kind, next_change, file->last_change, &rows->mapping);
        if (r < 0)
                return r;
        rows->shape = &rows->mapping.shape;
        rows->metadata = rows->shape->count;
        return 0;
}

static int rows_next(struct rows *rows, const struct value **ret_row, uint64_t *ret_number)
{
        if (rows->mapping.stmt) {
                int r = result_next(&rows->mapping, ret_row);
                if (r > 0)
                        *ret_number = mappingrows_number(&rows->mapping);
                return r;
        }
        int r = rows->net      ? netchanges_next(rows->net, ret_row)
                : rows->events ? events_next(rows->events, ret_row)
                               : changes_next(rows->changes, ret_row);
        if (r > 0)
                *ret_number = rows->net      ? netchanges_number(rows->net)
                              : rows->events ? events_number(rows->events)
                                             : changes_number(rows->changes);
        return r;
}

static int64_t count_odd_text(const struct rows *rows, const struct value *row)
{
        int64_t count = 0;
        for (unsigned i = rows->metadata; i < rows->shape->count; i++)
                count += row[i].type == VALUE_TEXT &&
                         render_is_odd_text(&row[i], rows->shape->encoding);
        return count;
}

/* Of an update's two rows the first makes no line where both come to one. */
static bool is_line(const struct render *render, const struct value *row)
{
        return !render->renderer->folds_update || row[EVENTS_OPERATION].integer != 3;
}

/* Renders rows until `end` bytes stand in buf and the next row is another change. 1 with the
 * number of that change, 0 at the end. */
static int render_rows(struct rows *rows, const struct render *render, size_t end, struct buf *buf,
        int64_t *odd_text, int64_t *count, uint64_t *ret_next)
{
        const struct value *row = NULL;
        uint64_t number = 0, next = 0;
        int r;
        while ((r = rows_next(rows, &row, &next)) > 0) {
                if (buf->size >= end && next != number) {
                        *ret_next = next;
                        return 1;
                }
                number = next;
                render_row(render, row, buf);
                *count += is_line(render, row);
                if (odd_text)
                        *odd_text += count_odd_text(rows, row);
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
        bool is_net = renderer->kind == RENDER_NET;
        _cleanup_(rows_close) struct rows rows = {0};
        int r = file->object_id == 0
                        ? open_mapping(db, file, renderer, position->next_change, &rows)
                : is_net                ? open_net(db, file, position->next_change, &rows)
                : renderer->has_commits ? open_events(db, file, position->next_change, &rows)
                                        : open_all(db, file, position->next_change, &rows);
        if (r < 0)
                return r;
        _cleanup_(render_release) struct render render = {0};
        r = render_init(&render, renderer, rows.shape);
        if (r < 0)
                return r;

        size_t start = buf->size;
        size_t least = is_net && size < FILEBYTES_NET_PIECE ? FILEBYTES_NET_PIECE : size;
        int64_t odd = 0, count = 0;
        uint64_t next = position->next_change;
        if (position->offset == 0)
                render_header(&render, buf);
        r = render_rows(&rows, &render, start + least, buf, odd_text ? &odd : NULL, &count, &next);
        if (r >= 0 && buf_error(buf) < 0)
                r = buf_error(buf);
        if (r < 0)
                return r;
        position->offset += buf->size - start;
        position->rows += count;
        position->next_change = r > 0 ? next : file->last_change + 1;
        if (odd_text)
                *odd_text += odd;
        return r;
}
