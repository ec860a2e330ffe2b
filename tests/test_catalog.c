/* SPDX-License-Identifier: MIT */
#include "catalog_steps.h"

Test(catalog, finds_every_file_by_ordinal_name_and_number)
{
        for (uint64_t count = 0; count < 5000; count = count * 3 + 1) {
                _cleanup_(catalog_unrefp) struct cdc_catalog *catalog =
                        catalog_steps_next(NULL, 1, 1, count);
                catalog_steps_expect(catalog, 1, count);
        }
}

Test(catalog, refuses_names_that_are_almost_right)
{
        static const char *const names[] = {
                "",
                "0000000000000000001-0000000000000000001f.csv",
                "00000000000000000010-0000000000000000001e.csv",
                "00000000000000000010-0000000000000000001F.csv",
                "00000000000000000010-0000000000000000001f.csv ",
                "00000000000000000010-0000000000000000001f.jsonl",
                "00000000000000000010-0000000000000000001f.cs",
                "00000000000000000010_0000000000000000001f.csv",
                "00000000000000000011-0000000000000000001f.csv",
                "ffffffffffffffffffff-ffffffffffffffffffff.csv",
        };
        _cleanup_(catalog_unrefp) struct cdc_catalog *catalog = catalog_steps_next(NULL, 1, 1, 3);
        const struct cdc_instance *instance = cdc_catalog_find_object(catalog, 1);
        cr_assert(cdc_catalog_find_file(
                catalog, instance, 0, "00000000000000000010-0000000000000000001f.csv"));
        for (size_t i = 0; i < COUNT(names); i++)
                cr_expect_null(
                        cdc_catalog_find_file(catalog, instance, 0, names[i]), "%s", names[i]);
        cr_expect_null(cdc_catalog_find_file(catalog, instance, 99, names[1]));
        cr_expect_null(cdc_catalog_find_ino(catalog, 5));
        cr_expect_null(cdc_catalog_find_ino(catalog, UINT64_MAX));
}

Test(catalog, finds_instances_by_directory_number_and_order)
{
        struct cdc_catalog *catalog = NULL;
        for (int64_t id = 20; id > 0; id--) {
                struct cdc_catalog *next = catalog_steps_next(catalog, id, 1, 1);
                cdc_catalog_unref(catalog);
                catalog = next;
        }
        cr_expect_eq(cdc_catalog_instances(catalog), 20);
        int64_t last = 0;
        const struct cdc_instance *instance;
        while ((instance = cdc_catalog_next_instance(catalog, last))) {
                cr_assert_eq(instance->object_id, last + 1);
                last = instance->object_id;
                cr_expect_eq(cdc_catalog_find_instance(catalog, instance->directory), instance);
                cr_expect_eq(cdc_catalog_find_block(catalog, instance->base_ino), instance);
                cr_expect_eq(
                        cdc_catalog_find_block(catalog, instance->base_ino + CDC_INSTANCE_INOS - 1),
                        instance);
                cr_expect_null(
                        cdc_catalog_find_block(catalog, instance->base_ino + CDC_INSTANCE_INOS));
        }
        cr_expect_eq(last, 20);
        cr_expect_null(cdc_catalog_find_instance(catalog, "MAIN_A"));
        cr_expect_null(cdc_catalog_find_block(catalog, 1));
        cdc_catalog_unref(catalog);
}
