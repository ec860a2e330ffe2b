/* SPDX-License-Identifier: MIT
 *
 * threads_livefile: many threads that follow the live files of a view while they grow, are closed
 * and listed. A plain program, so that it can run under the thread sanitizer (meson setup
 * -Db_sanitize=thread). Exits with 0 if every byte was right.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cdc.h"
#include "files_fixture.h"

enum { THREADS = 6, ROUNDS = 40, SIZE = 1 << 20 };

struct shared {
        struct cdc_view *view;
        int64_t object_id;
        atomic_bool is_ended;
        atomic_uint failures;
};

static void expect(struct shared *shared, bool is_right, const char *what)
{
        if (is_right)
                return;
        fprintf(stderr, "%s\n", what);
        atomic_fetch_add(&shared->failures, 1);
}

/* What was told can be read, whole lines only. */
static void follow_once(struct shared *shared, uint64_t ino, char *buffer)
{
        struct cdc_live_status status;
        struct cdc_live *live = NULL;
        size_t got = 0;
        int r = cdc_live_try_stat(shared->view, ino, &status);
        if (r == -EAGAIN)
                r = cdc_live_stat(shared->view, ino, &status);
        expect(shared, r == 0, "stat");
        if (r < 0 || cdc_live_open(shared->view, ino, &live) < 0)
                return;
        if (cdc_live_try_read(live, 0, buffer, SIZE, &got) < 0)
                expect(shared, cdc_live_read(live, 0, buffer, SIZE, &got) == 0, "read");
        expect(shared, got >= status.size || got == SIZE, "size");
        expect(shared, got == 0 || got == SIZE || buffer[got - 1] == '\n', "end");
        expect(shared, !memchr(buffer, 0, got), "a NUL");
        cdc_live_close(live);
}

static void *work(void *context)
{
        struct shared *shared = context;
        char *buffer = malloc(SIZE);
        while (!atomic_load(&shared->is_ended)) {
                struct cdc_catalog *catalog = cdc_view_catalog(shared->view);
                const struct cdc_instance *instance =
                        cdc_catalog_find_object(catalog, shared->object_id);
                for (unsigned format = 0; format < cdc_formats(); format++) {
                        uint64_t ino = cdc_catalog_live(catalog, instance, format);
                        if (ino)
                                follow_once(shared, ino, buffer);
                }
                cdc_catalog_unref(catalog);
                expect(shared, cdc_view_refresh(shared->view) >= 0, "refresh");
        }
        free(buffer);
        return NULL;
}

int main(void)
{
        static struct files_fixture f;
        static struct shared shared;
        pthread_t threads[THREADS];
        files_fixture_open(&f);
        shared.object_id = files_fixture_table(&f, "t");
        struct cdc_database database = {.source = f.base.source};
        if (cdc_view_open(&database, &shared.view, NULL) < 0)
                return 1;
        for (unsigned i = 0; i < THREADS; i++)
                pthread_create(&threads[i], NULL, work, &shared);
        for (unsigned round = 0; round < ROUNDS; round++) {
                files_fixture_commit(&f, shared.object_id, 1 + round * 37 % 500, 60);
                if (round % 8 == 7)
                        files_fixture_rotate(&f);
        }
        atomic_store(&shared.is_ended, true);
        for (unsigned i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        cdc_view_close(shared.view);
        files_fixture_close(&f);
        return atomic_load(&shared.failures) > 0;
}
