/* SPDX-License-Identifier: MIT
 *
 * catalog_fixture: catalogs out of nothing, for tests of what shows them.
 *
 *      struct cdc_catalog *catalog = catalog_fixture(3);  main_1 … main_3; main_N has N files
 */
#ifndef CDC_TEST_CATALOG_FIXTURE_H
#define CDC_TEST_CATALOG_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "desk/catalog.h"

enum { CATALOG_FIXTURE_BASE = 1 << 20 };

static inline void catalog_fixture_check(int r)
{
        if (r < 0)
                abort();
}

static inline void catalog_fixture_add_files(
        struct cdc_catalog *catalog, struct catalog_entry *entry, unsigned format, uint64_t count)
{
        for (uint64_t i = 1; i <= count; i++) {
                struct cdc_file file = {
                        .ino = entry->instance.base_ino + 100 + 10 * i + format,
                        .ordinal = i,
                        .size = 1000 * i + format,
                        .mtime_ns = (int64_t)(1000 + i),
                };
                snprintf(file.from_lsn, sizeof file.from_lsn, "%020x", (unsigned)(16 * i));
                snprintf(file.to_lsn, sizeof file.to_lsn, "%020x", (unsigned)(16 * i + 15));
                catalog_fixture_check(catalog_append(catalog, entry, format, &file));
        }
}

static inline struct cdc_catalog *catalog_fixture(int64_t count)
{
        struct cdc_catalog *catalog = catalog_new();
        for (int64_t id = 1; id <= count; id++) {
                char name[32];
                struct catalog_entry *entry = NULL;
                snprintf(name, sizeof name, "main_%ld", (long)id);
                struct cdc_instance instance = {
                        .object_id = id,
                        .base_ino = CATALOG_FIXTURE_BASE + 10000 * (uint64_t)id,
                        .mtime_ns = 2000 + id,
                        .name = name,
                        .directory = name,
                };
                catalog_fixture_check(catalog_begin_entry(NULL, &instance, &entry));
                for (unsigned format = 0; format < cdc_formats(); format++)
                        catalog_fixture_add_files(catalog, entry, format, (uint64_t)id);
                catalog_fixture_check(catalog_put(catalog, entry));
        }
        catalog->base_ino = CATALOG_FIXTURE_BASE;
        catalog->mtime_ns = 3000;
        catalog_fixture_check(catalog_finish(catalog));
        return catalog;
}

#endif
