/* SPDX-License-Identifier: MIT
 *
 * node_live: what an instance has not listed yet, one file for each format that has such: `all` and
 * the format's suffix. There is none while the instance is pending.
 */
#include <stdio.h>
#include <string.h>

#include "node.h"

static bool set_format(const struct cdc_catalog *catalog, unsigned format,
        const struct node *directory, struct node *member)
{
        if (!cdc_catalog_lists(catalog, format))
                return false;
        member->format = format;
        member->ino = cdc_catalog_live(catalog, directory->instance, format);
        return member->ino;
}

static void name(const struct node *member, char ret_name[NODE_NAME_SIZE])
{
        snprintf(ret_name, NODE_NAME_SIZE, "all%s", cdc_format_suffix(member->format));
}

static bool find(const struct cdc_catalog *catalog, const struct node *directory, const char *word,
        struct node *member)
{
        for (unsigned format = 0; format < cdc_formats(); format++) {
                const char *suffix = cdc_format_suffix(format);
                if (strncmp(word, "all", 3) == 0 && strcmp(word + 3, suffix) == 0)
                        return set_format(catalog, format, directory, member);
        }
        return false;
}

static bool next(const struct cdc_catalog *catalog, const struct node *directory, uint64_t after,
        struct node *member, uint64_t *ret_ordinal)
{
        for (uint64_t format = after; format < cdc_formats(); format++) {
                *ret_ordinal = format + 1;
                if (set_format(catalog, (unsigned)format, directory, member))
                        return true;
        }
        return false;
}

const struct node_members node_live = {.find = find, .next = next, .name = name};
