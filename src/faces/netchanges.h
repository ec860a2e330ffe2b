/* SPDX-License-Identifier: MIT
 *
 * netchanges: the rows of cdc.fn_cdc_get_net_changes_<instance>: at most one row for each key,
 * which says what the changes of a window come to. Forward only.
 *
 *      _cleanup_netchanges_ struct netchanges *net = NULL;
 *      int r = netchanges_check(store, object_id, &problem);
 *      if (r == 0)
 *              r = netchanges_open(store, object_id, from, to, NETCHANGES_ALL_WITH_MASK, &net);
 *      while (r >= 0 && (r = netchanges_next(net, &row)) > 0)
 *              render_row(render, row, buf);
 *
 * Columns: `__$start_lsn, __$operation, __$update_mask`, then the captured columns. LSN and values
 * are those of the key's last change in the window (a delete: as it was deleted). The operation
 * follows from the first and the last change of the key, see netkeys.h, and 1 + 2 of a changed key
 * are two keys, so two rows. Order: that of the last changes, by LSN and then change number.
 *
 *   all              mask NULL
 *   all with mask    mask of operation 4: the bits of all changes of the key in the window, all
 *                    bits where it was deleted and inserted again; NULL for 1 and 2
 *   all with merge   5 for both 2 and 4; mask NULL
 *
 * Keys are equal if their values are, in storage class and bytes, as capture compares them. A key
 * with a NULL in it names no row: such rows are told apart by their rowids, which the store does
 * not keep. So nothing is put together for them: each of their changes is a row of its own, with
 * the operation and mask that it had (2 and 4 as 5 with merge), in the same order.
 *
 * It works on any connection to a store and reads one state of it, from open to close: that of
 * the connection's transaction, or without one that of the opening. The window is read once, by
 * rowid, when it is opened; no index on the keys is used, which would cost the capture much.
 * Memory is bounded by NETKEYS_LIMIT, not by the window.
 *
 * For a mount, a window is that of a listed file (netchanges_open_range over first_change and
 * last_change of its row, which filebytes does) or of a name in range/ (validity_check, then
 * netchanges_check, then netchanges_open, all in one read transaction). The shape goes into
 * render_init like that of changes. Position in a window: netchanges_skip with the number of the
 * first row wanted, as netchanges_number gave it.
 */
#ifndef CDC_NETCHANGES_H
#define CDC_NETCHANGES_H

#include <sqlite3.h>
#include <stdint.h>

#include "faces/changes.h"
#include "faces/result.h"
#include "ground/cleanup.h"
#include "ground/lsn.h"
#include "ground/problem.h"

enum netchanges_filter {
        NETCHANGES_ALL,
        NETCHANGES_ALL_WITH_MASK,
        NETCHANGES_ALL_WITH_MERGE,
};

enum { NETCHANGES_METADATA = 3 }; /* columns before the captured ones */

struct netchanges;

#define _cleanup_netchanges_ _cleanup_(netchanges_closep)

/* Trimmed, case aside. NULL or "" is not a filter. 0 or -EINVAL. */
int netchanges_parse_filter(const char *text, enum netchanges_filter *ret_filter);
/* May net changes be asked of this instance? 0, -ENOTSUP (208) where it does not support them,
 * -ENOENT for an unknown one. */
int netchanges_check(sqlite3 *store, int64_t object_id, struct problem *problem);
/* -ENOENT for an unknown instance, -ENOTSUP for one without a key. The caller owns *ret_net. */
int netchanges_open(sqlite3 *store, int64_t object_id, struct lsn from, struct lsn to,
        enum netchanges_filter filter, struct netchanges **ret_net);
int netchanges_open_range(sqlite3 *store, int64_t object_id, struct changes_range range,
        enum netchanges_filter filter, struct netchanges **ret_net);
void netchanges_close(struct netchanges *net); /* NULL is allowed */
void netchanges_closep(struct netchanges **net);
/* Holds as long as the iterator does. */
const struct result_shape *netchanges_shape(const struct netchanges *net);
/* The next row is the first one whose number is at least this. Before the first row. */
void netchanges_skip(struct netchanges *net, uint64_t number);
/* 1 with a row, 0 at the end. The values (as many as the shape has columns) and their bytes are
 * borrowed until the next call. */
int netchanges_next(struct netchanges *net, const struct value **ret_values);
/* Of the row that netchanges_next gave last: `__$seqval` of the last change. */
uint64_t netchanges_number(const struct netchanges *net);

#endif
