/* SPDX-License-Identifier: MIT
 *
 * The engine as a program has it: threads, a wakeup, and commands in other processes.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdatomic.h>

#include "capture_fixture.h"

struct fixture {
        struct desk_fixture desk;
        struct app app;
        struct cdc_engine *engine;
        struct cdc_engine_options options;
        atomic_int wakeups;
};

static void wakeup(void *context)
{
        atomic_fetch_add(&((struct fixture *)context)->wakeups, 1);
}

static void setup(struct fixture *x, const char *table)
{
        memset(x, 0, sizeof *x);
        desk_fixture_open(&x->desk, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)");
        cr_assert_eq(cdc_enable_db(&x->desk.database, false, NULL, NULL, &x->desk.error), 0);
        struct cdc_table_options options = {.table = table, .supports_net_changes = -1};
        if (table)
                cr_assert_eq(
                        cdc_enable_table(&x->desk.database, &options, NULL, NULL, &x->desk.error),
                        0);
        app_open(&x->app, x->desk.f.source);
        x->options = (struct cdc_engine_options){
                .database = x->desk.database, .wakeup = wakeup, .wakeup_context = x};
}

static void start(struct fixture *x)
{
        int r = cdc_engine_start(&x->options, &x->engine, &x->desk.error);
        cr_assert_eq(r, 0, "%s", x->desk.error.message);
}

static void teardown(struct fixture *x)
{
        app_close(&x->app);
        desk_fixture_close(&x->desk);
}

/* Looks until the query gives the number, at most ten seconds. */
static bool comes_to(struct fixture *x, const char *sql, int64_t number)
{
        for (int i = 0; i < 1000; i++, usleep(10000))
                if (store_fixture_integer(desk_fixture_store(&x->desk), sql) == number)
                        return true;
        return false;
}

/* A row is in the store before anybody is told of it. */
static bool is_told(struct fixture *x)
{
        for (int i = 0; i < 1000 && atomic_load(&x->wakeups) == 0; i++)
                usleep(10000);
        return atomic_load(&x->wakeups) > 0;
}

Test(engine, captures_by_itself_and_tells_of_it)
{
        struct fixture x;
        setup(&x, "t");
        start(&x);
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        cr_expect(comes_to(&x, "SELECT count(*) FROM main_t_CT", 1));
        cr_expect(is_told(&x));
        struct cdc_pulse pulse;
        cdc_engine_pulse(x.engine, &pulse);
        cr_expect(pulse.is_caught_up);
        cr_expect_eq(strlen(pulse.end_of_log), 22);
        cr_expect_eq(cdc_engine_stop(x.engine), 0);
        teardown(&x);
}

Test(engine, what_was_committed_before_a_stop_is_captured)
{
        struct fixture x;
        setup(&x, "t");
        start(&x);
        for (int i = 0; i < 200; i++)
                app_send(&x.app, "INSERT INTO t(v) VALUES(%d)", i);
        free(app_wait(&x.app));
        cr_expect_eq(cdc_engine_stop(x.engine), 0);
        cr_expect(comes_to(&x, "SELECT count(*) FROM main_t_CT", 200));
        teardown(&x);
}

Test(engine, a_database_that_is_not_enabled_is_refused)
{
        struct fixture x;
        setup(&x, NULL);
        cr_assert_eq(cdc_disable_db(&x.desk.database, &x.desk.error), 0);
        cr_expect_eq(cdc_engine_check(&x.options, &x.desk.error), -ENOENT);
        cr_expect_eq(x.desk.error.number, 22901, "%s", x.desk.error.message);
        cr_expect_eq(cdc_engine_start(&x.options, &x.engine, &x.desk.error), -ENOENT);
        teardown(&x);
}

Test(engine, one_process_runs_the_jobs)
{
        struct fixture x;
        setup(&x, "t");
        cr_expect_eq(cdc_engine_check(&x.options, &x.desk.error), 0);
        desk_fixture_start_agent(&x.desk, 0, NULL);
        cr_expect_eq(cdc_engine_check(&x.options, &x.desk.error), -EBUSY);
        cr_expect_eq(cdc_engine_start(&x.options, &x.engine, &x.desk.error), -EBUSY);
        char pid[32];
        snprintf(pid, sizeof pid, "process %d ", (int)x.desk.agent);
        cr_expect_not_null(strstr(x.desk.error.message, pid), "%s", x.desk.error.message);
        desk_fixture_stop_agent(&x.desk);
        start(&x);
        cr_expect_eq(cdc_engine_stop(x.engine), 0);
        teardown(&x);
}

Test(engine, starts_and_stops_many_times)
{
        struct fixture x;
        setup(&x, "t");
        for (int i = 0; i < 20; i++) {
                start(&x);
                app_run(&x.app, "INSERT INTO t(v) VALUES(1)");
                cr_assert_eq(cdc_engine_stop(x.engine), 0);
        }
        cr_expect(comes_to(&x, "SELECT count(*) FROM main_t_CT", 20));
        cr_expect(comes_to(&x, "SELECT count(*) FROM cdcfs_gaps", 0));
        cr_expect_eq(cdc_engine_stop(NULL), 0);
        teardown(&x);
}
