/* SPDX-License-Identifier: MIT
 *
 * store_schema: the tables of a store, and how an older version becomes this one. Private to
 * store; every other reader learns the columns from store_schema.c.
 */
#ifndef CDC_STORE_SCHEMA_H
#define CDC_STORE_SCHEMA_H

#include <sqlite3.h>

/* Makes all tables in an empty database, without rows. 0 or negative errno. */
int store_schema_create(sqlite3 *db);
/* Brings a store of version `from` (1 to STORE_VERSION) up to STORE_VERSION in one transaction;
 * looks at the version again inside it, since another process may have been first.
 * 0, -ENOTSUP for a version it does not know, or negative errno. */
int store_schema_upgrade(sqlite3 *db, int from);

#endif
