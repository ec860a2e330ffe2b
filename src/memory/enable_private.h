/* SPDX-License-Identifier: MIT
 *
 * enable_private: the choices behind an enable: columns (enable_columns.c), key (enable_key.c) and
 * name (enable_name.c). They look at the request alone, except that a name must be free in the
 * store. Private to enable.
 */
#ifndef CDC_ENABLE_PRIVATE_H
#define CDC_ENABLE_PRIVATE_H

#include <stdbool.h>
#include "memory/enable.h"

/* Columns of the table, as indexes into its columns. */
struct enable_columns {
        unsigned *positions; /* owned */
        unsigned count;
};

struct enable_key {
        struct enable_columns columns; /* in key order */
        char *index_name;              /* owned; NULL without a key */
};

/* Right-trimmed copy of the given name, or the default one, checked. The caller frees it. */
int enable_choose_name(struct store *store, const struct instances_request *request,
        struct problem *problem, char **ret_name);
/* In the order of the table. */
int enable_choose_columns(const struct instances_request *request, struct problem *problem,
        struct enable_columns *ret_columns);
/* All of the key's columns must be among the captured ones. */
int enable_choose_key(const struct instances_request *request,
        const struct enable_columns *captured, struct problem *problem, struct enable_key *ret_key);
int enable_choose_net(const struct instances_request *request, const struct enable_key *key,
        struct problem *problem, bool *ret_supports_net);

void enable_columns_release(struct enable_columns *columns);
void enable_key_release(struct enable_key *key);

#endif
