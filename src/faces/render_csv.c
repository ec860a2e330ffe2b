/* SPDX-License-Identifier: MIT
 *
 * render_csv: CSV that keeps the storage class of every value, in the form PostgreSQL's COPY
 * reads.
 *
 *   NULL     nothing                    REAL  bare, with `.` or `e`; Infinity, -Infinity
 *   INTEGER  bare digits                BLOB  bare \x and lower hex
 *   TEXT     always quoted; ill-formed UTF-8 (UTF-16), or with a NUL: bare \X and hex of its
 *            bytes
 *
 * A header line, LF, UTF-8. Metadata (LSNs, times) is bare; a header field is quoted only where
 * a reader would otherwise take it for something else. It knows nothing of change tables.
 */
#include <string.h>

#include "faces/csv.h"
#include "faces/render_formats.h"
#include "faces/scalar.h"

/* Metadata is bare, unless somebody has written to the store what no metadata looks like. */
static void append_bare(struct buf *buf, const struct value *value, enum text_encoding encoding)
{
        size_t start = buf->size;
        csv_append_text(buf, value, encoding);
        size_t size = buf->size - start;
        if (buf_error(buf) || size < 3 || memchr(buf->data + start, ',', size) ||
                buf->data[start] != '"' || memchr(buf->data + start + 1, '"', size - 2))
                return;
        memmove(buf->data + start, buf->data + start + 1, size - 2);
        buf->size -= 2;
}

static void append_blob(struct buf *buf, const struct value *value, enum result_kind kind)
{
        if (kind == RESULT_LSN && value->size == LSN_SIZE) {
                scalar_append_lsn(buf, value->bytes);
                return;
        }
        buf_append(buf, "\\x", 2);
        buf_append_hex(buf, value->bytes, value->size);
}

static void append_value(struct buf *buf, const struct value *value, enum result_kind kind,
        enum text_encoding encoding)
{
        switch (value->type) {
        case VALUE_NULL:
                break;
        case VALUE_INTEGER:
                scalar_append_integer(buf, value->integer);
                break;
        case VALUE_REAL:
                csv_append_real(buf, value->real);
                break;
        case VALUE_TEXT:
                if (kind == RESULT_VALUE || kind == RESULT_JSON)
                        csv_append_text(buf, value, encoding);
                else
                        append_bare(buf, value, encoding);
                break;
        case VALUE_BLOB:
                append_blob(buf, value, kind);
                break;
        }
}

static void csv_lead(struct buf *buf, unsigned index, const char *name)
{
        if (index > 0)
                buf_append_byte(buf, ',');
        csv_append_name(buf, name);
}

static void csv_header(const struct render *render, struct buf *buf)
{
        buf_append(buf, render->leads.data, render->leads.size);
        buf_append_byte(buf, '\n');
}

static void csv_row(const struct render *render, const struct value *values, struct buf *buf)
{
        const struct result_shape *shape = render->shape;
        for (unsigned i = 0; i < shape->count; i++) {
                if (i > 0)
                        buf_append_byte(buf, ',');
                append_value(buf, &values[i], shape->columns[i].kind, shape->encoding);
        }
        buf_append_byte(buf, '\n');
}

const struct renderer render_csv = {
        .name = "csv",
        .folder = "csv",
        .suffix = ".csv",
        .kind = RENDER_ALL,
        .version = 1,
        .is_live = true,
        .lead = csv_lead,
        .header = csv_header,
        .row = csv_row,
};

const struct renderer render_net_csv = {
        .name = "net-csv",
        .folder = "csv",
        .suffix = ".csv",
        .kind = RENDER_NET,
        .version = 1,
        .lead = csv_lead,
        .header = csv_header,
        .row = csv_row,
};
