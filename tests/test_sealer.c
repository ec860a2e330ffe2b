/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <semaphore.h>
#include <time.h>

#include "capture_fixture.h"
#include "desk/sealer.h"

static void wake(void *context)
{
        sem_post(context);
}

static bool is_woken(sem_t *semaphore)
{
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 10;
        return sem_timedwait(semaphore, &end) == 0;
}

static size_t count_unlisted(struct capture_fixture *x)
{
        struct files files = {0};
        cr_assert_eq(files_unpublished(store_db(desk_fixture_store(&x->desk)->store), &files), 0);
        size_t count = files.count;
        files_release(&files);
        return count;
}

/* Takes and lists results until all that is closed is listed: they may come one by one. */
static void list_files(struct capture_fixture *x, struct sealer *sealer, sem_t *woken)
{
        size_t listed = 0, wanted = count_unlisted(x);
        cr_assert_geq(wanted, 2);
        while (listed < wanted) {
                const struct capture_measure *measures;
                cr_assert(is_woken(woken), "%zu of %zu files were measured", listed, wanted);
                size_t count = sealer_take(sealer, &measures);
                if (count == 0)
                        continue; /* it was woken for what had been taken before that */
                for (size_t i = 0; i < count; i++)
                        cr_expect_gt(measures[i].measure.bytes, 0);
                const struct capture_measure *again;
                sealer_poke(sealer);
                usleep(20000);
                cr_expect_eq(sealer_take(sealer, &again), 0, "measured before it was listed");
                cr_assert_eq(capture_publish(x->capture, measures, count), 0);
                sealer_listed(sealer);
                listed += count;
        }
        cr_expect_eq(listed, wanted);
        cr_expect_eq(count_unlisted(x), 0);
}

/* Measures what was closed, once, and again only after it was listed. */
Test(sealer, measures_closed_files_and_waits_until_they_are_listed)
{
        struct capture_fixture x;
        struct sealer *sealer;
        sem_t woken;
        sem_init(&woken, 0, 0);
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        capture_fixture_stop(&x);
        x.options.limits.size = 1;
        x.options.limits.small = 0;
        capture_fixture_start(&x);
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        capture_fixture_settle(&x);
        cr_assert_eq(sealer_start(x.desk.f.path, NULL, wake, &woken, &sealer), 0);
        list_files(&x, sealer, &woken);
        app_run(&x.app, "INSERT INTO t VALUES(2, 'b')");
        capture_fixture_settle(&x);
        sealer_poke(sealer);
        list_files(&x, sealer, &woken);
        sealer_stop(sealer);
        capture_fixture_close(&x);
        sem_destroy(&woken);
}

Test(sealer, stops_without_work_and_allows_null)
{
        struct capture_fixture x;
        struct sealer *sealer;
        sem_t woken;
        sem_init(&woken, 0, 0);
        sealer_stop(NULL);
        capture_fixture_open(&x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        cr_assert_eq(sealer_start(x.desk.f.path, NULL, wake, &woken, &sealer), 0);
        sealer_stop(sealer);
        capture_fixture_close(&x);
        sem_destroy(&woken);
}
