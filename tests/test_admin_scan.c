/* SPDX-License-Identifier: MIT
 *
 * admin_scan: one pass without an agent, and what is refused.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "app.h"
#include "desk_fixture.h"

#define UNSET                                                                                      \
        {                                                                                          \
                CDC_UNSET, CDC_UNSET, CDC_UNSET, CDC_UNSET                                         \
        }

static void open_enabled(struct desk_fixture *x)
{
        struct cdc_table_options options = {.table = "t", .supports_net_changes = -1};
        desk_fixture_open(x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)");
        cr_assert_eq(cdc_enable_db(&x->database, false, desk_fixture_notice, x, &x->error), 0);
        cr_assert_eq(
                cdc_enable_table(&x->database, &options, desk_fixture_notice, x, &x->error), 0);
}

static int scan(struct desk_fixture *x, struct cdc_scan scan)
{
        memset(&x->error, 0, sizeof x->error);
        return cdc_scan(&x->database, &scan, desk_fixture_notice, x, &x->error);
}

/* As cron would run it, an application that stays connected meanwhile. */
Test(admin_scan, captures_by_itself_pass_after_pass)
{
        struct desk_fixture x;
        struct app app;
        open_enabled(&x);
        app_open(&app, x.f.source);
        app_run(&app, "INSERT INTO t(v) VALUES('baseline')");
        cr_expect_eq(scan(&x, (struct cdc_scan)UNSET), 0, "%s", x.error.message);
        for (int pass = 0; pass < 3; pass++) {
                app_run(&app, "INSERT INTO t(v) VALUES('a'); UPDATE t SET v = v || 'b'");
                cr_expect_eq(scan(&x, (struct cdc_scan)UNSET), 0, "%s", x.error.message);
        }
        cr_expect_eq(store_fixture_integer(desk_fixture_store(&x),
                             "SELECT count(*) FROM main_t_CT WHERE \"__$operation\" = 2"),
                3);
        cr_expect_eq(store_fixture_integer(desk_fixture_store(&x),
                             "SELECT count(*) FROM main_t_CT WHERE \"__$operation\" = 4"),
                9);
        cr_expect_eq(
                store_fixture_integer(desk_fixture_store(&x), "SELECT count(*) FROM cdcfs_gaps"),
                0);
        app_close(&app);
        desk_fixture_close(&x);
}

/* Two times without a log are not one: what was committed in between is lost, and said to be. */
Test(admin_scan, tells_of_a_log_that_came_and_went_between_two_passes)
{
        struct desk_fixture x;
        open_enabled(&x);
        cr_expect_eq(scan(&x, (struct cdc_scan)UNSET), 0, "%s", x.error.message);
        cr_expect_eq(scan(&x, (struct cdc_scan)UNSET), 0, "%s", x.error.message);
        cr_expect_eq(
                store_fixture_integer(desk_fixture_store(&x), "SELECT count(*) FROM cdcfs_gaps"), 0,
                "nothing was committed");
        cr_expect_null(strstr(x.notices, "missing"), "%s", x.notices);
        desk_fixture_run(x.f.source, "INSERT INTO t(v) VALUES('unseen')");
        cr_expect_eq(scan(&x, (struct cdc_scan)UNSET), 0, "%s", x.error.message);
        cr_expect_eq(
                store_fixture_integer(desk_fixture_store(&x), "SELECT count(*) FROM cdcfs_gaps"),
                1);
        cr_expect_not_null(strstr(x.notices, ": changes are missing: "), "%s", x.notices);
        desk_fixture_close(&x);
}

Test(admin_scan, refuses_by_number)
{
        static const struct {
                struct cdc_scan scan;
                int number;
        } cases[] = {
                {{0, CDC_UNSET, CDC_UNSET, CDC_UNSET}, 22991},
                {{CDC_UNSET, 0, CDC_UNSET, CDC_UNSET}, 22970},
                {{CDC_UNSET, CDC_UNSET, 2, CDC_UNSET}, 22998},
                {{CDC_UNSET, CDC_UNSET, 1, 86400}, 22990},
                {{CDC_UNSET, CDC_UNSET, CDC_UNSET, 5}, 22999},
        };
        struct desk_fixture x;
        open_enabled(&x);
        for (size_t i = 0; i < COUNT(cases); i++) {
                cr_expect_eq(scan(&x, cases[i].scan), -EINVAL);
                cr_expect_eq(x.error.number, cases[i].number, "%s", x.error.message);
        }
        desk_fixture_close(&x);
}

Test(admin_scan, is_the_agents_where_one_runs)
{
        struct desk_fixture x;
        open_enabled(&x);
        desk_fixture_start_agent(&x, -EIO, "went wrong");
        cr_expect_eq(scan(&x, (struct cdc_scan)UNSET), -EIO);
        cr_expect_str_eq(x.error.message, "scan went wrong");
        desk_fixture_close(&x);
}
