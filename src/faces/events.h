/* SPDX-License-Identifier: MIT
 *
 * events: the rows of changes, each with the commit that it came with, for formats that name time
 * and transaction in every row.
 *
 *      _cleanup_events_ struct events *events = NULL;
 *      int r = events_open(store, object_id, range, &events);
 *      const struct value *row;
 *      while (r >= 0 && (r = events_next(events, &row)) > 0)
 *              render_row(render, row, buf);
 *
 * Columns: `__$start_lsn, __$seqval, __$operation, __$update_mask` as in changes.h, both images of
 * an update; `tran_end_time`, an INTEGER of nanoseconds since 1970; `tran_id`, a BLOB; then the
 * captured columns. The shape says which of them are the key, and of which database and table the
 * rows are: the name of the source's file as it was enabled without folder and suffix, and of the
 * table as it was enabled. Neither follows a renaming, as column names do not.
 *
 * Commit times come from lsn_time_mapping, where they never fall, whatever the clock did.
 */
#ifndef CDC_EVENTS_H
#define CDC_EVENTS_H

#include <sqlite3.h>
#include <stdint.h>

#include "faces/changes.h"

enum events_column {
        EVENTS_START_LSN,
        EVENTS_SEQVAL,
        EVENTS_OPERATION,
        EVENTS_UPDATE_MASK,
        EVENTS_TIME,
        EVENTS_TRANSACTION,
        EVENTS_METADATA, /* columns before the captured ones */
};

struct events;

#define _cleanup_events_ _cleanup_(events_closep)

/* Reads what the connection's transaction shows. -ENOENT for an unknown instance. The caller owns
 * *ret_events. */
int events_open(
        sqlite3 *store, int64_t object_id, struct changes_range range, struct events **ret_events);
void events_close(struct events *events); /* NULL is allowed */
/* Holds as long as the iterator does. */
const struct result_shape *events_shape(const struct events *events);
/* 1 with a row, 0 at the end; -EBADMSG where the mapping has no row for a change. The values are
 * borrowed until the next call. */
int events_next(struct events *events, const struct value **ret_values);
/* Of the row that events_next gave last: its seqval as a number. */
uint64_t events_number(const struct events *events);

/* The name of the database that the shape tells, for the caller to free. */
int events_read_database(sqlite3 *store, char **ret_name);

static inline void events_closep(struct events **events)
{
        events_close(*events);
}

#endif
