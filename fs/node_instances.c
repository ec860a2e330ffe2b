/* SPDX-License-Identifier: MIT
 *
 * node_instances: the capture instances, members of the root, by object_id.
 */
#include <string.h>

#include "node.h"

static bool find(const struct cdc_catalog *catalog, const struct node *directory, const char *name,
        struct node *member)
{
        member->instance = cdc_catalog_find_instance(catalog, name);
        return member->instance;
}

static bool next(const struct cdc_catalog *catalog, const struct node *directory, uint64_t after,
        struct node *member, uint64_t *ret_ordinal)
{
        member->instance = cdc_catalog_next_instance(catalog, (int64_t)after);
        if (!member->instance)
                return false;
        *ret_ordinal = (uint64_t)member->instance->object_id;
        return true;
}

/* The library keeps directories below 255 bytes. */
static void name(const struct node *member, char ret_name[NODE_NAME_SIZE])
{
        strncpy(ret_name, member->instance->directory, NODE_NAME_SIZE - 1);
        ret_name[NODE_NAME_SIZE - 1] = '\0';
}

const struct node_members node_instances = {.find = find, .next = next, .name = name};
