/* SPDX-License-Identifier: MIT
 *
 * naming: names of tables and columns that need quoting, and the numbers that tables are known by.
 *
 * A table's number stands in its name, "t5", "t5 odd" …, and stays when it is renamed. Some tables
 * have a bare keyword as their name, and a number of their own.
 */
#ifndef DIFFERENTIAL_NAMING_H
#define DIFFERENTIAL_NAMING_H

#include "random.h"
#include "shared.h"

/* A number that no table had, and a name for it; the caller frees it with sqlite3_free. NULL: there
 * were too many. */
char *naming_new_table(struct random *random, struct shared *shared, unsigned *ret_number);
/* Another name for the table with this number. */
char *naming_other_table(struct random *random, unsigned number);
/* The number in a name, 0 if it is none of ours. */
unsigned naming_number(const char *table);
/* A column's name: unique if stem and number are; sometimes a keyword (for numbers from 1). */
char *naming_column(struct random *random, const char *stem, unsigned number);

#endif
