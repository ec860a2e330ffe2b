/* SPDX-License-Identifier: MIT
 *
 * model: the content of the watched tables as the history unrolls, one transaction at a time, and
 * which rows each transaction took away, brought, or changed. It knows no instances.
 */
#ifndef DIFFERENTIAL_MODEL_H
#define DIFFERENTIAL_MODEL_H

#include "cell.h"
#include "history.h"
#include "map.h"
#include "names.h"
#include "shape.h"

/* A row as it stood before or after; size 0 = it did not stand. */
struct model_row {
        uint64_t rowid;
        const uint8_t *image;
        size_t size;
        bool is_there;
};

/* One row that a transaction touched; the images stand in model_table.images. */
struct delta {
        struct model_row before, after;
};

struct model_table {
        unsigned number;
        char *name;
        struct names columns;
        unsigned *key;
        unsigned key_count;
        bool is_dropped;
        struct shape shape;
        struct shape before;        /* as the last transaction found it, if it changed the schema */
        struct shape_change change; /* what it did */
        struct map rows;            /* identity to u64 rowid and row image */
        /* What the last transaction did. */
        struct delta *deltas;
        size_t delta_count;
        struct bytes *images; /* owned, one or two a delta */
        size_t image_count;
};

struct model {
        struct model_table *tables;
        unsigned count;
        bool is_vacuumed; /* the last transaction is a VACUUM */
};

void model_release(struct model *model);
/* By its name or its number (naming.h); NULL: there was none. */
struct model_table *model_find(struct model *model, const char *name);
struct model_table *model_find_number(struct model *model, unsigned number);
/* Moves on by one transaction. 0; -EBADMSG: the record is broken, or a changeset and a dump of
 * the same state disagree (an error of the test itself, reported on stderr). */
int model_apply(struct model *model, const struct transaction *transaction);
/* A row of table->rows. */
struct model_row model_row_of(const struct map_slot *slot);
/* Appends what identifies a row: its key by storage class and bytes, or its rowid if there is
 * no key or a NULL in it. positions are columns of the row, in key order. */
void model_identity(struct bytes *identity, const struct model_row *row, const unsigned *positions,
        unsigned count);
/* Fills cells[0 … count-1] from a row image. */
void model_cells(const struct model_row *row, struct cell *cells, unsigned count);

#endif
