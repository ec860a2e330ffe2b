/* SPDX-License-Identifier: MIT */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>

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
        cr_assert_eq(cdc_view_open(&database, &f->view, NULL), 0);
}

static void close_fixture(struct fixture *f)
{
        cdc_view_close(f->view);
        files_fixture_close(&f->files);
}

static uint64_t live_ino(struct fixture *f, unsigned format)
{
        cr_assert_geq(cdc_view_refresh(f->view), 0);
        struct cdc_catalog *catalog = cdc_view_catalog(f->view);
        const struct cdc_instance *instance = cdc_catalog_find_object(catalog, f->object_id);
        uint64_t ino = cdc_catalog_live(catalog, instance, format);
        unsigned found = 99;
        cr_expect_eq(cdc_catalog_find_live(catalog, ino, &found), instance);
        cr_expect_eq(found, format);
        cdc_catalog_unref(catalog);
        return ino;
}

Test(view_live, passes_from_file_to_file_in_one_step_with_the_listing)
{
        struct fixture f;
        struct cdc_live_status status;
        open_fixture(&f);
        uint64_t first = live_ino(&f, 0);
        cr_expect_neq(first, live_ino(&f, 1));
        for (unsigned i = 0; i < 5; i++) {
                uint64_t ino = live_ino(&f, 0);
                unsigned format;
                files_fixture_commit(&f.files, f.object_id, 10, 10);
                cr_assert_eq(cdc_live_try_stat(f.view, ino, &status), 0);
                cr_expect(!status.is_listed);
                files_fixture_border(&f.files);
                cr_expect_eq(live_ino(&f, 0), ino);
                files_fixture_publish(&f.files);
                cr_expect_neq(live_ino(&f, 0), ino);
                struct cdc_catalog *catalog = cdc_view_catalog(f.view);
                const struct cdc_file *file = cdc_catalog_find_ino(catalog, ino);
                cr_assert_not_null(file);
                cr_expect_eq(file->size, status.size);
                cr_expect_null(cdc_catalog_find_live(catalog, ino, &format));
                cdc_catalog_unref(catalog);
                cr_assert_eq(cdc_live_stat(f.view, ino, &status), 0);
                cr_expect(status.is_listed);
        }
        close_fixture(&f);
}

Test(view_live, reads_what_it_told)
{
        struct fixture f;
        struct cdc_live_status status;
        struct cdc_live *live = NULL;
        char bytes[8192];
        size_t size = 0;
        open_fixture(&f);
        uint64_t ino = live_ino(&f, 1);
        cr_expect_eq(cdc_live_open(f.view, 4711, &live), -ENOENT);
        cr_assert_eq(cdc_live_open(f.view, ino, &live), 0);
        cr_expect_eq(cdc_live_read(live, 0, bytes, sizeof bytes, &size), 0);
        cr_expect_eq(size, 0);
        files_fixture_commit(&f.files, f.object_id, 10, 10);
        cr_assert_eq(cdc_live_stat(f.view, ino, &status), 0);
        cr_expect_eq(cdc_live_try_read(live, 0, bytes, sizeof bytes, &size), -EAGAIN);
        cr_expect_eq(cdc_live_read(live, 0, bytes, sizeof bytes, &size), 0);
        cr_expect_eq(size, status.size);
        cr_expect_eq(cdc_live_try_read(live, 0, bytes, status.size, &size), 0);
        cdc_live_close(live);
        cdc_live_close(NULL);
        close_fixture(&f);
}
