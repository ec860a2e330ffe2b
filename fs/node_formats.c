/* SPDX-License-Identifier: MIT
 *
 * node_formats: one folder for each format that the library renders.
 */
#include <stdio.h>
#include <string.h>

#include "node.h"

static bool find(const struct cdc_catalog *catalog, const struct node *directory, const char *name,
        struct node *member)
{
        for (unsigned format = 0; format < cdc_formats(); format++) {
                if (strcmp(cdc_format_name(format), name) == 0) {
                        member->format = format;
                        return true;
                }
        }
        return false;
}

static bool next(const struct cdc_catalog *catalog, const struct node *directory, uint64_t after,
        struct node *member, uint64_t *ret_ordinal)
{
        if (after >= cdc_formats())
                return false;
        member->format = (unsigned)after;
        *ret_ordinal = after + 1;
        return true;
}

static void name(const struct node *member, char ret_name[NODE_NAME_SIZE])
{
        snprintf(ret_name, NODE_NAME_SIZE, "%s", cdc_format_name(member->format));
}

const struct node_members node_formats = {.find = find, .next = next, .name = name};
