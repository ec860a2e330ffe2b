/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "catalog_fixture.h"
#include "node.h"

Test(node_formats, are_one_folder_each)
{
        struct cdc_catalog *catalog = catalog_fixture(1);
        struct node all = {.instance = cdc_catalog_find_object(catalog, 1)}, member = all;
        char name[NODE_NAME_SIZE];
        uint64_t ordinal = 0;
        for (unsigned format = 0; format < cdc_formats(); format++) {
                cr_assert(node_formats.next(catalog, &all, ordinal, &member, &ordinal));
                cr_expect_eq(member.format, format);
                node_formats.name(&member, name);
                cr_expect_str_eq(name, cdc_format_name(format));
                member.format = 99;
                cr_assert(node_formats.find(catalog, &all, name, &member));
                cr_expect_eq(member.format, format);
        }
        cr_expect_not(node_formats.next(catalog, &all, ordinal, &member, &ordinal));
        cr_expect_not(node_formats.find(catalog, &all, "parquet", &member));
        cdc_catalog_unref(catalog);
}
