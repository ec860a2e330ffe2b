/* SPDX-License-Identifier: MIT
 *
 * definitions: the column definitions that ALTER TABLE ADD COLUMN put into a CREATE text. SQLite
 * inserts `, definition` as the application wrote it, so what the new text has beyond the old is
 * the statement.
 */
#ifndef CDC_DEFINITIONS_H
#define CDC_DEFINITIONS_H

#include <stddef.h>

/* Where the column list of a CREATE text begins: its first parenthesis, or its end. */
const char *definitions_begin(const char *sql);
/* Length of the first definition in a comma list. */
size_t definitions_size(const char *text, size_t size);
/* The definitions that the new text holds beyond the old, each with a comma before it, *ret_size
 * bytes in `new`; NULL if the new text is not the old one with `count` definitions put in. */
const char *definitions_inserted(
        const char *old, const char *new, unsigned count, size_t *ret_size);

#endif
