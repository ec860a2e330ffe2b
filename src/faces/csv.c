/* SPDX-License-Identifier: MIT
 *
 * csv: quotes, and the texts and numbers that all formats of CSV share. It knows no metadata.
 */
#include "faces/csv.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "faces/scalar.h"

void csv_append_quoted(struct buf *buf, const uint8_t *bytes, size_t size)
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

void csv_append_text(struct buf *buf, const struct value *value, enum text_encoding encoding)
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
                csv_append_quoted(buf, text.bytes, text.size);
        }
        scalar_text_release(&text);
}

void csv_append_real(struct buf *buf, double real)
{
        if (isfinite(real))
                scalar_append_real(buf, real);
        else if (!isnan(real))
                buf_append_string(buf, real > 0 ? "Infinity" : "-Infinity");
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

void csv_append_name(struct buf *buf, const char *name)
{
        struct value text = {VALUE_TEXT, (uint32_t)strlen(name), {.bytes = (const uint8_t *)name}};
        if (!text_is_utf8(text.bytes, text.size))
                append_odd(buf, &text);
        else if (needs_quotes(name))
                csv_append_quoted(buf, text.bytes, text.size);
        else
                buf_append(buf, name, text.size);
}
