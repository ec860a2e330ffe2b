/* SPDX-License-Identifier: MIT
 *
 * values: random values of every storage class, with a liking for the borders: serial types,
 * overflow thresholds of the page size, odd text. It knows no tables.
 */
#ifndef DIFFERENTIAL_VALUES_H
#define DIFFERENTIAL_VALUES_H

#include "cell.h"
#include "random.h"

/* Arguments of a statement, with the memory their bytes stand in. */
struct arguments {
        struct cell *cells;  /* owned */
        struct bytes *bytes; /* owned, one a cell */
        unsigned count;
        unsigned capacity;
};

/* How a column takes values. */
enum value_bias { VALUE_ANY, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_BLOB };

struct value_wish {
        enum value_bias bias;
        bool is_strict; /* nothing but the bias (STRICT tables) */
        bool is_not_null;
        bool is_key;   /* from a small space, so that keys meet again */
        bool is_small; /* at most a few bytes: many columns */
};

void arguments_release(struct arguments *arguments);
/* Appends a cell; text and blob bytes are copied. */
void arguments_add(struct arguments *arguments, const struct cell *cell);
void arguments_add_integer(struct arguments *arguments, int64_t integer);
void arguments_add_text(struct arguments *arguments, const char *text);
/* Appends a random value. */
void arguments_add_random(struct arguments *arguments, struct random *random, unsigned page_size,
        const struct value_wish *wish);
/* Appends a blob (or text) of exactly that size. */
void arguments_add_sized(
        struct arguments *arguments, struct random *random, enum cell_type type, size_t size);

#define _cleanup_arguments_ _cleanup_(arguments_release)

#endif
