/* SPDX-License-Identifier: MIT
 *
 * truth: what SQLite itself says a transaction changed, written down by the process that ran it.
 *
 * A record is: u32 size of the rest, u64 number, u8 flags, u8 writer, the statements as a blob,
 * then entries up to the end:
 *
 *   'C'  a changeset of the session extension, as a blob
 *   'D'  the whole content of a table: u8 purpose, then the table (below)
 *   'A', 'T'  after a change of schema, before all others: truth_schema.h
 *
 * A table is: u32 number, text name, u32 columns, for each text name and u8 place in the key, u32
 * rows, for each u64 rowid and the row image as a blob. Records of all writers sorted by number are
 * the history of the database in commit order.
 */
#ifndef DIFFERENTIAL_TRUTH_H
#define DIFFERENTIAL_TRUTH_H

#include "writer.h"

enum {
        RECORD_MARKED = 1,      /* the transaction wrote its number to the marker table */
        RECORD_DEFINES = 2,     /* it may have changed the schema */
        RECORD_VERIFIES = 4,    /* holds dumps of all watched tables */
        RECORD_ACCOMPANIED = 8, /* a checkpoint or another writer was busy meanwhile */
        RECORD_VACUUMS = 16,    /* it is a VACUUM: rows are what they were, rowids may not be */
};

enum { DUMP_IS_TRUTH = 1, DUMP_VERIFIES = 2 };

/* Appends the table, as above. 0 or negative errno. */
int truth_dump_table(sqlite3 *db, const struct table *table, struct bytes *bytes);
/* Appends a record without number that holds all watched tables: where a history begins, or
 * (DUMP_VERIFIES) ends. */
int truth_dump_all(sqlite3 *db, const struct shared *shared, unsigned purpose, struct bytes *bytes);

/* At the beginning of a transaction: starts a session if writer->is_session. */
int truth_begin(struct writer *writer);
/* Before COMMIT, while the write lock is held: fills writer->record. */
int truth_collect(struct writer *writer, unsigned flags);
/* After COMMIT: appends the record to the writer's file. */
int truth_write(struct writer *writer);
/* After a rollback: forgets it. */
void truth_abandon(struct writer *writer);

#endif
