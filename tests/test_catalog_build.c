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

Test(catalog_build, shares_with_the_one_before_and_leaves_it_alone)
{
        _cleanup_(catalog_unrefp) struct cdc_catalog *first = next_catalog(NULL, 1, 1, 2100);
        _cleanup_(catalog_unrefp) struct cdc_catalog *second = next_catalog(first, 1, 2101, 2101);
        _cleanup_(catalog_unrefp) struct cdc_catalog *third = next_catalog(second, 2, 1, 5);
        expect_files(first, 1, 2100);
        expect_files(second, 1, 2101);
        expect_files(third, 1, 2101);
        expect_files(third, 2, 5);
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
        struct cdc_catalog *catalog = next_catalog(NULL, 1, 1, 1);
        for (uint64_t ordinal = 2; ordinal < 3000; ordinal++) {
                struct cdc_catalog *next = next_catalog(catalog, 1, ordinal, ordinal);
                cdc_catalog_unref(catalog);
                catalog = next;
        }
        expect_files(catalog, 1, 2999);
        cdc_catalog_unref(catalog);
}

Test(catalog_build, forgets_what_is_removed)
{
        _cleanup_(catalog_unrefp) struct cdc_catalog *first = next_catalog(NULL, 1, 1, 10);
        _cleanup_(catalog_unrefp) struct cdc_catalog *both = next_catalog(first, 2, 1, 10);
        struct cdc_catalog *one = NULL;
        cr_assert_eq(catalog_clone(both, &one), 0);
        cr_assert_eq(catalog_remove(one, 1), 0);
        cr_assert_eq(catalog_remove(one, 7), 0);
        cr_assert_eq(catalog_finish(one), 0);
        cr_expect_eq(cdc_catalog_instances(one), 1);
        cr_expect_null(cdc_catalog_find_ino(one, file_of(1, 0, 3).ino));
        cr_expect(cdc_catalog_find_ino(both, file_of(1, 0, 3).ino));
        expect_files(one, 2, 10);
        uint64_t files, bytes;
        cdc_catalog_totals(one, &files, &bytes);
        cr_expect_eq(files, 10 * cdc_formats());
        cr_expect_eq(bytes, 55 * cdc_formats());
        cdc_catalog_unref(one);
}
