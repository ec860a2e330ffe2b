/* SPDX-License-Identifier: MIT
 *
 * schemarows: the rows of sqlite_schema, kept up with what a tree difference tells of them. It
 * knows their columns, not what the texts mean.
 */
#ifndef CDC_SCHEMAROWS_H
#define CDC_SCHEMAROWS_H

#include "ground/buf.h"
#include "source/schema.h"

/* One change of a row: a payload of NULL removes it, else it is new or replaced. 0, -EBADMSG if it
 * is no row of sqlite_schema, -ENOMEM. */
int schemarows_change(struct schema_rows *rows, enum text_encoding encoding, int64_t rowid,
        const struct buf *payload);
int schemarows_copy(const struct schema_rows *rows, struct schema_rows *ret_rows);
/* True if both hold the same objects with the same texts, whatever their rowids and roots are: what
 * VACUUM leaves. Automatic indexes and sqlite_sequence do not count. */
bool schemarows_same(const struct schema_rows *a, const struct schema_rows *b);

#endif
