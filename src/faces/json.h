/* SPDX-License-Identifier: MIT
 *
 * json: marked strings, names and numbers as JSON, for the formats that are JSON lines. Texts are
 * scalar_append_json's.
 *
 * What becomes of a BLOB and of ill-formed TEXT each format decides itself.
 */
#ifndef CDC_JSON_H
#define CDC_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "ground/buf.h"

/* A backslash, the mark and hex digits as a string: 'x' for a BLOB, 'X' for TEXT that is none. */
void json_append_marked_hex(struct buf *buf, char mark, const void *bytes, size_t size);
/* The name of a column: a string, or marked with 'X'. */
void json_append_name(struct buf *buf, const char *name);
/* With `.` or `e`; 9.0e+999 and -9.0e+999, which readers take for infinities and which keep a
 * column of numbers one of numbers; null for what is no number. */
void json_append_real(struct buf *buf, double real);

#endif
