/* SPDX-License-Identifier: MIT
 *
 * text: UTF-8 and UTF-16, and how names are quoted for SQL, CSV and directories.
 */
#ifndef CDC_TEXT_H
#define CDC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ground/buf.h"

enum text_encoding { TEXT_UTF8 = 1, TEXT_UTF16LE = 2, TEXT_UTF16BE = 3 }; /* file format §1.3.13 */

/* By the name that PRAGMA encoding gives. */
enum text_encoding text_encoding_of(const char *name);
/* By the number in a database's header; 0 while it has no table. */
enum text_encoding text_encoding_at(uint32_t number);

/* Well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). NUL is allowed. */
bool text_is_utf8(const uint8_t *bytes, size_t size);
/* The longest length, limit at most, at which a cut splits no UTF-8 character. */
size_t text_cut(const uint8_t *bytes, size_t size, size_t limit);
/* Appends UTF-16 as UTF-8. 0, or -EBADMSG at an odd size or a lone surrogate (what came
 * before it is appended). */
int text_append_utf16(struct buf *buf, const uint8_t *bytes, size_t size, enum text_encoding);
/* "name" with inner quotes doubled: an SQL identifier. */
void text_append_identifier(struct buf *buf, const char *name);
/* 'text' with inner quotes doubled: an SQL string. */
void text_append_literal(struct buf *buf, const char *text);
/* One word of a shell's command line: as it stands where it needs no quotes, else in '…'. */
void text_append_word(struct buf *buf, const char *word);
/* `/ % \`, control bytes and a leading `.` or `-` as %XX; over 200 bytes cut, then `~` and 16
 * hex digits of the name's SHA-256 (design §2). Appends; the result is 1 to 217 bytes. */
void text_append_directory(struct buf *buf, const char *name);
/* As SQLite compares identifiers: without regard to ASCII case. */
bool text_equal_name(const char *a, const char *b);

#endif
