/* SPDX-License-Identifier: MIT
 *
 * tablescan: every row of a rowid table's tree, in key order, as one state shows it.
 */
#ifndef CDC_TABLESCAN_H
#define CDC_TABLESCAN_H

#include "bytes/btpage.h"

typedef int (*tablescan_row)(void *context, int64_t rowid, const struct buf *payload);

/* Calls `row` for each row of the tree at `root`. 0, -EBADMSG if it is no such tree or deeper than
 * 20 levels, -ENOMEM, or what the reader or `row` returned. */
int tablescan_rows(
        uint32_t root, const struct btpage_source *source, tablescan_row row, void *context);

#endif
