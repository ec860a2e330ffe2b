/* SPDX-License-Identifier: MIT
 *
 * schema: random CREATE statements. Each kind of table is one row of the table in schema.c.
 */
#ifndef DIFFERENTIAL_SCHEMA_H
#define DIFFERENTIAL_SCHEMA_H

#include "catalog.h"
#include "settings.h"
#include "shared.h"

/* The table that triggers write to: t1. */
enum { LOG_TABLE = 1 };

/* Several tables with indexes, foreign keys and triggers, and the marker table. 0 or -errno. */
int schema_make(sqlite3 *db, struct random *random, struct shared *shared);
/* CREATE TABLE, with the name in double quotes; parents are what its foreign keys may refer to,
 * NULL = it has none. The caller frees all these texts with sqlite3_free. */
char *schema_table(struct random *random, const char *name, const struct catalog *parents);
/* What stands behind ALTER TABLE … ADD COLUMN. */
char *schema_added_column(struct random *random, struct shared *shared, const struct table *table);
/* CREATE INDEX on some columns; may be unique, partial, or on an expression. */
char *schema_index(struct random *random, struct shared *shared, const struct table *table);

#endif
