/* SPDX-License-Identifier: MIT
 *
 * mappingrows: rows of lsn_time_mapping for its two kinds of files.
 *
 *   MAPPINGROWS_TABLE         SQL Server's columns, all rows
 *   MAPPINGROWS_TRANSACTIONS  start_lsn, tran_begin_time, tran_end_time, tran_id, and `rows`, a
 * JSON object: how many rows each instance has of it, counted as in its files (an update is two).
 * Dummies are no transactions
 *
 * Both are pure functions of the table's rows, whatever became of the instances.
 */
#ifndef CDC_MAPPINGROWS_H
#define CDC_MAPPINGROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "faces/result.h"

enum mappingrows_kind { MAPPINGROWS_TABLE, MAPPINGROWS_TRANSACTIONS };

/* Rows with first <= rowid <= last. 0 or negative errno; close the result in either case. */
int mappingrows_open(sqlite3 *db, enum mappingrows_kind kind, uint64_t first, uint64_t last,
        struct result *result);
/* The rowid of the row that result_next gave last. */
uint64_t mappingrows_number(const struct result *result);

#endif
