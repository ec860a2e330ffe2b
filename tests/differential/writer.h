/* SPDX-License-Identifier: MIT
 *
 * writer: a process that changes the test database through a connection of its own, and keeps
 * for each committed transaction what SQLite itself says it changed.
 */
#ifndef DIFFERENTIAL_WRITER_H
#define DIFFERENTIAL_WRITER_H

#include "alteration.h"
#include "catalog.h"
#include "settings.h"
#include "shared.h"

struct sqlite3_session;

struct writer {
        const struct settings *settings;
        struct shared *shared;
        unsigned index; /* among the round's writers */
        sqlite3 *db;
        struct catalog catalog;
        struct random random; /* of the running transaction */
        int record_fd;        /* -1: nothing is recorded (the first filling) */
        int turn_fd;          /* lock file of serialized rounds, or -1 */
        int page_fd;          /* the database file, never closed before the process ends */
        int failure;          /* sticky: 0 or negative errno */
        /* The running transaction. */
        uint64_t number;    /* 0 = it has none yet */
        bool is_aside;      /* only tables that nobody captures */
        bool is_autocommit; /* a single statement, no BEGIN */
        bool is_session;    /* truth by the session extension where the table allows it */
        struct sqlite3_session *session;
        struct alterations alterations; /* of its schema */
        struct bytes statements;        /* for people, when a difference is found */
        struct bytes record;
};

int writer_open(struct writer *writer);
void writer_close(struct writer *writer);
/* The body of a writer process: transactions until the budget is used up. */
int writer_run(const struct settings *settings, struct shared *shared, unsigned index);
/* Fills the new tables; nothing is recorded. 0 or negative errno. */
int writer_fill(const struct settings *settings, struct shared *shared);

/* Runs one statement to its end. 1 done, 0 refused by a constraint (the transaction goes on),
 * negative errno: the writer is broken, and `failure` says so to everyone. */
int perform(struct writer *writer, const char *sql, const struct arguments *arguments);
/* The same for a statement text that sqlite3_mprintf made; it is freed. */
int perform_text(struct writer *writer, char *sql, const struct arguments *arguments);
/* true while the transaction can go on: not broken, not rolled back by a statement. */
bool writer_is_well(const struct writer *writer);

/* A table that the running transaction may change, NULL if there is none. */
const struct table *pick_table(struct writer *writer);
/* What names one row in a WHERE clause: "rowid = ?" or "a = ? AND b = ?". Freed by the caller. */
char *table_place(const struct table *table);
/* The columns of table_place(), as a list. Freed by the caller. */
char *table_place_columns(const struct table *table);
/* The column (or rowid) that ranges of rows are named by, quoted. Freed by the caller. */
char *table_range(const struct table *table);
/* Appends the values for table_place() (table_range() if is_range) of a random row. */
bool pick_place(struct writer *writer, const struct table *table, bool is_range,
        struct arguments *arguments);
int64_t count_rows(struct writer *writer, const struct table *table);
/* The list of columns that are not generated, quoted; freed by the caller. */
char *table_columns(const struct table *table);
/* A column that is not generated; with is_key one of the key, if there is one. -1: none. */
int pick_column(struct writer *writer, const struct table *table, bool is_key);
/* Appends `?` or a subquery (for a foreign key) and the random argument that goes with it. */
void append_value(struct writer *writer, const struct table *table, unsigned column,
        sqlite3_str *sql, struct arguments *arguments);

#endif
