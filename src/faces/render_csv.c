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
#include <math.h>
#include <string.h>

#include "faces/render_formats.h"
#include "faces/scalar.h"

static void append_quoted(struct buf *buf, const uint8_t *bytes, size_t size)
{
        buf_append_byte(buf, '"');
        const uint8_t *quote;
        while (size > 0 && (quote = memchr(bytes, '"', size)) != NULL) {
                size_t run = (size_t)(quote - bytes) + 1;
                buf_append(buf, bytes, run);
                buf_append_byte(buf, '"');
                bytes += run;
                size -= run;
        }
        buf_append(buf, bytes, size);
        buf_append_byte(buf, '"');
}

static void append_odd(struct buf *buf, const struct value *value)
{
        buf_append(buf, "\\X", 2);
        buf_append_hex(buf, value->bytes, value->size);
}

static void append_text(struct buf *buf, const struct value *value, enum text_encoding encoding)
{
        struct scalar_text text;
        if (scalar_text_read(value, encoding, &text) < 0) {
                buf->error = text.converted.error;
                return;
        }
        if (text.care == SCALAR_PLAIN) {
                scalar_append_plain(buf, &text);
        } else if (text.care == SCALAR_ODD) {
                append_odd(buf, value);
        } else {
                append_quoted(buf, text.bytes, text.size);
        }
        scalar_text_release(&text);
}

/* Metadata is bare, unless somebody has written to the store what no metadata looks like. */
static void append_bare(struct buf *buf, const struct value *value, enum text_encoding encoding)
{
        size_t start = buf->size;
        append_text(buf, value, encoding);
        size_t size = buf->size - start;
        if (buf_error(buf) || size < 3 || memchr(buf->data + start, ',', size) ||
                buf->data[start] != '"' || memchr(buf->data + start + 1, '"', size - 2))
                return;
        memmove(buf->data + start, buf->data + start + 1, size - 2);
        buf->size -= 2;
}

static void append_real(struct buf *buf, double real)
{
        if (isfinite(real))
                scalar_append_real(buf, real);
        else if (!isnan(real))
                buf_append_string(buf, real > 0 ? "Infinity" : "-Infinity");
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
                append_real(buf, value->real);
                break;
        case VALUE_TEXT:
                if (kind == RESULT_VALUE || kind == RESULT_JSON)
                        append_text(buf, value, encoding);
                else
                        append_bare(buf, value, encoding);
                break;
        case VALUE_BLOB:
                append_blob(buf, value, kind);
                break;
        }
}

/* A name that a reader would split, trim or overlook. */
static bool needs_quotes(const char *name)
{
        size_t size = strlen(name);
        if (size == 0 || name[0] == ' ' || name[size - 1] == ' ')
                return true;
        for (const char *c = name; *c; c++) {
                if (*c == '"' || *c == ',' || (uint8_t)*c < 0x20)
                        return true;
        }
        return false;
}

static void csv_lead(struct buf *buf, unsigned index, const char *name)
{
        struct value text = {VALUE_TEXT, (uint32_t)strlen(name), {.bytes = (const uint8_t *)name}};
        if (index > 0)
                buf_append_byte(buf, ',');
        if (!text_is_utf8(text.bytes, text.size))
                append_odd(buf, &text);
        else if (needs_quotes(name))
                append_quoted(buf, text.bytes, text.size);
        else
                buf_append(buf, name, text.size);
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
