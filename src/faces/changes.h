/* SPDX-License-Identifier: MIT
 *
 * changes: the rows of cdc.fn_cdc_get_all_changes_<instance>, in order, forward only.
 *
 *      _cleanup_changes_ struct changes *changes = NULL;
 *      int r = changes_open(store, object_id, from, to, CHANGES_ALL_UPDATE_OLD, &changes);
 *      const struct value *row;
 *      while (r >= 0 && (r = changes_next(changes, &row)) > 0)
 *              render_row(render, row, buf);
 *
 * Columns: `__$start_lsn, __$seqval, __$operation, __$update_mask`, then the captured columns.
 * Order: LSN, command id, seqval, operation, which is the order of the rowids of a change table
 * (2 * seqval + (operation <> 3)); a range of LSNs becomes a range of rowids through
 * lsn_time_mapping, so that nothing is scanned.
 *
 * Works on any connection to a store, and reads what that connection's transaction shows. It
 * asks no questions about the range: validity does.
 */
#ifndef CDC_CHANGES_H
#define CDC_CHANGES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "faces/result.h"
#include "ground/buf.h"
#include "ground/cleanup.h"
#include "ground/lsn.h"

enum changes_filter {
        CHANGES_ALL,            /* operations 1, 2, 4 */
        CHANGES_ALL_UPDATE_OLD, /* operations 1, 2, 3, 4 */
};

enum { CHANGES_METADATA = 4 }; /* columns before the captured ones */

/* Change numbers (`__$seqval`), both ends inclusive; empty if first > last. */
struct changes_range {
        uint64_t first;
        uint64_t last;
};

struct changes;

#define _cleanup_changes_ _cleanup_(changes_closep)

/* The filter as SQL Server reads it: trimmed, case aside. NULL or "" is not a filter. 0 or
 * -EINVAL. */
int changes_parse_filter(const char *text, enum changes_filter *ret_filter);
/* The change numbers of the transactions in [from, to], over all instances. */
int changes_find_range(
        sqlite3 *store, struct lsn from, struct lsn to, struct changes_range *ret_range);
/* -ENOENT for an unknown instance. The caller owns *ret_changes. */
int changes_open(sqlite3 *store, int64_t object_id, struct lsn from, struct lsn to,
        enum changes_filter filter, struct changes **ret_changes);
int changes_open_range(sqlite3 *store, int64_t object_id, struct changes_range range,
        enum changes_filter filter, struct changes **ret_changes);
void changes_close(struct changes *changes); /* NULL is allowed */
/* Holds as long as the iterator does. */
const struct result_shape *changes_shape(const struct changes *changes);
/* 1 with a row, 0 at the end. The values (as many as the shape has columns) and their bytes are
 * borrowed until the next call. */
int changes_next(struct changes *changes, const struct value **ret_values);
/* Of the row that changes_next gave last. */
struct lsn changes_lsn(const struct changes *changes);
uint64_t changes_number(const struct changes *changes); /* its seqval as a number */

/* ---- what netchanges shares ---- */

/* The text without blanks at its ends is `word`, case aside. */
bool changes_is_filter(const char *text, const char *word);
/* The captured columns in the order of their ordinals; none for an unknown instance. */
int changes_add_columns(sqlite3 *store, int64_t object_id, struct result_shape *shape);
/* Appends ` FROM … WHERE … ORDER BY …` over the rows of a range in capture order, which
 * changes_bind_range binds as parameters 1 and 2. -ENOENT for an unknown instance. */
int changes_append_source(
        sqlite3 *store, int64_t object_id, enum changes_filter filter, struct buf *buf);
void changes_bind_range(sqlite3_stmt *stmt, struct changes_range range);

static inline void changes_closep(struct changes **changes)
{
        changes_close(*changes);
}

#endif
