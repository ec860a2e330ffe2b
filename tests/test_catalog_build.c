/* SPDX-License-Identifier: MIT */
#include "catalog_steps.h"

Test(catalog_build, shares_with_the_one_before_and_leaves_it_alone)
{
        _cleanup_(catalog_unrefp) struct cdc_catalog *first = catalog_steps_next(NULL, 1, 1, 2100);
        _cleanup_(catalog_unrefp) struct cdc_catalog *second =
                catalog_steps_next(first, 1, 2101, 2101);
        _cleanup_(catalog_unrefp) struct cdc_catalog *third = catalog_steps_next(second, 2, 1, 5);
        catalog_steps_expect(first, 1, 2100);
        catalog_steps_expect(second, 1, 2101);
        catalog_steps_expect(third, 1, 2101);
        catalog_steps_expect(third, 2, 5);
        cr_expect_null(cdc_catalog_find_object(second, 2));

        const struct catalog_list *one = &catalog_find_entry(first, 1)->formats[0];
        const struct catalog_list *two = &catalog_find_entry(second, 1)->formats[0];
        cr_expect_eq(one->block_count, 3);
        cr_expect_eq(one->blocks[0], two->blocks[0]);
        cr_expect_eq(one->blocks[1], two->blocks[1]);
        cr_expect_neq(one->blocks[2], two->blocks[2]);
        cr_expect_eq(catalog_find_entry(second, 1), catalog_find_entry(third, 1));
}

Test(catalog_build, lives_as_long_as_anybody_needs_its_parts)
{
        struct cdc_catalog *catalog = catalog_steps_next(NULL, 1, 1, 1);
        for (uint64_t ordinal = 2; ordinal < 3000; ordinal++) {
                struct cdc_catalog *next = catalog_steps_next(catalog, 1, ordinal, ordinal);
                cdc_catalog_unref(catalog);
                catalog = next;
        }
        catalog_steps_expect(catalog, 1, 2999);
        cdc_catalog_unref(catalog);
}

Test(catalog_build, forgets_what_is_removed)
{
        _cleanup_(catalog_unrefp) struct cdc_catalog *first = catalog_steps_next(NULL, 1, 1, 10);
        _cleanup_(catalog_unrefp) struct cdc_catalog *both = catalog_steps_next(first, 2, 1, 10);
        struct cdc_catalog *one = NULL;
        cr_assert_eq(catalog_clone(both, &one), 0);
        cr_assert_eq(catalog_remove(one, 1), 0);
        cr_assert_eq(catalog_remove(one, 7), 0);
        cr_assert_eq(catalog_finish(one), 0);
        cr_expect_eq(cdc_catalog_instances(one), 1);
        cr_expect_null(cdc_catalog_find_ino(one, catalog_steps_file(1, 0, 3).ino));
        cr_expect(cdc_catalog_find_ino(both, catalog_steps_file(1, 0, 3).ino));
        catalog_steps_expect(one, 2, 10);
        uint64_t files, bytes;
        cdc_catalog_totals(one, &files, &bytes);
        cr_expect_eq(files, 10 * cdc_formats());
        cr_expect_eq(bytes, 55 * cdc_formats());
        cdc_catalog_unref(one);
}
