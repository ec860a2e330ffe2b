/* SPDX-License-Identifier: MIT
 *
 * stream: what one instance delivered for its whole interval: read through cdcctl as CSV and as
 * JSONL, compared with each other, checked for what holds of any stream (order, pairs of 3 and
 * 4, shared values), and turned into changes. Whether they are the right ones, check knows.
 */
#ifndef DIFFERENTIAL_STREAM_H
#define DIFFERENTIAL_STREAM_H

#include "delivered.h"
#include "report.h"

struct gap {
        char from[LSN_SIZE];
        char to[LSN_SIZE];
};

/* Losses of continuity that the programs record, in order. */
struct gaps {
        struct gap *items;
        unsigned count;
        char stopped[256]; /* what is said of an instance whose capture stopped; "" = none did */
};

/* A change with its place. */
struct delivery {
        const char *lsn;
        const char *sequence;
};

/* A row of an instance's ddl_history. */
struct ddl_row {
        char lsn[LSN_SIZE];
        char *command;
        bool is_required; /* required_column_update */
};

struct ddl_history {
        struct ddl_row *rows; /* owned, in LSN order */
        unsigned count;
        unsigned next; /* first one that was not looked at */
        /* What the transaction in hand must give. */
        struct names expected;
        bool is_required;
};

struct stream {
        const struct instance *instance;
        char min_lsn[LSN_SIZE];
        struct delivered rows;
        struct changes changes;
        struct delivery *deliveries; /* one a change */
        struct ddl_history ddl;
        bool has_drop_pending; /* as the store says at the end */
        /* While the history is gone through: */
        size_t next; /* first change that was not looked at */
        bool has_begun;
        bool is_bound;      /* to the table, by the lens */
        bool is_over;       /* the table is gone, or no longer one that can be captured */
        struct lens lens;   /* as the transaction in hand leaves it */
        struct lens before; /* for the rows that it found */
        bool is_altered;    /* it changed the schema: `before` is another one */
        struct map replay;  /* captured columns of the rows that a follower has, as a multiset */
        struct map keys;    /* identity keys of those rows */
};

void stream_release(struct stream *stream);
void gaps_release(struct gaps *gaps);
/* What cdcctl status says. 0 or negative errno. */
int gaps_read(struct gaps *gaps, const struct programs *programs, const struct settings *settings);
/* Reads and checks; what is wrong goes to the report. 0, or negative errno if it cannot be read
 * at all (that is reported, too). */
int stream_read(struct stream *stream, const struct programs *programs,
        const struct settings *settings, const char *max_lsn, const struct gaps *gaps,
        struct report *report);
/* Reads [from, to] again and compares it with what the whole interval gave. */
int stream_check_range(const struct stream *stream, const struct programs *programs,
        const struct settings *settings, const char *from, const char *to, struct report *report);
/* The LSN `by` (1 or -1) further. */
void lsn_step(const char *lsn, int by, char *ret_lsn);
/* 1 delete, 2 update, 3 insert: the order inside a transaction. */
unsigned change_class(unsigned operation);

#endif
