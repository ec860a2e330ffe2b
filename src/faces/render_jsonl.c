/* SPDX-License-Identifier: MIT
 *
 * render_jsonl: one JSON object a line, metadata first, then the columns; no header.
 *
 *   NULL     null                       REAL  with `.` or `e`; 9.0e+999, -9.0e+999
 *   INTEGER  exact digits               BLOB  "\\x…" in lower hex
 *   TEXT     a string; ill-formed UTF-8 (UTF-16), or with a NUL: "\\X…", hex of its bytes; one
 *            that itself begins with \x or \X: {"$text": "…"}
 *
 * The number 9.0e+999 is what every reader that takes it reads as infinity, and it keeps a
 * column of numbers one of numbers. It knows nothing of change tables.
 */
#include <string.h>

#include "faces/json.h"
#include "faces/render_formats.h"
#include "faces/scalar.h"

static bool looks_marked(const uint8_t *bytes, size_t size)
{
        return size >= 2 && bytes[0] == '\\' && (bytes[1] == 'x' || bytes[1] == 'X');
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
                json_append_marked_hex(buf, 'X', value->bytes, value->size);
        } else if (looks_marked(text.bytes, text.size)) {
                buf_append_string(buf, "{\"$text\": ");
                scalar_append_json(buf, text.bytes, text.size);
                buf_append_byte(buf, '}');
        } else {
                scalar_append_json(buf, text.bytes, text.size);
        }
        scalar_text_release(&text);
}

static void append_json(struct buf *buf, const struct value *value, enum text_encoding encoding)
{
        struct scalar_text text;
        if (scalar_text_read(value, encoding, &text) < 0) {
                buf->error = text.converted.error;
                return;
        }
        buf_append(buf, text.bytes, text.size);
        scalar_text_release(&text);
}

static void append_blob(struct buf *buf, const struct value *value, enum result_kind kind)
{
        if (kind == RESULT_LSN && value->size == LSN_SIZE) {
                buf_append_byte(buf, '"');
                scalar_append_lsn(buf, value->bytes);
                buf_append_byte(buf, '"');
                return;
        }
        json_append_marked_hex(buf, 'x', value->bytes, value->size);
}

static void append_value(struct buf *buf, const struct value *value, enum result_kind kind,
        enum text_encoding encoding)
{
        switch (value->type) {
        case VALUE_NULL:
                buf_append(buf, "null", 4);
                break;
        case VALUE_INTEGER:
                scalar_append_integer(buf, value->integer);
                break;
        case VALUE_REAL:
                json_append_real(buf, value->real);
                break;
        case VALUE_TEXT:
                if (kind == RESULT_JSON)
                        append_json(buf, value, encoding);
                else
                        append_text(buf, value, encoding);
                break;
        case VALUE_BLOB:
                append_blob(buf, value, kind);
                break;
        }
}

/* `{"name":` for the first column, `,"name":` for the others. */
static void jsonl_lead(struct buf *buf, unsigned index, const char *name)
{
        buf_append_byte(buf, index > 0 ? ',' : '{');
        json_append_name(buf, name);
        buf_append_byte(buf, ':');
}

static void jsonl_header(const struct render *render, struct buf *buf)
{
        (void)render;
        (void)buf;
}

static void jsonl_row(const struct render *render, const struct value *values, struct buf *buf)
{
        const struct result_shape *shape = render->shape;
        for (unsigned i = 0; i < shape->count; i++) {
                render_append_lead(render, i, buf);
                append_value(buf, &values[i], shape->columns[i].kind, shape->encoding);
        }
        buf_append(buf, "}\n", 2);
}

const struct renderer render_jsonl = {
        .name = "jsonl",
        .folder = "jsonl",
        .suffix = ".jsonl",
        .kind = RENDER_ALL,
        .version = 1,
        .is_live = true,
        .lead = jsonl_lead,
        .header = jsonl_header,
        .row = jsonl_row,
};

const struct renderer render_net_jsonl = {
        .name = "net-jsonl",
        .folder = "jsonl",
        .suffix = ".jsonl",
        .kind = RENDER_NET,
        .version = 1,
        .lead = jsonl_lead,
        .header = jsonl_header,
        .row = jsonl_row,
};
