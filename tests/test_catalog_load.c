/* SPDX-License-Identifier: MIT */
#include "desk/catalog.h"

#include <criterion/criterion.h>

#include "files_fixture.h"

static struct cdc_catalog *load(struct files_fixture *f, struct cdc_catalog *previous)
{
        struct cdc_catalog *catalog = NULL;
        cr_assert_eq(catalog_load(f->base.store, previous, &catalog), 1);
        return catalog;
}

static void add_file(struct files_fixture *f, int64_t object_id)
{
        files_fixture_commit(f, object_id, 2, 5);
        files_fixture_rotate(f);
}

Test(catalog_load, lists_what_the_store_has_published)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        files_fixture_table(&f, "empty");
        add_file(&f, object_id);
        add_file(&f, object_id);
        files_fixture_commit(&f, object_id, 1, 1);
        struct cdc_catalog *catalog = load(&f, NULL);
        cr_expect_eq(cdc_catalog_instances(catalog), 2);
        const struct cdc_instance *instance = cdc_catalog_find_instance(catalog, "main_t");
        cr_assert(instance);
        cr_expect_str_eq(instance->name, "main_t");
        cr_expect_eq(instance->object_id, object_id);
        for (unsigned format = 0; format < cdc_formats(); format++) {
                struct files files = {0};
                cr_assert_eq(files_list(store_db(f.base.store), object_id, cdc_format_name(format),
                                     0, 0, &files),
                        0);
                cr_assert_eq(files.count, 2);
                uint64_t after = 0;
                for (size_t i = 0; i < files.count; i++) {
                        const struct cdc_file *file =
                                cdc_catalog_next_file(catalog, instance, format, after);
                        char from[LSN_NAME_SIZE], to[LSN_NAME_SIZE];
                        lsn_format_name(files.items[i].from_lsn, from);
                        lsn_format_name(files.items[i].to_lsn, to);
                        cr_expect_eq(file->ino, files.items[i].ino);
                        cr_expect_eq(file->size, (uint64_t)files.items[i].bytes);
                        cr_expect_eq(file->mtime_ns, files.items[i].mtime_ns);
                        cr_expect_str_eq(file->from_lsn, from);
                        cr_expect_str_eq(file->to_lsn, to);
                        cr_expect_leq(file->mtime_ns, instance->mtime_ns);
                        after = file->ordinal;
                }
                cr_expect_null(cdc_catalog_next_file(catalog, instance, format, after));
                files_release(&files);
        }
        cdc_catalog_unref(catalog);
        files_fixture_close(&f);
}

Test(catalog_load, reads_nothing_where_nothing_changed)
{
        struct files_fixture f;
        struct cdc_catalog *none = NULL;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        add_file(&f, object_id);
        struct cdc_catalog *catalog = load(&f, NULL);
        cr_expect_eq(catalog_load(f.base.store, catalog, &none), 0);
        files_fixture_commit(&f, object_id, 5, 5);
        cr_expect_eq(catalog_load(f.base.store, catalog, &none), 0);
        cdc_catalog_unref(catalog);
        files_fixture_close(&f);
}

Test(catalog_load, shares_the_instances_that_did_not_change)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t one = files_fixture_table(&f, "one"), two = files_fixture_table(&f, "two");
        add_file(&f, one);
        struct cdc_catalog *before = load(&f, NULL);
        add_file(&f, two);
        struct cdc_catalog *after = load(&f, before);
        cr_expect_eq(catalog_find_entry(before, one), catalog_find_entry(after, one));
        cr_expect_neq(catalog_find_entry(before, two), catalog_find_entry(after, two));
        cr_expect(catalog_is_newer(after, before));
        cr_expect_gt(cdc_catalog_mtime(after), cdc_catalog_mtime(before));
        cdc_catalog_unref(before);
        cdc_catalog_unref(after);
        files_fixture_close(&f);
}

Test(catalog_load, skips_formats_that_nobody_renders)
{
        struct files_fixture f;
        files_fixture_open(&f);
        int64_t object_id = files_fixture_table(&f, "t");
        add_file(&f, object_id);
        store_fixture_check(sql_execute(store_db(f.base.store),
                                    "UPDATE cdcfs_files SET format = 'later' WHERE format = 'csv'"),
                "rename");
        struct cdc_catalog *catalog = load(&f, NULL);
        uint64_t files, bytes;
        cdc_catalog_totals(catalog, &files, &bytes);
        cr_expect_eq(files, cdc_formats() - 1);
        cdc_catalog_unref(catalog);
        files_fixture_close(&f);
}
