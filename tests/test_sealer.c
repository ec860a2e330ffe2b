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

/* Measures what was closed, once, and again only after it was listed. */
Test(sealer, measures_closed_files_and_waits_until_they_are_listed)
{
        struct capture_fixture x;
        struct sealer *sealer;
        const struct capture_measure *measures;
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
        cr_assert(is_woken(&woken));
        size_t count = sealer_take(sealer, &measures);
        cr_assert_geq(count, 2);
        for (size_t i = 0; i < count; i++)
                cr_expect_gt(measures[i].measure.bytes, 0);
        sealer_poke(sealer);
        usleep(50000);
        const struct capture_measure *again;
        cr_expect_eq(sealer_take(sealer, &again), 0);
        cr_assert_eq(capture_publish(x.capture, measures, count), 0);
        sealer_listed(sealer);
        app_run(&x.app, "INSERT INTO t VALUES(2, 'b')");
        capture_fixture_settle(&x);
        sealer_poke(sealer);
        cr_assert(is_woken(&woken));
        cr_expect_geq(sealer_take(sealer, &measures), 2);
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
