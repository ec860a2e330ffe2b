/* SPDX-License-Identifier: MIT */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "desk/catalog.h"
#include "files_fixture.h"

struct fixture {
        struct files_fixture files;
        int64_t object_id;
        struct cdc_view *view;
};

static void open_fixture(struct fixture *f)
{
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        struct cdc_database database = {.source = f->files.base.source};
        struct cdc_error error;
        cr_assert_eq(cdc_view_open(&database, &f->view, &error), 0);
}

static void close_fixture(struct fixture *f)
{
        cdc_view_close(f->view);
        files_fixture_close(&f->files);
}

static void add_file(struct fixture *f, unsigned rows)
{
        files_fixture_commit(&f->files, f->object_id, rows, 10);
        files_fixture_rotate(&f->files);
}

static uint64_t count_files(struct cdc_view *view)
{
        uint64_t files, bytes;
        struct cdc_catalog *catalog = cdc_view_catalog(view);
        cdc_catalog_totals(catalog, &files, &bytes);
        cdc_catalog_unref(catalog);
        return files / cdc_formats();
}

Test(view, refuses_a_database_that_is_not_enabled_and_makes_nothing)
{
        struct tmp tmp;
        tmp_open(&tmp);
        char source[300];
        snprintf(source, sizeof source, "%s/app.db", tmp.directory);
        struct cdc_database database = {.source = source};
        struct cdc_view *view = NULL;
        struct cdc_error error = {0};
        cr_expect_eq(cdc_view_open(&database, &view, &error), -ENOENT);
        cr_expect_eq(error.number, 22901);
        cr_expect(error.message[0]);
        struct run_result result = run("ls -A %s", tmp.directory);
        cr_expect_str_eq(result.text, "");
        run_release(&result);
        tmp_close(&tmp);
}

Test(view, shows_new_files_after_a_refresh_and_old_catalogs_stay)
{
        struct fixture f;
        open_fixture(&f);
        cr_expect_eq(count_files(f.view), 0);
        cr_expect_eq(cdc_view_refresh(f.view), 0);
        struct cdc_catalog *before = cdc_view_catalog(f.view);
        for (uint64_t i = 1; i <= 5; i++) {
                add_file(&f, 10);
                cr_expect_eq(cdc_view_refresh(f.view), 1);
                cr_expect_eq(count_files(f.view), i);
                cr_expect_eq(cdc_view_refresh(f.view), 0);
        }
        uint64_t files, bytes;
        cdc_catalog_totals(before, &files, &bytes);
        cr_expect_eq(files, 0);
        cdc_catalog_unref(before);
        close_fixture(&f);
}

Test(view, does_not_see_files_before_they_are_published)
{
        struct fixture f;
        open_fixture(&f);
        files_fixture_commit(&f.files, f.object_id, 10, 10);
        files_fixture_border(&f.files);
        cr_expect_eq(cdc_view_refresh(f.view), 0);
        files_fixture_publish(&f.files);
        cr_expect_eq(cdc_view_refresh(f.view), 1);
        cr_expect_eq(count_files(f.view), 1);
        close_fixture(&f);
}

Test(view, follows_instances_that_come_and_go)
{
        struct fixture f;
        open_fixture(&f);
        add_file(&f, 10);
        int64_t other = files_fixture_table(&f.files, "other");
        cr_expect_eq(cdc_view_refresh(f.view), 1);
        struct cdc_catalog *both = cdc_view_catalog(f.view);
        cr_expect_eq(cdc_catalog_instances(both), 2);
        cr_expect(cdc_catalog_find_instance(both, "main_other"));

        struct instances instances = {0};
        store_fixture_check(instances_load(f.files.base.store, &instances), "instances_load");
        store_fixture_begin(&f.files.base);
        store_fixture_check(instances_disable(f.files.base.store,
                                    instances_find_object(&instances, f.object_id)),
                "instances_disable");
        store_fixture_commit(&f.files.base);
        instances_release(&instances);
        cr_expect_eq(cdc_view_refresh(f.view), 1);
        struct cdc_catalog *one = cdc_view_catalog(f.view);
        cr_expect_eq(cdc_catalog_instances(one), 1);
        cr_expect(cdc_catalog_find_object(one, other));
        cr_expect_gt(cdc_catalog_mtime(one), cdc_catalog_mtime(both));
        cdc_catalog_unref(both);
        cdc_catalog_unref(one);
        close_fixture(&f);
}

