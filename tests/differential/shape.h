/* SPDX-License-Identifier: MIT
 *
 * shape: a table of the schema as of one commit, and what a change from one shape to another means
 * by the rules of design §3 (DDL): the same row of sqlite_schema is the same table, and its columns
 * are bound by position; another row under the same name is a rebuilt table, and its columns are
 * bound by name; else the table is gone.
 */
#ifndef DIFFERENTIAL_SHAPE_H
#define DIFFERENTIAL_SHAPE_H

#include "names.h"

struct shape {
        uint64_t row; /* of sqlite_schema */
        uint32_t root;
        bool is_without_rowid;
        char *name;
        char *sql;
        struct names columns, types;
        struct names indexes, index_texts;
        unsigned *parents; /* owned: numbers of the tables that foreign keys refer to */
        unsigned parent_count;
};

enum shape_event {
        SHAPE_SAME,
        SHAPE_ALTERED, /* or only moved to another root page */
        SHAPE_REBUILT,
        SHAPE_ENDED, /* whoever captured it captures nothing any more */
};

enum { COLUMN_GONE = -1 };

/* From one shape to the next. */
struct shape_change {
        enum shape_event event;
        int *map;                 /* owned: old column to new one or COLUMN_GONE; NULL: as it was */
        struct names definitions; /* that ADD COLUMN gave */
};

void shape_release(struct shape *shape);
void shape_change_release(struct shape_change *change);
/* Reads what follows the number in a record's entry 'T'. */
void shape_read(struct shape *shape, struct reader *reader);
/* Reads what follows the number in an entry 'A': the map, as seen from `before`, and the
 * definitions. No event yet. */
void shape_change_read(
        struct shape_change *change, const struct shape *before, struct reader *reader);
/* Completes the change with the event. */
void shape_change_decide(
        struct shape_change *change, const struct shape *before, const struct shape *after);
/* The statements that an instance's DDL history must have, without order. */
void shape_statements(const struct shape_change *change, const struct shape *before,
        const struct shape *after, struct names *ret_statements);

#endif
