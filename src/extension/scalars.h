/* SPDX-License-Identifier: MIT
 *
 * scalars: the functions of one value, each under three names: get_min_lsn, fn_cdc_get_min_lsn and
 * sys_fn_cdc_get_min_lsn.
 *
 *   get_min_lsn([instance])            of the instance, 0x0 for an unknown one; of the database
 *   get_max_lsn()
 *   increment_lsn(lsn), decrement_lsn(lsn)
 *   map_time_to_lsn(operator, time), map_lsn_to_time(lsn)
 *   is_bit_set(position, mask)
 *   get_column_ordinal(instance, column), has_column_changed(instance, column, mask)
 *
 * LSNs are BLOB(10); as arguments also text in any form. Masks are BLOBs, or hex as text. NULL
 * gives NULL, and so does what is not there: a pending instance, a time without a transaction, an
 * unknown column.
 */
#ifndef CDC_EXTENSION_SCALARS_H
#define CDC_EXTENSION_SCALARS_H

#include <sqlite3.h>

/* An SQLite result. */
int scalars_register(sqlite3 *db);

#endif