Test(view, drops_files_that_were_withdrawn)
{
        struct fixture f;
        open_fixture(&f);
        for (int i = 0; i < 3; i++)
                add_file(&f, 10);
        cdc_view_refresh(f.view);
        store_fixture_check(sql_execute(store_db(f.files.base.store),
                                    "BEGIN; UPDATE cdcfs_files SET is_withdrawn = 1"
                                    " WHERE ordinal = 1; UPDATE cdcfs_state SET"
                                    " last_mtime_ns = last_mtime_ns + 1; UPDATE cdcfs_instances"
                                    " SET changed_ns = changed_ns + 1; COMMIT"),
                "withdraw");
        cr_expect_eq(cdc_view_refresh(f.view), 1);
        cr_expect_eq(count_files(f.view), 2);
        struct cdc_catalog *catalog = cdc_view_catalog(f.view);
        const struct cdc_instance *instance = cdc_catalog_find_object(catalog, f.object_id);
        cr_expect_eq(cdc_catalog_next_file(catalog, instance, 0, 0)->ordinal, 2);
        cdc_catalog_unref(catalog);
        close_fixture(&f);
}

Test(view, has_the_owner_of_the_source_or_else_of_the_store)
{
        struct fixture f;
        open_fixture(&f);
        uint32_t uid, gid, mode;
        chmod(f.files.base.source, 0640);
        cdc_view_refresh(f.view);
        cdc_view_owner(f.view, &uid, &gid, &mode);
        cr_expect_eq(mode, 0640);
        cr_expect_eq(uid, getuid());
        remove(f.files.base.source);
        chmod(f.files.base.path, 0604);
        cdc_view_refresh(f.view);
        cdc_view_owner(f.view, &uid, &gid, &mode);
        cr_expect_eq(mode, 0604);
        close_fixture(&f);
}

static void *read_in_a_thread(void *context)
{
        struct fixture *f = context;
        struct cdc_catalog *catalog = cdc_view_catalog(f->view);
        const struct cdc_instance *instance = cdc_catalog_find_object(catalog, f->object_id);
        const struct cdc_file *file;
        intptr_t failures = 0;
        for (uint64_t after = 0; (file = cdc_catalog_next_file(catalog, instance, 0, after));
                after = file->ordinal) {
                struct cdc_content *content = NULL;
                char buffer[4096];
                size_t got = 0;
                failures += cdc_content_open(f->view, file->ino, &content) != 0;
                failures += cdc_content_read(content, 0, buffer, sizeof buffer, &got) != 0;
                failures += got != file->size;
                cdc_content_close(content);
                failures += cdc_view_refresh(f->view) < 0;
        }
        cdc_catalog_unref(catalog);
        return (void *)failures;
}

Test(view, serves_several_threads_with_connections_of_their_own)
{
        struct fixture f;
        open_fixture(&f);
        for (int i = 0; i < 20; i++)
                add_file(&f, 20);
        cdc_view_refresh(f.view);
        for (int round = 0; round < 3; round++) {
                pthread_t threads[6];
                for (size_t i = 0; i < COUNT(threads); i++)
                        cr_assert_eq(pthread_create(&threads[i], NULL, read_in_a_thread, &f), 0);
                add_file(&f, 5);
                for (size_t i = 0; i < COUNT(threads); i++) {
                        void *failures = NULL;
                        pthread_join(threads[i], &failures);
                        cr_expect_null(failures);
                }
        }
        close_fixture(&f);
}

Test(view, leaves_nothing_beside_a_store_that_nobody_writes)
{
        struct fixture f;
        open_fixture(&f);
        add_file(&f, 10);
        cdc_view_close(f.view);
        store_close(f.files.base.store);
        f.files.base.store = NULL;
        struct cdc_database database = {.source = f.files.base.source};
        cr_assert_eq(cdc_view_open(&database, &f.view, NULL), 0);
        cr_expect_eq(count_files(f.view), 1);
        cdc_view_refresh(f.view);
        cdc_view_close(f.view);
        f.view = NULL;
        struct run_result result = run("ls -A %s", f.files.base.tmp.directory);
        cr_expect_str_eq(result.text, "app.db\napp.db-cdc\n");
        run_release(&result);
        close_fixture(&f);
}
