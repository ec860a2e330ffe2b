/* SPDX-License-Identifier: MIT
 *
 * node_mapping: the closed files that are no instance's, by ordinal: those of lsn_time_mapping, and
 * those of transactions/.
 */
#include <stdio.h>

#include "node.h"

static bool find(
        const struct cdc_catalog *catalog, unsigned format, const char *name, struct node *member)
{
        const struct cdc_instance *mapping = cdc_catalog_mapping(catalog);
        member->file = mapping ? cdc_catalog_find_file(catalog, mapping, format, name) : NULL;
        return member->file;
}

static bool next(const struct cdc_catalog *catalog, unsigned format, uint64_t after,
        struct node *member, uint64_t *ret_ordinal)
{
        const struct cdc_instance *mapping = cdc_catalog_mapping(catalog);
        member->file = mapping ? cdc_catalog_next_file(catalog, mapping, format, after) : NULL;
        if (!member->file)
                return false;
        *ret_ordinal = member->file->ordinal;
        return true;
}

static bool find_mapping(const struct cdc_catalog *catalog, const struct node *directory,
        const char *name, struct node *member)
{
        return find(catalog, CDC_MAPPING_TABLE, name, member);
}

static bool next_mapping(const struct cdc_catalog *catalog, const struct node *directory,
        uint64_t after, struct node *member, uint64_t *ret_ordinal)
{
        return next(catalog, CDC_MAPPING_TABLE, after, member, ret_ordinal);
}

static bool find_transactions(const struct cdc_catalog *catalog, const struct node *directory,
        const char *name, struct node *member)
{
        return find(catalog, CDC_MAPPING_TRANSACTIONS, name, member);
}

static bool next_transactions(const struct cdc_catalog *catalog, const struct node *directory,
        uint64_t after, struct node *member, uint64_t *ret_ordinal)
{
        return next(catalog, CDC_MAPPING_TRANSACTIONS, after, member, ret_ordinal);
}

static void name(const struct node *member, char ret_name[NODE_NAME_SIZE])
{
        snprintf(ret_name, NODE_NAME_SIZE, "%s-%s%s", member->file->from_lsn, member->file->to_lsn,
                cdc_format_suffix(member->file->format));
}

const struct node_members node_mapping = {.find = find_mapping, .next = next_mapping, .name = name};
const struct node_members node_transactions = {
        .find = find_transactions, .next = next_transactions, .name = name};
