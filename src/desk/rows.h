/* SPDX-License-Identifier: MIT
 *
 * rows: how the results behind a struct cdc_rows are made, for the calls that give one. The
 * readers' side is in cdc.h.
 *
 * All take over what they are given, also when they fail.
 */
#ifndef CDC_ROWS_H
#define CDC_ROWS_H

#include "cdc.h"
#include "faces/changes.h"
#include "faces/netchanges.h"
#include "faces/result.h"
#include "memory/store.h"

/* Rows of a change function. The store has the read transaction open that they were checked in;
 * both end with the rows. */
int rows_of_changes(struct store *store, struct changes *changes, struct cdc_rows **ret_rows);
int rows_of_net(struct store *store, struct netchanges *net, struct cdc_rows **ret_rows);
/* Rows of a SELECT on the store, prepared and bound. */
int rows_of_select(struct store *store, struct result *result, struct cdc_rows **ret_rows);
/* Rows of a SELECT on a database of its own, which ends with the rows. */
int rows_of_database(sqlite3 *db, struct result *result, struct cdc_rows **ret_rows);

#endif
