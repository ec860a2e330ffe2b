/* SPDX-License-Identifier: MIT
 *
 * json: escapes, and the numbers that JSON has no digits for. It knows no metadata.
 */
#include "faces/json.h"

#include <math.h>
#include <string.h>

#include "faces/scalar.h"

/* The letter after the backslash, 'u' for \u00XX, 0 for a byte that stands as it is. */
static char escape_letter(uint8_t byte)
{
        switch (byte) {
        case '"':
        case '\\':
                return (char)byte;
        case '\n':
                return 'n';
        case '\t':
                return 't';
        case '\r':
                return 'r';
        case '\b':
                return 'b';
        case '\f':
                return 'f';
        default:
                return byte < 0x20 ? 'u' : 0;
        }
}

static void append_escape(struct buf *buf, uint8_t byte, char letter)
{
        buf_append_byte(buf, '\\');
        buf_append_byte(buf, (uint8_t)letter);
        if (letter != 'u')
                return;
        buf_append(buf, "00", 2);
        buf_append_hex(buf, &byte, 1);
}

/* Whatever needs no escape is copied in runs. */
void json_append_string(struct buf *buf, const uint8_t *bytes, size_t size)
{
        size_t run = 0;
        buf_append_byte(buf, '"');
        for (size_t i = 0; i < size; i++) {
                char letter = escape_letter(bytes[i]);
                if (!letter)
                        continue;
                buf_append(buf, bytes + run, i - run);
                append_escape(buf, bytes[i], letter);
                run = i + 1;
        }
        buf_append(buf, bytes + run, size - run);
        buf_append_byte(buf, '"');
}

void json_append_marked_hex(struct buf *buf, char mark, const void *bytes, size_t size)
{
        buf_append_string(buf, "\"\\\\");
        buf_append_byte(buf, (uint8_t)mark);
        buf_append_hex(buf, bytes, size);
        buf_append_byte(buf, '"');
}

void json_append_name(struct buf *buf, const char *name)
{
        const uint8_t *bytes = (const uint8_t *)name;
        size_t size = strlen(name);
        if (text_is_utf8(bytes, size))
                json_append_string(buf, bytes, size);
        else
                json_append_marked_hex(buf, 'X', bytes, size);
}

void json_append_real(struct buf *buf, double real)
{
        if (isfinite(real))
                scalar_append_real(buf, real);
        else if (isnan(real))
                buf_append_string(buf, "null");
        else
                buf_append_string(buf, real > 0 ? "9.0e+999" : "-9.0e+999");
}
