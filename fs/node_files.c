/* SPDX-License-Identifier: MIT
 *
 * node_files: the closed files of a format, FROM-TO and the format's suffix, by ordinal.
 */
#include <stdio.h>

#include "node.h"

static bool find(const struct cdc_catalog *catalog, const struct node *directory, const char *name,
        struct node *member)
{
        member->file = cdc_catalog_find_file(catalog, directory->instance, directory->format, name);
        return member->file;
}

static bool next(const struct cdc_catalog *catalog, const struct node *directory, uint64_t after,
        struct node *member, uint64_t *ret_ordinal)
{
        member->file =
                cdc_catalog_next_file(catalog, directory->instance, directory->format, after);
        if (!member->file)
                return false;
        *ret_ordinal = member->file->ordinal;
        return true;
}

static void name(const struct node *member, char ret_name[NODE_NAME_SIZE])
{
        snprintf(ret_name, NODE_NAME_SIZE, "%s-%s%s", member->file->from_lsn, member->file->to_lsn,
                cdc_format_suffix(member->format));
}

const struct node_members node_files = {.find = find, .next = next, .name = name};
