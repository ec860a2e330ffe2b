/* SPDX-License-Identifier: MIT
 *
 * columns: which column of a table's old version is which column of its new one.
 *
 * ALTER TABLE adds columns at the end, drops and renames; no statement is in the log. Lists of
 * equal length are bound by position (design §3, DDL): what has another name was renamed. Unless
 * the rows were written, as DROP COLUMN writes them all, and one column that went and one that came
 * at the end explain the names better. A longer list is bound by position too where no row was
 * written. Other lists are aligned by name; a run that was replaced by a run of equal length was
 * renamed, the rest was dropped or added. A table that was rebuilt binds by name.
 */
#ifndef CDC_COLUMNS_H
#define CDC_COLUMNS_H

#include "source/schema.h"

/* Where a column went. */
enum { COLUMNS_GONE = -1 };

/* *ret_map: for each old column its position in the new table, or COLUMNS_GONE; the caller frees.
 * is_written: pages of the table were written in between. 0 or -ENOMEM. */
int columns_align(const struct schema_table *old, const struct schema_table *new, bool is_written,
        int **ret_map);
/* The same by name alone. */
int columns_match(const struct schema_table *old, const struct schema_table *new, int **ret_map);

#endif
