/* SPDX-License-Identifier: MIT
 *
 * values: short ways to write values, and lists of values and changes as text.
 */
#ifndef CDC_TESTS_VALUES_H
#define CDC_TESTS_VALUES_H

#include <string.h>

#include "bytes/value.h"
#include "meaning/change.h"

static inline struct value v_null(void)
{
        return (struct value){.type = VALUE_NULL};
}

static inline struct value v_integer(int64_t integer)
{
        return (struct value){.type = VALUE_INTEGER, .integer = integer};
}

static inline struct value v_real(double real)
{
        return (struct value){.type = VALUE_REAL, .real = real};
}

static inline struct value v_text(const char *text)
{
        return (struct value){
                .type = VALUE_TEXT, .size = (uint32_t)strlen(text), .bytes = (const uint8_t *)text};
}

static inline struct value v_blob(const void *bytes, uint32_t size)
{
        return (struct value){.type = VALUE_BLOB, .size = size, .bytes = bytes};
}

/* NULL, 5, 5.5, 'text', x'00ff'; of more than 40 bytes only their number. */
static inline void append_value(struct buf *buf, const struct value *value)
{
        switch (value->type) {
        case VALUE_INTEGER:
                buf_append_format(buf, "%lld", (long long)value->integer);
                break;
        case VALUE_REAL:
                buf_append_format(buf, "%.17g%s", value->real,
                        value->real == (double)(int64_t)value->real ? ".0" : "");
                break;
        case VALUE_TEXT:
                buf_append_byte(buf, '\'');
                buf_append(buf, value->bytes, value->size);
                buf_append_byte(buf, '\'');
                break;
        case VALUE_BLOB:
                buf_append_string(buf, "x'");
                if (value->size <= 40)
                        buf_append_hex(buf, value->bytes, value->size);
                else
                        buf_append_format(buf, "%u bytes", value->size);
                buf_append_byte(buf, '\'');
                break;
        default:
                buf_append_string(buf, "NULL");
                break;
        }
}

static inline void append_values(struct buf *buf, const struct value *values, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                buf_append_string(buf, i > 0 ? "," : "");
                append_value(buf, &values[i]);
        }
}

/* "7 update .x 1,'a'>1,'b'; ": instance, operation, mask by ordinals, values. */
static inline void append_change(struct buf *buf, const struct change *change)
{
        static const char *const names[] = {"?", "delete", "insert", "?", "update"};
        size_t size = mask_size(change->columns);
        buf_append_format(buf, "%lld %s ", (long long)change->object_id,
                names[change->operation <= 4 ? change->operation : 0]);
        for (unsigned i = 1; i <= change->columns; i++)
                buf_append_byte(buf, mask_is_set(change->mask, size, i) ? 'x' : '.');
        buf_append_byte(buf, ' ');
        if (change->before)
                append_values(buf, change->before, change->columns);
        buf_append_string(buf, change->before && change->after ? ">" : "");
        if (change->after)
                append_values(buf, change->after, change->columns);
        buf_append_string(buf, "; ");
}

#endif
