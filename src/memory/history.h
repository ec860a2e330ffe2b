/* SPDX-License-Identifier: MIT
 *
 * history: what happened to an instance's stream besides row changes: DDL (ddl_history) and lost
 * continuity (cdcfs_gaps). It records; others decide what a gap forbids.
 */
#ifndef CDC_HISTORY_H
#define CDC_HISTORY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ground/lsn.h"
#include "memory/store.h"

struct history_ddl {
        int64_t source_object_id;
        int64_t object_id;
        bool required_column_update; /* a captured column's type changed */
        const char *command;         /* the derived statement (design §3) */
        struct lsn lsn;              /* commit of the DDL */
        int64_t time_ns;
};

/* In the caller's transaction. 0 or negative errno. */
int history_add_ddl(struct store *store, const struct history_ddl *ddl);

/* Changes with from <= LSN <= to are lost. */
struct history_gap {
        int64_t gap;       /* its number, from 1; set by history_add_gap */
        int64_t object_id; /* 0: the whole database (SQL NULL) */
        struct lsn from;   /* last captured LSN + 1 */
        struct lsn to;     /* the new anchor; nothing while is_open */
        bool is_open;      /* goes on (SQL NULL): everything from `from` on is lost */
        int64_t time_ns;
        char *cause;
};

struct history_gaps {
        struct history_gap *items; /* by number */
        size_t count;
};

/* In the caller's transaction. -EINVAL: from > to. */
int history_add_gap(struct store *store, const struct history_gap *gap, int64_t *ret_gap);
/* Ends an open gap. -ENOENT: no such open gap. */
int history_close_gap(struct store *store, int64_t gap, struct lsn to);

/* Does from <= LSN <= to touch a gap of the instance or of the whole database? 1 and the first one
 * (release its cause with history_gap_release), 0, or negative errno. object_id 0: whole-database
 * gaps only. */
int history_find_gap(sqlite3 *db, int64_t object_id, struct lsn from, struct lsn to,
        struct history_gap *ret_gap);
/* The gaps of an instance with those of the whole database; object_id 0: all there are. */
int history_load_gaps(sqlite3 *db, int64_t object_id, struct history_gaps *ret_gaps);
void history_gap_release(struct history_gap *gap);
void history_gaps_release(struct history_gaps *gaps);

#endif
