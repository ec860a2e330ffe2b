/* SPDX-License-Identifier: MIT
 *
 * catalog_steps: catalogs that follow one another, and what must be found in each.
 */
#ifndef CDC_TEST_CATALOG_STEPS_H
#define CDC_TEST_CATALOG_STEPS_H

#include <criterion/criterion.h>
#include <stdio.h>

#include "desk/catalog.h"
#include "ground/cleanup.h"

static inline struct cdc_instance catalog_steps_instance(int64_t object_id, const char *directory)
{
        return (struct cdc_instance){
                .object_id = object_id,
                .base_ino = 10000 + 1000000 * (uint64_t)object_id,
                .mtime_ns = 1,
                .name = directory,
                .directory = directory,
        };
}

static inline struct cdc_file catalog_steps_file(
        int64_t object_id, unsigned format, uint64_t ordinal)
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
static inline struct cdc_catalog *catalog_steps_next(
        struct cdc_catalog *previous, int64_t object_id, uint64_t first, uint64_t last)
{
        struct cdc_catalog *catalog = previous ? NULL : catalog_new();
        struct catalog_entry *entry = NULL;
        char directory[32];
        snprintf(directory, sizeof directory, "main_%c", 'z' - (int)object_id);
        struct cdc_instance instance = catalog_steps_instance(object_id, directory);
        if (previous)
                cr_assert_eq(catalog_clone(previous, &catalog), 0);
        const struct catalog_entry *former = catalog_find_entry(catalog, object_id);
        cr_assert_eq(catalog_begin_entry(former, &instance, &entry), 0);
        for (uint64_t ordinal = first; ordinal <= last; ordinal++) {
                for (unsigned format = 0; format < cdc_formats(); format++) {
                        struct cdc_file file = catalog_steps_file(object_id, format, ordinal);
                        cr_assert_eq(catalog_append(catalog, entry, format, &file), 0);
                }
        }
        cr_assert_eq(catalog_put(catalog, entry), 0);
        cr_assert_eq(catalog_finish(catalog), 0);
        return catalog;
}

static inline void catalog_steps_expect(
        const struct cdc_catalog *catalog, int64_t object_id, uint64_t last)
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

#endif
