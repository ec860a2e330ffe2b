/* SPDX-License-Identifier: MIT */
#include "catalog_fixture.h"
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

/* Whatever has a number tells whose it is, so that a role holds for it. */
Test(catalog, knows_whose_a_number_is)
{
        struct cdc_catalog *catalog = catalog_fixture(2);
        static const struct {
                uint64_t ino;
                bool is_known;
                int64_t object_id; /* 0: no instance's */
        } cases[] = {
                {CATALOG_FIXTURE_BASE, true, 0},
                {CATALOG_FIXTURE_BASE + CDC_ROOT_INOS - 1, true, 0},
                {CATALOG_FIXTURE_BASE + CDC_ROOT_INOS, false, 0},
                {CATALOG_FIXTURE_BASE + 10000, true, 1},
                {CATALOG_FIXTURE_BASE + 20000 + CDC_INSTANCE_INOS - 1, true, 2},
                {CATALOG_FIXTURE_BASE + 20000 + CDC_INSTANCE_INOS, false, 0},
                {CATALOG_FIXTURE_BASE + 20000 + 100 + 20 + 1, true, 2}, /* its second jsonl */
                {CATALOG_FIXTURE_BASE + 20000 + 100 + 30 + 1, false, 0},
                {CATALOG_FIXTURE_BASE + 30000, false, 0},
                {0, false, 0},
                {UINT64_MAX, false, 0},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                const struct cdc_instance *instance;
                cr_expect_eq(cdc_catalog_find_owner(catalog, cases[i].ino, &instance),
                        cases[i].is_known, "%zu", i);
                cr_expect_eq(instance ? instance->object_id : 0, cases[i].object_id, "%zu", i);
        }
        cr_expect_not(cdc_catalog_has_roles(catalog));
        cdc_catalog_unref(catalog);
}
