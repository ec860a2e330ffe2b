/* SPDX-License-Identifier: MIT
 *
 * result: the shape of a forward-only table of values, which renderers turn into bytes.
 *
 * A result is what a change function, a metadata table or a report gives: named columns, then
 * rows of values. The kind of a column says what cannot be seen in its values: that ten bytes
 * are an LSN and not a BLOB, and that a text is metadata and not a user's TEXT.
 */
#ifndef CDC_RESULT_H
#define CDC_RESULT_H

#include "bytes/value.h"
#include "ground/text.h"

enum result_kind {
        RESULT_VALUE, /* a user's value: shown by its storage class */
        RESULT_LSN,   /* BLOB(10): shown as text 8:8:4 (LSNs, change numbers) */
        RESULT_BARE,  /* TEXT of metadata (times, LSNs that are text already): bare in CSV */
};

struct result_column {
        char *name; /* UTF-8, as the database has it */
        enum result_kind kind;
};

struct result_shape {
        unsigned count;
        struct result_column *columns;
        enum text_encoding encoding; /* of the TEXT values */
};

/* Appends a column; the name is copied. 0 or -ENOMEM. */
int result_add_column(struct result_shape *shape, const char *name, enum result_kind kind);
void result_release(struct result_shape *shape);

#endif
