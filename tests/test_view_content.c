/* SPDX-License-Identifier: MIT */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "files_fixture.h"

struct fixture {
        struct files_fixture files;
        int64_t object_id;
        struct cdc_view *view;
        struct cdc_catalog *catalog;
        const struct cdc_instance *instance;
};

/* One instance with one file of 10 rows. */
static void open_fixture(struct fixture *f)
{
        files_fixture_open(&f->files);
        f->object_id = files_fixture_table(&f->files, "t");
        files_fixture_commit(&f->files, f->object_id, 10, 10);
        files_fixture_rotate(&f->files);
        struct cdc_database database = {.source = f->files.base.source};
        cr_assert_eq(cdc_view_open(&database, &f->view, NULL), 0);
        f->catalog = cdc_view_catalog(f->view);
        f->instance = cdc_catalog_find_object(f->catalog, f->object_id);
}

static void close_fixture(struct fixture *f)
{
        cdc_catalog_unref(f->catalog);
        cdc_view_close(f->view);
        files_fixture_close(&f->files);
}

Test(view_content, renders_documents)
{
        struct fixture f;
        open_fixture(&f);
        struct cdc_pulse pulse = {
                .end_of_log = "00000001:00000002:0001", .as_of_ns = STORE_FIXTURE_NOW};
        for (int document = CDC_DOCUMENT_README; document <= CDC_DOCUMENT_SCHEMA; document++) {
                for (int variant = 0; variant < 4; variant++) {
                        char *bytes = NULL;
                        size_t size = 0;
                        int64_t mtime_ns = 0;
                        int r = cdc_document_render(f.view, variant & 1 ? f.instance : NULL,
                                (enum cdc_document)document, variant & 2 ? &pulse : NULL, &bytes,
                                &size, &mtime_ns);
                        bool is_of_instance = document != CDC_DOCUMENT_README &&
                                              (document < CDC_DOCUMENT_CHANGE_TABLES ||
                                                      document == CDC_DOCUMENT_SCHEMA);
                        bool is_there =
                                variant & 1 ? is_of_instance : document != CDC_DOCUMENT_SCHEMA;
                        cr_expect_eq(r, is_there ? 0 : -ENOENT, "document %d variant %d: %d",
                                document, variant, r);
                        bool may_be_empty = document == CDC_DOCUMENT_DDL_HISTORY_JSONL;
                        cr_expect(r < 0 || (size == 0 && may_be_empty) ||
                                  (size > 0 && mtime_ns > 0 && bytes[size - 1] == '\n'));
                        free(bytes);
                }
        }
        close_fixture(&f);
}

Test(view_content, reads_files_as_they_were_measured)
{
        struct fixture f;
        open_fixture(&f);
        for (unsigned format = 0; format < cdc_formats(); format++) {
                const struct cdc_file *file =
                        cdc_catalog_next_file(f.catalog, f.instance, format, 0);
                struct cdc_content *content = NULL;
                char *buffer = malloc(file->size + 1);
                size_t got = 0;
                cr_assert_eq(cdc_content_open(f.view, file->ino, &content), 0);
                cr_expect_eq(cdc_content_try_read(content, 0, buffer, file->size, &got), -EAGAIN);
                cr_expect_eq(cdc_content_read(content, 0, buffer, file->size + 1, &got), 0);
                cr_expect_eq(got, file->size);
                cr_expect_eq(cdc_content_try_read(content, 0, buffer, file->size, &got), 0);
                cdc_content_close(content);
                free(buffer);
        }
        cdc_content_close(NULL);
        close_fixture(&f);
}

Test(view_content, tells_what_is_not_there)
{
        struct fixture f;
        open_fixture(&f);
        struct cdc_content *content = NULL;
        struct cdc_instance gone = *f.instance;
        char *bytes = NULL;
        size_t size = 0;
        int64_t mtime_ns = 0;
        gone.object_id = 99;
        cr_expect_eq(cdc_content_open(f.view, 12345, &content), -ENOENT);
        cr_expect_eq(cdc_document_render(
                             f.view, &gone, CDC_DOCUMENT_MIN_LSN, NULL, &bytes, &size, &mtime_ns),
                -ENOENT);
        close_fixture(&f);
}
