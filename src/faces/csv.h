/* SPDX-License-Identifier: MIT
 *
 * csv: values and names as fields of CSV, for the formats that are CSV.
 *
 * UTF-8. TEXT is always quoted, everything else is bare, so that a reader that looks can tell
 * them apart; nothing at all is NULL. What a BLOB looks like each format knows itself. It appends
 * no commas and no line ends.
 */
#ifndef CDC_CSV_H
#define CDC_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "bytes/value.h"
#include "ground/buf.h"
#include "ground/text.h"

/* Between double quotes, a double quote doubled. */
void csv_append_quoted(struct buf *buf, const uint8_t *bytes, size_t size);
/* A TEXT, quoted; ill-formed, or with a NUL: bare \X and the hex digits of its bytes. */
void csv_append_text(struct buf *buf, const struct value *value, enum text_encoding encoding);
/* Bare, with `.` or `e`; Infinity, -Infinity; nothing for what is no number. */
void csv_append_real(struct buf *buf, double real);
/* The name of a column: quoted only where a reader would split, trim or overlook it. */
void csv_append_name(struct buf *buf, const char *name);

#endif
