/* SPDX-License-Identifier: MIT
 *
 * node_formats: one folder for each format that the library renders, of all changes or of net
 * changes: where files are listed, for those that the mount lists; where ranges open, for each.
 */
#include <stdio.h>
#include <string.h>

#include "node.h"

/* The member's kind is set already. */
static bool is_there(const struct cdc_catalog *catalog, const struct node *member, unsigned format)
{
        return node_is_range_folder(member) || cdc_catalog_lists(catalog, format);
}

/* Formats are numbered through: those of net changes follow those of all changes. */
static bool find_from(const struct cdc_catalog *catalog, unsigned first, unsigned count,
        const char *name, struct node *member)
{
        for (unsigned format = first; format < first + count; format++) {
                if (strcmp(cdc_format_name(format), name) == 0) {
                        member->format = format;
                        return is_there(catalog, member, format);
                }
        }
        return false;
}

static bool next_from(const struct cdc_catalog *catalog, unsigned first, unsigned count,
        uint64_t after, struct node *member, uint64_t *ret_ordinal)
{
        while (after < count && !is_there(catalog, member, first + (unsigned)after))
                after++;
        if (after >= count)
                return false;
        member->format = first + (unsigned)after;
        *ret_ordinal = after + 1;
        return true;
}

static bool find_all(const struct cdc_catalog *catalog, const struct node *directory,
        const char *name, struct node *member)
{
        return find_from(catalog, 0, cdc_formats(), name, member);
}

static bool next_all(const struct cdc_catalog *catalog, const struct node *directory,
        uint64_t after, struct node *member, uint64_t *ret_ordinal)
{
        return next_from(catalog, 0, cdc_formats(), after, member, ret_ordinal);
}

static bool find_net(const struct cdc_catalog *catalog, const struct node *directory,
        const char *name, struct node *member)
{
        return find_from(catalog, cdc_formats(), cdc_net_formats(), name, member);
}

static bool next_net(const struct cdc_catalog *catalog, const struct node *directory,
        uint64_t after, struct node *member, uint64_t *ret_ordinal)
{
        return next_from(catalog, cdc_formats(), cdc_net_formats(), after, member, ret_ordinal);
}

static void name(const struct node *member, char ret_name[NODE_NAME_SIZE])
{
        snprintf(ret_name, NODE_NAME_SIZE, "%s", cdc_format_name(member->format));
}

const struct node_members node_formats = {.find = find_all, .next = next_all, .name = name};
const struct node_members node_net_formats = {.find = find_net, .next = next_net, .name = name};
