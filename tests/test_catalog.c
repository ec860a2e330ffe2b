/* SPDX-License-Identifier: MIT */
#include "desk/catalog.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "ground/cleanup.h"

static struct cdc_instance instance_of(int64_t object_id, const char *directory)
{
        return (struct cdc_instance){
                .object_id = object_id,
                .base_ino = 10000 + 1000000 * (uint64_t)object_id,
                .mtime_ns = 1,
                .name = directory,
                .directory = directory,
        };
}

static struct cdc_file file_of(int64_t object_id, unsigned format, uint64_t ordinal)
{
        struct cdc_file file = {
                .ino = 20000 + 1000000 * (uint64_t)object_id + 8 * ordinal + format,
                .ordinal = ordinal,
                .size = ordinal,
                .mtime_ns = (int64_t)ordinal,
        };
        snprintf(file.from_lsn, sizeof file.from_lsn, "%020llx", 16 * (unsigned long long)ordinal);
        snprintf(file.to_lsn, sizeof file.to_lsn, "%020llx", 16 * (unsigned long long)ordinal + 15);
        return file;
}

/* The catalog after `previous` (or NULL) in which the instance has files first to last of each
 * format, after those it had. */
static struct cdc_catalog *next_catalog(
        struct cdc_catalog *previous, int64_t object_id, uint64_t first, uint64_t last)
{
        struct cdc_catalog *catalog = previous ? NULL : catalog_new();
        struct catalog_entry *entry = NULL;
        char directory[32];
        snprintf(directory, sizeof directory, "main_%c", 'z' - (int)object_id);
        struct cdc_instance instance = instance_of(object_id, directory);
        if (previous)
                cr_assert_eq(catalog_clone(previous, &catalog), 0);
        const struct catalog_entry *former = catalog_find_entry(catalog, object_id);
        cr_assert_eq(catalog_begin_entry(former, &instance, &entry), 0);
        for (uint64_t ordinal = first; ordinal <= last; ordinal++) {
                for (unsigned format = 0; format < cdc_formats(); format++) {
                        struct cdc_file file = file_of(object_id, format, ordinal);
                        cr_assert_eq(catalog_append(catalog, entry, format, &file), 0);
                }
        }
        cr_assert_eq(catalog_put(catalog, entry), 0);
        cr_assert_eq(catalog_finish(catalog), 0);
        return catalog;
}

static void expect_files(const struct cdc_catalog *catalog, int64_t object_id, uint64_t last)
{
        const struct cdc_instance *instance = cdc_catalog_find_object(catalog, object_id);
        cr_assert(instance);
        for (unsigned format = 0; format < cdc_formats(); format++) {
                uint64_t ordinal = 0;
                const struct cdc_file *file;
                while ((file = cdc_catalog_next_file(catalog, instance, format, ordinal))) {
                        cr_assert_eq(file->ordinal, ordinal + 1);
                        ordinal = file->ordinal;
                        cr_expect_eq(cdc_catalog_find_ino(catalog, file->ino), file);
                        char name[64];
                        snprintf(name, sizeof name, "%s-%s%s", file->from_lsn, file->to_lsn,
                                cdc_format_suffix(format));
                        cr_expect_eq(cdc_catalog_find_file(catalog, instance, format, name), file);
                }
                cr_expect_eq(
                        ordinal, last, "format %u ends at %lu", format, (unsigned long)ordinal);
        }
}

Test(catalog, finds_every_file_by_ordinal_name_and_number)
{
        for (uint64_t count = 0; count < 5000; count = count * 3 + 1) {
                _cleanup_(catalog_unrefp) struct cdc_catalog *catalog =
                        next_catalog(NULL, 1, 1, count);
                expect_files(catalog, 1, count);
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
        _cleanup_(catalog_unrefp) struct cdc_catalog *catalog = next_catalog(NULL, 1, 1, 3);
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
                struct cdc_catalog *next = next_catalog(catalog, id, 1, 1);
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
