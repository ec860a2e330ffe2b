/* SPDX-License-Identifier: MIT
 *
 * render_debezium: the envelope of Debezium's change events without schemas, one a line, over the
 * rows of events.h.
 *
 *      {"before":…,"after":…,"source":{…},"transaction":null,"op":"u","ts_ms":…,"ts_us":…,"ts_ns":…}
 *
 * One event for each change: `before` is the whole row for an update and a delete, `after` for an
 * insert and an update, null otherwise. A changed key is a `d` and a `c`, as in the change table.
 * There are no tombstones: they mean nothing in a file.
 *
 * `source` is that of the SQL Server connector: commit_lsn, change_lsn, event_serial_no order
 * events (2 for an update, as there, where the old image is 1). All times are the commit time: what
 * is made anew has no time of its own.
 *
 * An INTEGER is exact digits, a REAL as in jsonl, a BLOB base64; ill-formed TEXT, or one with a
 * NUL, is a string of \X and the hex digits of its bytes. Source: the documentation of Debezium's
 * connector for SQL Server, "Data change events".
 */
#include <stdbool.h>

#include "faces/events.h"
#include "faces/json.h"
#include "faces/render_formats.h"
#include "faces/scalar.h"

enum { DELETE = 1, INSERT = 2, BEFORE = 3, AFTER = 4 };

/* ---- values ---- */

static void append_text(struct buf *buf, const struct value *value, enum text_encoding encoding)
{
        struct scalar_text text;
        if (scalar_text_read(value, encoding, &text) < 0) {
                buf->error = text.converted.error;
                return;
        }
        if (text.care == SCALAR_PLAIN)
                scalar_append_plain(buf, &text);
        else if (text.care == SCALAR_ODD)
                json_append_marked_hex(buf, 'X', value->bytes, value->size);
        else
                scalar_append_json(buf, text.bytes, text.size);
        scalar_text_release(&text);
}

static void append_value(struct buf *buf, const struct value *value, enum text_encoding encoding)
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
                append_text(buf, value, encoding);
                break;
        case VALUE_BLOB:
                buf_append_byte(buf, '"');
                buf_append_base64(buf, value->bytes, value->size);
                buf_append_byte(buf, '"');
                break;
        }
}

static void append_image(const struct render *render, const struct value *values, struct buf *buf)
{
        for (unsigned i = EVENTS_METADATA; i < render->shape->count; i++) {
                render_append_lead(render, i, buf);
                append_value(buf, &values[i], render->shape->encoding);
        }
        buf_append_byte(buf, '}');
}

/* ---- the envelope ---- */

static void append_field(struct buf *buf, const char *lead, int64_t number)
{
        buf_append_string(buf, lead);
        scalar_append_integer(buf, number);
}

static void append_lsn(struct buf *buf, const char *lead, const struct value *value)
{
        buf_append_string(buf, lead);
        buf_append_byte(buf, '"');
        if (value->type == VALUE_BLOB && value->size == LSN_SIZE)
                scalar_append_lsn(buf, value->bytes);
        buf_append_byte(buf, '"');
}

static void append_times(struct buf *buf, int64_t time_ns)
{
        append_field(buf, ",\"ts_us\":", time_ns / 1000);
        append_field(buf, ",\"ts_ns\":", time_ns);
}

static void append_source(const struct render *render, const struct value *values, struct buf *buf)
{
        const struct result_shape *shape = render->shape;
        int64_t time_ns = values[EVENTS_TIME].integer;
        append_field(buf,
                ",\"source\":{\"version\":\"1\",\"connector\":\"sqlserver\",\"name\":\"cdcfs\","
                "\"ts_ms\":",
                time_ns / 1000000);
        buf_append_string(buf, ",\"snapshot\":false,\"db\":");
        json_append_name(buf, shape->database ? shape->database : "");
        buf_append_string(buf, ",\"sequence\":null");
        append_times(buf, time_ns);
        buf_append_string(buf, ",\"schema\":\"main\",\"table\":");
        json_append_name(buf, shape->table ? shape->table : "");
        append_lsn(buf, ",\"change_lsn\":", &values[EVENTS_SEQVAL]);
        append_lsn(buf, ",\"commit_lsn\":", &values[EVENTS_START_LSN]);
        append_field(
                buf, ",\"event_serial_no\":", values[EVENTS_OPERATION].integer == AFTER ? 2 : 1);
        buf_append_byte(buf, '}');
}

static void append_rest(
        const struct render *render, const struct value *values, const char *op, struct buf *buf)
{
        int64_t time_ns = values[EVENTS_TIME].integer;
        append_source(render, values, buf);
        buf_append_string(buf, ",\"transaction\":null,\"op\":\"");
        buf_append_string(buf, op);
        append_field(buf, "\",\"ts_ms\":", time_ns / 1000000);
        append_times(buf, time_ns);
        buf_append(buf, "}\n", 2);
}

/* ---- rows ---- */

/* `{"name":` for the first captured column, `,"name":` for the others. */
static void debezium_lead(struct buf *buf, unsigned index, const char *name)
{
        if (index < EVENTS_METADATA)
                return;
        buf_append_byte(buf, index > EVENTS_METADATA ? ',' : '{');
        json_append_name(buf, name);
        buf_append_byte(buf, ':');
}

static void debezium_header(const struct render *render, struct buf *buf)
{
        (void)render;
        (void)buf;
}

/* The before image begins the line that the after image, which always follows, ends. */
static void debezium_row(const struct render *render, const struct value *values, struct buf *buf)
{
        int64_t operation = values[EVENTS_OPERATION].integer;
        if (operation == AFTER) {
                buf_append_string(buf, ",\"after\":");
                append_image(render, values, buf);
                append_rest(render, values, "u", buf);
                return;
        }
        buf_append_string(
                buf, operation == INSERT ? "{\"before\":null,\"after\":" : "{\"before\":");
        append_image(render, values, buf);
        if (operation == BEFORE)
                return;
        if (operation == DELETE)
                buf_append_string(buf, ",\"after\":null");
        append_rest(render, values, operation == DELETE ? "d" : "c", buf);
}

const struct renderer render_debezium = {
        .name = "debezium",
        .folder = "debezium",
        .suffix = ".jsonl",
        .kind = RENDER_ALL,
        .version = 1,
        .has_commits = true,
        .folds_update = true,
        .lead = debezium_lead,
        .header = debezium_header,
        .row = debezium_row,
};
