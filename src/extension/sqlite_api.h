/* SPDX-License-Identifier: MIT
 *
 * sqlite_api: calls of SQLite go through the table that a program hands to its extensions.
 *
 * It is included before everything else by the compiler (meson.build here), so that the rooms of
 * the library, which include <sqlite3.h> as always, are compiled for the extension as they stand.
 * A second SQLite in the process of the shell would not see the first one's locks.
 */
#ifndef CDC_SQLITE_API_H
#define CDC_SQLITE_API_H

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

#endif
