/* SPDX-License-Identifier: MIT
 *
 * threads_content: many threads on one view: reading the same and other files, refreshing,
 * rendering documents, while files come. A plain program, so that it can run under the thread
 * sanitizer (meson setup -Db_sanitize=thread). Exits with 0 if every byte was right.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cdc.h"
#include "files_fixture.h"

enum { THREADS = 8, FILES = 12, ROUNDS = 30 };

struct shared {
        struct cdc_view *view;
        int64_t object_id;
        atomic_uint failures;
};

static void expect(struct shared *shared, bool is_right, const char *what)
{
        if (is_right)
                return;
        fprintf(stderr, "%s\n", what);
        atomic_fetch_add(&shared->failures, 1);
}

/* Reads a file from a place on and checks that lines look like lines. */
static void read_some(struct shared *shared, const struct cdc_file *file, uint64_t offset)
{
        char buffer[5000];
        size_t got = 0;
        struct cdc_content *content = NULL;
        if (cdc_content_open(shared->view, file->ino, &content) < 0) {
                expect(shared, false, "open");
                return;
        }
        if (cdc_content_try_read(content, offset, buffer, sizeof buffer, &got) < 0)
                expect(shared, cdc_content_read(content, offset, buffer, sizeof buffer, &got) == 0,
                        "read");
        uint64_t left = file->size - offset;
        expect(shared, got == (left < sizeof buffer ? left : sizeof buffer), "size");
        expect(shared, offset + got < file->size || buffer[got - 1] == '\n', "end");
        cdc_content_close(content);
}

static void *work(void *context)
{
        struct shared *shared = context;
        for (unsigned round = 0; round < ROUNDS; round++) {
                struct cdc_catalog *catalog = cdc_view_catalog(shared->view);
                const struct cdc_instance *instance =
                        cdc_catalog_find_object(catalog, shared->object_id);
                const struct cdc_file *file;
                for (uint64_t after = 0;
                        (file = cdc_catalog_next_file(catalog, instance, round % 2, after));
                        after = file->ordinal)
                        read_some(shared, file, file->size * (round % 7) / 7);
                char *bytes = NULL;
                size_t size = 0;
                int64_t mtime_ns = 0;
                expect(shared,
                        cdc_document_render(shared->view, instance, CDC_DOCUMENT_VALIDITY, NULL,
                                &bytes, &size, &mtime_ns) == 0,
                        "document");
                free(bytes);
                cdc_catalog_unref(catalog);
                expect(shared, cdc_view_refresh(shared->view) >= 0, "refresh");
        }
        return NULL;
}

int main(void)
{
        struct files_fixture f;
        struct shared shared = {0};
        pthread_t threads[THREADS];
        files_fixture_open(&f);
        shared.object_id = files_fixture_table(&f, "t");
        struct cdc_database database = {.source = f.base.source};
        store_fixture_check(cdc_view_open(&database, &shared.view, NULL), "cdc_view_open");
        for (unsigned i = 0; i < THREADS; i++)
                tmp_check(pthread_create(&threads[i], NULL, work, &shared) == 0, "pthread_create");
        for (unsigned i = 0; i < FILES; i++) {
                files_fixture_commit(&f, shared.object_id, 2000, 100);
                files_fixture_rotate(&f);
        }
        for (unsigned i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        cdc_view_close(shared.view);
        files_fixture_close(&f);
        return atomic_load(&shared.failures) > 0;
}
