/* SPDX-License-Identifier: MIT
 *
 * lens: how an instance looks at the rows of its table: bound by name where its interval begins,
 * and following the columns from then on.
 */
#ifndef DIFFERENTIAL_LENS_H
#define DIFFERENTIAL_LENS_H

#include "instance.h"
#include "model.h"

struct lens {
        int *columns; /* owned: in ordinal order, positions in the table; COLUMN_GONE: NULL */
        unsigned column_count;
        int *identity; /* owned: positions of the key */
        unsigned identity_count;
        unsigned width; /* columns of the table */
};

void lens_release(struct lens *lens);
/* 0; -EBADMSG: a column is not there. */
int lens_make(struct lens *lens, const struct instance *instance, const struct names *columns);
/* The same after a change of the table, and (ret_before) for rows of before it: columns that are
 * gone afterwards are NULL there, too. */
void lens_follow(const struct lens *lens, const struct shape_change *change, unsigned width,
        struct lens *ret_before, struct lens *ret_after);
/* Whether one of the columns is gone that was not gone before. */
bool lens_loses(const struct lens *lens, const struct shape_change *change);
/* The captured columns of a row. */
void lens_project(const struct lens *lens, const struct model_row *row, struct bytes *image);
/* What identifies it: a column of the key that is gone is NULL. */
void lens_identity(const struct lens *lens, const struct model_row *row, struct bytes *identity);

#endif
