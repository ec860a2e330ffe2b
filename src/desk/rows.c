/* SPDX-License-Identifier: MIT
 *
 * rows: a result as the public header shows it: values in UTF-8, or the bytes of a renderer.
 *
 * It knows no table and no function; whoever made the result does.
 */
#include "desk/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faces/render.h"
#include "ground/cleanup.h"

enum { WRITE_SIZE = 64 << 10 };

struct cdc_rows {
        struct store *store;     /* owned, or NULL */
        sqlite3 *db;             /* owned, or NULL */
        struct changes *changes; /* owned, or NULL */
        struct netchanges *net;  /* owned; NULL and no changes: result has the rows */
        struct result result;
        const struct result_shape *shape;
        const struct value *values; /* of the row in hand */
        struct buf *texts;          /* of the row in hand: what had to be converted, by column */
};

static int finish(struct cdc_rows *rows, struct cdc_rows **ret_rows)
{
        rows->shape = rows->changes ? changes_shape(rows->changes)
                      : rows->net   ? netchanges_shape(rows->net)
                                    : &rows->result.shape;
        rows->texts = calloc(rows->shape->count, sizeof(*rows->texts));
        if (!rows->texts) {
                cdc_rows_close(rows);
                return -ENOMEM;
        }
        *ret_rows = rows;
        return 0;
}

int rows_of_changes(struct store *store, struct changes *changes, struct cdc_rows **ret_rows)
{
        struct cdc_rows *rows = calloc(1, sizeof(*rows));
        if (!rows) {
                changes_close(changes);
                store_close(store);
                return -ENOMEM;
        }
        rows->store = store;
        rows->changes = changes;
        return finish(rows, ret_rows);
}

int rows_of_net(struct store *store, struct netchanges *net, struct cdc_rows **ret_rows)
{
        struct cdc_rows *rows = calloc(1, sizeof(*rows));
        if (!rows) {
                netchanges_close(net);
                store_close(store);
                return -ENOMEM;
        }
        rows->store = store;
        rows->net = net;
        return finish(rows, ret_rows);
}

static int rows_of_result(
        struct store *store, sqlite3 *db, struct result *result, struct cdc_rows **ret_rows)
{
        struct cdc_rows *rows = calloc(1, sizeof(*rows));
        if (!rows) {
                result_close(result);
                store_close(store);
                sqlite3_close_v2(db);
                return -ENOMEM;
        }
        rows->store = store;
        rows->db = db;
        rows->result = *result;
        *result = (struct result){0};
        return finish(rows, ret_rows);
}

int rows_of_select(struct store *store, struct result *result, struct cdc_rows **ret_rows)
{
        return rows_of_result(store, NULL, result, ret_rows);
}

int rows_of_database(sqlite3 *db, struct result *result, struct cdc_rows **ret_rows)
{
        return rows_of_result(NULL, db, result, ret_rows);
}

CDC_API void cdc_rows_close(struct cdc_rows *rows)
{
        if (!rows)
                return;
        for (unsigned i = 0; rows->texts && i < rows->shape->count; i++)
                buf_release(&rows->texts[i]);
        free(rows->texts);
        changes_close(rows->changes);
        netchanges_close(rows->net);
        result_close(&rows->result);
        store_close(rows->store);
        sqlite3_close_v2(rows->db);
        free(rows);
}

CDC_API unsigned cdc_rows_columns(const struct cdc_rows *rows)
{
        return rows->shape->count;
}

CDC_API const char *cdc_rows_name(const struct cdc_rows *rows, unsigned column)
{
        return rows->shape->columns[column].name;
}

CDC_API int cdc_rows_next(struct cdc_rows *rows)
{
        int r = rows->changes ? changes_next(rows->changes, &rows->values)
                : rows->net   ? netchanges_next(rows->net, &rows->values)
                              : result_next(&rows->result, &rows->values);
        return r == 0 && rows->store ? store_check_read(rows->store) : r;
}

/* The text of a value that is not UTF-8 as it stands, in the buffer of its column. */
static const struct buf *convert(struct cdc_rows *rows, unsigned column)
{
        const struct value *value = &rows->values[column];
        struct buf *text = &rows->texts[column];
        buf_reset(text);
        if (value->type == VALUE_BLOB) {
                struct lsn lsn;
                char digits[LSN_TEXT_SIZE];
                memcpy(lsn.bytes, value->bytes, LSN_SIZE);
                lsn_format(lsn, digits);
                buf_append_string(text, digits);
        } else if (text_append_utf16(text, value->bytes, value->size, rows->shape->encoding) < 0) {
                buf_reset(text);
                buf_append_string(text, "\\X");
                buf_append_hex(text, value->bytes, value->size);
        }
        return text;
}

static bool needs_conversion(
        const struct result_shape *shape, unsigned column, const struct value *value)
{
        if (value->type == VALUE_BLOB)
                return shape->columns[column].kind == RESULT_LSN && value->size == LSN_SIZE;
        return value->type == VALUE_TEXT && shape->encoding != TEXT_UTF8;
}

CDC_API void cdc_rows_value(struct cdc_rows *rows, unsigned column, struct cdc_value *ret_value)
{
        static const enum cdc_type types[] = {
                [VALUE_NULL] = CDC_NULL,
                [VALUE_INTEGER] = CDC_INTEGER,
                [VALUE_REAL] = CDC_REAL,
                [VALUE_TEXT] = CDC_TEXT,
                [VALUE_BLOB] = CDC_BLOB,
        };
        const struct value *value = &rows->values[column];
        *ret_value = (struct cdc_value){.type = types[value->type]};
        if (value->type == VALUE_INTEGER) {
                ret_value->integer = value->integer;
        } else if (value->type == VALUE_REAL) {
                ret_value->real = value->real;
        } else if (needs_conversion(rows->shape, column, value)) {
                const struct buf *text = convert(rows, column);
                ret_value->type = CDC_TEXT;
                ret_value->bytes = text->data;
                ret_value->size = text->size;
        } else if (value->type != VALUE_NULL) {
                ret_value->bytes = value->bytes;
                ret_value->size = value->size;
        }
}

static int write_out(int fd, struct buf *buf)
{
        if (buf_error(buf))
                return buf_error(buf);
        for (size_t done = 0; done < buf->size;) {
                ssize_t written = write(fd, buf->data + done, buf->size - done);
                if (written < 0 && errno != EINTR)
                        return -errno;
                done += written > 0 ? (size_t)written : 0;
        }
        buf_reset(buf);
        return 0;
}

CDC_API int cdc_rows_write(struct cdc_rows *rows, const char *format, int fd)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        _cleanup_(render_release) struct render render = {0};
        const struct renderer *renderer = render_find(format);
        if (!renderer || renderer->has_commits)
                return -EINVAL;
        int r = render_init(&render, renderer, rows->shape);
        if (r < 0)
                return r;
        render_header(&render, &buf);
        while ((r = cdc_rows_next(rows)) > 0) {
                render_row(&render, rows->values, &buf);
                if (buf.size < WRITE_SIZE && !buf_error(&buf))
                        continue;
                r = write_out(fd, &buf);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : write_out(fd, &buf);
}
