/* SPDX-License-Identifier: MIT
 *
 * json: marks, and the numbers that JSON has no digits for. It knows no metadata.
 */
#include "faces/json.h"

#include <math.h>
#include <string.h>

#include "faces/scalar.h"

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
                scalar_append_json(buf, bytes, size);
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
