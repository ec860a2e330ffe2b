/* SPDX-License-Identifier: MIT
 *
 * storefind: is a store open on this connection, and do its tables answer to their names?
 *
 * The store is the main database or an attached one. Rooms that read it name its tables without
 * a schema, which SQLite looks for in temp, then main, then what is attached, in order. So a table
 * of the same name before the store's would be read in its place: then nothing is read at all.
 */
#ifndef CDC_EXTENSION_STOREFIND_H
#define CDC_EXTENSION_STOREFIND_H

#include <sqlite3.h>

#include "ground/problem.h"

/* 0; -ENOENT: no store is open; -ENOTSUP: one of another version; -EINVAL: a table of another
 * database hides one of its tables. instance: its change table is looked for too; or NULL. */
int storefind(sqlite3 *db, const char *instance, struct problem *problem);

#endif
