/* SPDX-License-Identifier: MIT
 *
 * node_net: the folder net/ of an instance that supports net changes; others have none.
 */
#include <string.h>

#include "node.h"

static bool find(const struct cdc_catalog *catalog, const struct node *directory, const char *name,
        struct node *member)
{
        return directory->instance->supports_net_changes && strcmp(name, "net") == 0;
}

static bool next(const struct cdc_catalog *catalog, const struct node *directory, uint64_t after,
        struct node *member, uint64_t *ret_ordinal)
{
        *ret_ordinal = 1;
        return directory->instance->supports_net_changes && after == 0;
}

static void name(const struct node *member, char ret_name[NODE_NAME_SIZE])
{
        strcpy(ret_name, "net");
}

const struct node_members node_net = {.find = find, .next = next, .name = name};
