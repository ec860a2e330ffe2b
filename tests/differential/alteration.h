/* SPDX-License-Identifier: MIT
 *
 * alteration: what the statements of the running transaction did to the columns of each table: the
 * writer knows which column is which, and need not guess it from two schemas.
 *
 * Only the schemas before and after a transaction are in the log. Two histories that lead from the
 * one to the other with the same pages cannot be told apart, so some are never drawn:
 *
 * - DROP COLUMN with ADD or RENAME COLUMN of one table in one transaction: dropping the last column
 *   and adding one is renaming it, where the rows hold no more than that. ADD with RENAME COLUMN
 *   only if the transaction writes no row, as DROP COLUMN would.
 * - A table that gets the row of sqlite_schema of one that was dropped in the same transaction, and
 *   a name in double quotes, as RENAME TO writes it: that is a renamed table. With a bare name it
 * is drawn. The same name again is drawn with the same text: with another it is ALTER TABLE.
 */
#ifndef DIFFERENTIAL_ALTERATION_H
#define DIFFERENTIAL_ALTERATION_H

#include "catalog.h"
#include "names.h"

enum alteration_kind {
        ALTERATION_NONE,
        ALTERATION_ADDED,
        ALTERATION_DROPPED,
        ALTERATION_RENAMED,
        ALTERATION_REPLACED, /* the table is new, or gone: columns have no origin but their name */
};

struct alteration {
        unsigned number; /* of the table */
        enum alteration_kind kind;
        unsigned *origins; /* owned; of each column: its position before the transaction, or none */
        unsigned count;
        struct names definitions; /* of ADD COLUMN, in order */
};

enum { NO_ORIGIN = UINT32_MAX };

struct alterations {
        struct alteration *items; /* owned */
        unsigned count;
        int64_t dropped_row; /* the highest row of sqlite_schema that a dropped table had */
        bool is_quiet;       /* the transaction writes no row of a table that it alters */
        bool is_closed;      /* no schema change more in this transaction */
};

void alterations_release(struct alterations *alterations);
void alterations_copy(const struct alterations *from, struct alterations *ret_to);
const struct alteration *alterations_find(const struct alterations *alterations, unsigned number);
/* Whether columns of the table may be changed in this way, after what was done to it. */
bool alterations_allow(const struct alterations *alterations, const struct table *table,
        enum alteration_kind kind);
/* What was done, after the statement; `table` is as it was before it. */
void alterations_note_added(
        struct alterations *alterations, const struct table *table, const char *definition);
void alterations_note_dropped(
        struct alterations *alterations, const struct table *table, unsigned column);
void alterations_note_renamed(struct alterations *alterations, const struct table *table);
void alterations_note_replaced(struct alterations *alterations, unsigned number);

#define _cleanup_alterations_ _cleanup_(alterations_release)

#endif
