/* SPDX-License-Identifier: MIT
 *
 * scalar: the digits and texts that all text formats share. Written by hand, because a file has
 * millions of them.
 *
 * What a format puts around them (quotes, escapes, its word for an infinity) it knows itself.
 */
#ifndef CDC_SCALAR_H
#define CDC_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes/value.h"
#include "ground/buf.h"
#include "ground/lsn.h"
#include "ground/text.h"

/* A TEXT as UTF-8, and how much care it needs. */
enum scalar_care {
        SCALAR_PLAIN, /* ASCII without control bytes, `"` or `\`: may be copied as it is */
        SCALAR_TEXT,  /* well-formed */
        SCALAR_ODD,   /* ill-formed, or with a NUL: bytes and size are those of the value */
};

struct scalar_text {
        enum scalar_care care;
        const uint8_t *bytes; /* of the value, or of `converted` */
        size_t size;
        struct buf converted; /* what a UTF-16 text became */
};

/* Looks at a TEXT; release it with scalar_text_release. 0 or -ENOMEM. */
int scalar_text_read(
        const struct value *value, enum text_encoding encoding, struct scalar_text *ret_text);
void scalar_text_release(struct scalar_text *text);

void scalar_append_integer(struct buf *buf, int64_t value);
/* Shortest digits that read back, with `.` or `e`. Finite values only. */
void scalar_append_real(struct buf *buf, double value);
/* A text between double quotes, as it stands (SCALAR_PLAIN). */
void scalar_append_plain(struct buf *buf, const struct scalar_text *text);
/* A JSON string with its quotes; the bytes are well-formed UTF-8. */
void scalar_append_json(struct buf *buf, const uint8_t *bytes, size_t size);
/* Ten bytes as 8:8:4 lower hex. */
void scalar_append_lsn(struct buf *buf, const uint8_t bytes[LSN_SIZE]);

#endif
