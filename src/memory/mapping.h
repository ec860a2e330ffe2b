/* SPDX-License-Identifier: MIT
 *
 * mapping: lsn_time_mapping: one row for each captured transaction with change rows, and dummy
 * rows (transaction id x'00') where max_lsn moved without any, or at an instance's start_lsn.
 *
 * LSNs rise strictly and times never fall from row to row, so both are found by bisecting rowids,
 * which have no holes; there is no index. Readers take a plain sqlite3 *.
 */
#ifndef CDC_MAPPING_H
#define CDC_MAPPING_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "ground/lsn.h"
#include "memory/state.h"
#include "memory/store.h"

enum { MAPPING_ID_SIZE = 10 };

struct mapping_row {
        struct lsn start_lsn; /* of the commit */
        int64_t begin_ns;     /* tran_begin_time; 0 = as end_ns */
        int64_t end_ns;       /* tran_end_time */
        bool is_dummy;        /* tran_id x'00' */
        uint8_t tran_id[MAPPING_ID_SIZE];
        struct lsn begin_lsn;  /* tran_begin_lsn */
        uint64_t first_change; /* cdcfs_first_change: number of its first row; with a count of 0
                                * that of the next row to come */
        uint64_t change_count; /* cdcfs_change_count: numbers it took (an update takes one) */
        bool is_resync;        /* cdcfs_resynced */
        const char *rows; /* cdcfs_rows: how many of each instance, a JSON object. Borrowed, for
                           * mapping_append alone: finders leave NULL */
};

/* Adds a row, in the caller's transaction. Times before state->last_commit_time_ns are raised to
 * it, and it is moved on (saved by the next state_save). A dummy at the LSN of the last row is
 * left out; any other LSN that is not above the last row's: -EINVAL. */
int mapping_append(struct store *store, struct state *state, const struct mapping_row *row);

/* All rows with from <= LSN <= to, by their numbers (rowids). */
struct mapping_rows {
        int64_t first, last;
        int64_t first_time_ns, last_time_ns; /* tran_end_time of the two */
};
/* 1, 0 where there are none, or negative errno. */
int mapping_find_rows(sqlite3 *db, struct lsn from, struct lsn to, struct mapping_rows *ret_rows);
/* The newest row up to this LSN. 1, 0, or negative errno. */
int mapping_find_up_to(sqlite3 *db, struct lsn lsn, struct mapping_row *ret_row);
/* Exactly this LSN: 1 or 0. All finders: 1 found, 0 not, negative errno. */
int mapping_find_lsn(sqlite3 *db, struct lsn lsn, struct mapping_row *ret_row);

/* The relational operators of sys.fn_cdc_map_time_to_lsn (sqlserver-cdc §2.3). On equal times the
 * largest ones give the largest LSN, the smallest ones the smallest. */
enum mapping_operator {
        MAPPING_LARGEST_LESS_THAN,
        MAPPING_LARGEST_LESS_THAN_OR_EQUAL,
        MAPPING_SMALLEST_GREATER_THAN,
        MAPPING_SMALLEST_GREATER_THAN_OR_EQUAL,
};
/* By the operator's SQL text ("largest less than"), ASCII case aside. 0 or -EINVAL. */
int mapping_parse_operator(const char *text, enum mapping_operator *ret_operator);
/* By tran_end_time, in microseconds (what the store keeps). */
int mapping_find_time(
        sqlite3 *db, enum mapping_operator operator, int64_t wall_ns, struct mapping_row *ret_row);

/* The change numbers of all transactions with from <= LSN <= to: 1, or 0 where none has rows. */
int mapping_find_changes(
        sqlite3 *db, struct lsn from, struct lsn to, uint64_t *ret_first, uint64_t *ret_last);
/* The newest row. */
int mapping_last(sqlite3 *db, struct mapping_row *ret_row);

#endif
