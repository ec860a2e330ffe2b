/* SPDX-License-Identifier: MIT
 *
 * node_mapping: the closed files of lsn_time_mapping, by ordinal.
 */
#include <stdio.h>

#include "node.h"

enum { CSV = 0 };

static bool find(const struct cdc_catalog *catalog, const struct node *directory, const char *name,
        struct node *member)
{
        const struct cdc_instance *mapping = cdc_catalog_mapping(catalog);
        member->file = mapping ? cdc_catalog_find_file(catalog, mapping, CSV, name) : NULL;
        return member->file;
}

static bool next(const struct cdc_catalog *catalog, const struct node *directory, uint64_t after,
        struct node *member, uint64_t *ret_ordinal)
{
        const struct cdc_instance *mapping = cdc_catalog_mapping(catalog);
        member->file = mapping ? cdc_catalog_next_file(catalog, mapping, CSV, after) : NULL;
        if (!member->file)
                return false;
        *ret_ordinal = member->file->ordinal;
        return true;
}

static void name(const struct node *member, char ret_name[NODE_NAME_SIZE])
{
        snprintf(ret_name, NODE_NAME_SIZE, "%s-%s%s", member->file->from_lsn, member->file->to_lsn,
                cdc_format_suffix(CSV));
}

const struct node_members node_mapping = {.find = find, .next = next, .name = name};
