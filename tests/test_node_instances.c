/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "catalog_fixture.h"
#include "node.h"

Test(node_instances, are_found_by_directory_and_listed_by_number)
{
        struct cdc_catalog *catalog = catalog_fixture(12);
        struct node root = {0}, member = {0};
        char name[NODE_NAME_SIZE];
        uint64_t ordinal = 0;
        for (int64_t id = 1; id <= 12; id++) {
                cr_assert(node_instances.next(catalog, &root, ordinal, &member, &ordinal));
                cr_expect_eq(member.instance->object_id, id);
                cr_expect_eq(ordinal, (uint64_t)id);
                node_instances.name(&member, name);
                cr_assert(node_instances.find(catalog, &root, name, &member));
                cr_expect_eq(member.instance->object_id, id);
        }
        cr_expect_not(node_instances.next(catalog, &root, ordinal, &member, &ordinal));
        cr_expect_not(node_instances.find(catalog, &root, "main_13", &member));
        cdc_catalog_unref(catalog);
}
