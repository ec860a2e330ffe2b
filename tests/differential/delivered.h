/* SPDX-License-Identifier: MIT
 *
 * delivered: rows of get-all-changes as they were read back from CSV or JSONL, by small strict
 * parsers written from the documented encodings, and the same rows as changes.
 */
#ifndef DIFFERENTIAL_DELIVERED_H
#define DIFFERENTIAL_DELIVERED_H

#include "change.h"

enum { LSN_SIZE = 23 }; /* 8:8:4 lower hex digits and a NUL */

struct delivered_row {
        char lsn[LSN_SIZE];
        char sequence[LSN_SIZE];
        unsigned operation;          /* 1 to 4 */
        size_t mask_at, mask_size;   /* in the arena */
        size_t image_at, image_size; /* row image of the captured columns, in the arena */
};

struct delivered {
        struct names columns; /* of the header (CSV), or of the first row (JSONL) */
        struct delivered_row *rows;
        size_t count;
        struct bytes arena;
        const char *encoding; /* of the database; borrowed */
        char problem[256];    /* why parsing failed */
};

void delivered_release(struct delivered *delivered);
struct delivered_row *delivered_append(struct delivered *delivered);
/* Records why parsing fails, once. Always -EBADMSG. */
int delivered_refuse(struct delivered *delivered, size_t line, const char *what);
/* 8:8:4 lower hex. */
bool delivered_is_lsn(const char *text, size_t size);
/* A number: digits, sign, and for a REAL a `.` or an `e`, as JSON writes it. false: it is none. */
bool delivered_number(const char *text, size_t size, struct cell *ret_cell);
/* Lower hex digits, appended as bytes. */
bool delivered_hex(const char *text, size_t size, struct bytes *bytes);
/* The bytes of a TEXT that stands as \X, in the encoding of the database, become UTF-8 as SQLite
 * would read them. false: it is well-formed and without NUL. */
bool delivered_odd_text(const struct delivered *delivered, struct bytes *bytes);

/* 0 or -EBADMSG with a problem. The text is NUL-terminated behind size. */
int delivered_parse_csv(struct delivered *delivered, const char *text, size_t size);
int delivered_parse_jsonl(struct delivered *delivered, const char *text, size_t size);
/* Both have the same rows; else a problem in a. */
int delivered_compare(struct delivered *a, const struct delivered *b);

#endif
