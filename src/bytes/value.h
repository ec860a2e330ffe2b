/* SPDX-License-Identifier: MIT
 *
 * value: one SQLite value with its storage class. TEXT and BLOB bytes are borrowed; TEXT is in
 * the database's encoding and may be ill-formed.
 */
#ifndef CDC_VALUE_H
#define CDC_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ground/buf.h"

enum value_type { VALUE_NULL = 0, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_BLOB };

struct value {
        enum value_type type;
        uint32_t size; /* of bytes; 0 for the others */
        union {
                int64_t integer;
                double real;
                const uint8_t *bytes; /* borrowed */
        };
};

/* Same storage class and same bytes; REALs by their bits, so 0.0 and -0.0 differ. */
bool value_equal(const struct value *a, const struct value *b);
/* Appends a form whose memcmp order is: NULL, INTEGER by value, REAL by value, TEXT by bytes,
 * BLOB by bytes; concatenated forms of several values order as the list of values does, and two
 * forms are equal exactly if value_equal holds. */
void value_append_key(struct buf *buf, const struct value *value);
/* Appends a compact form that value_parse reads back: type byte, then 8 bytes, or 4 bytes of
 * size and the bytes. */
void value_append(struct buf *buf, const struct value *value);
/* Reads one value at *cursor (not beyond end), borrowing its bytes, and moves *cursor.
 * 0 or -EBADMSG. */
int value_parse(const uint8_t **cursor, const uint8_t *end, struct value *ret_value);

#endif
