/* SPDX-License-Identifier: MIT
 *
 * cell: one SQL value with its storage class, and rows of them as bytes.
 *
 * A row image is the cells one after the other; two rows are equal if their images are, that is
 * by storage class and bytes, as the design compares values. What SQL's typeof() says is the
 * truth: a cell is read through SQL, never from a page.
 */
#ifndef DIFFERENTIAL_CELL_H
#define DIFFERENTIAL_CELL_H

#include <sqlite3.h>
#include <stdio.h>
#include "bytes.h"

enum cell_type {
        CELL_NULL = 'n',
        CELL_INTEGER = 'i',
        CELL_REAL = 'r',
        CELL_TEXT = 't',
        CELL_BLOB = 'b',
};

struct cell {
        enum cell_type type;
        int64_t integer;
        double real;
        const uint8_t *bytes; /* borrowed */
        size_t size;
};

void cell_append(struct bytes *row, const struct cell *cell);
/* The cell borrows from what is read. false at the end or for broken bytes. */
bool cell_read(struct reader *reader, struct cell *ret_cell);
struct cell cell_of_value(sqlite3_value *value);
struct cell cell_of_column(sqlite3_stmt *statement, int column);
/* All columns from `first` on, as a row image. */
void cell_append_columns(struct bytes *row, sqlite3_stmt *statement, int first);
int cell_bind(sqlite3_stmt *statement, int parameter, const struct cell *cell);
/* For people: as SQL would write it, long ones shortened. */
void cell_print(FILE *file, const struct cell *cell);
void row_print(FILE *file, const void *image, size_t size);
/* Well-formed UTF-8: no surrogates, no overlong forms, at most U+10FFFF; NUL is allowed. */
bool cell_is_utf8(const uint8_t *bytes, size_t size);
/* Well-formed and without NUL: TEXT that every reader can hold. */
bool cell_is_plain(const uint8_t *bytes, size_t size);

static inline struct cell cell_integer(int64_t integer)
{
        return (struct cell){.type = CELL_INTEGER, .integer = integer};
}

#endif
