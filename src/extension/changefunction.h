/* SPDX-License-Identifier: MIT
 *
 * changefunction: the table-valued functions of every capture instance.
 *
 *      SELECT * FROM fn_cdc_get_all_changes_main_orders(from_lsn, to_lsn, 'all');
 *      SELECT * FROM fn_cdc_get_net_changes_main_orders(from_lsn, to_lsn, 'all with mask');
 *
 * They are eponymous virtual tables, two a capture instance. LSNs as in scalars.h; the filter may
 * be left out, and is then 'all update old' or 'all with mask'. What may not be asked for is an
 * error that begins with SQL Server's number, 313; where from_lsn is the LSN after max_lsn and
 * to_lsn is max_lsn there is nothing new yet, and the result is empty.
 *
 * The columns of such a function are those of the instance when it was made known. Instances that
 * come later, and those of a store attached later, are made known by `SELECT cdc_register()`.
 */
#ifndef CDC_EXTENSION_CHANGEFUNCTION_H
#define CDC_EXTENSION_CHANGEFUNCTION_H

#include <sqlite3.h>

/* Makes the functions of one instance known; those that are there are made anew. An SQLite
 * result. */
int changefunction_register(sqlite3 *db, const char *instance);

#endif
