/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "catalog_fixture.h"
#include "node.h"

Test(node_files, have_their_range_and_suffix_as_name)
{
        struct cdc_catalog *catalog = catalog_fixture(3);
        for (unsigned format = 0; format < cdc_formats(); format++) {
                struct node folder = {
                        .instance = cdc_catalog_find_object(catalog, 3), .format = format};
                struct node member = folder;
                char name[NODE_NAME_SIZE], want[NODE_NAME_SIZE];
                uint64_t ordinal = 0;
                cr_assert(node_files.next(catalog, &folder, 1, &member, &ordinal));
                cr_expect_eq(ordinal, 2);
                node_files.name(&member, name);
                snprintf(want, sizeof want, "00000000000000000020-0000000000000000002f%s",
                        cdc_format_suffix(format));
                cr_expect_str_eq(name, want);
                member.file = NULL;
                cr_assert(node_files.find(catalog, &folder, name, &member));
                cr_expect_eq(member.file->ordinal, 2);
                cr_expect_not(node_files.next(catalog, &folder, 3, &member, &ordinal));
                cr_expect_not(node_files.find(catalog, &folder, "x", &member));
        }
        cdc_catalog_unref(catalog);
}
