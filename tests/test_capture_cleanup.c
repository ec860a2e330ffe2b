/* SPDX-License-Identifier: MIT
 *
 * capture_cleanup: retention in an agent whose clock the test sets: marks, files, names, errors,
 * and a reader that holds a file over its cleanup.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "capture_fixture.h"
#include "desk/closer.h"

#define MINUTE (INT64_C(60) * 1000000000)
#define DAY (1440 * MINUTE)

struct fake {
        int64_t wall_ahead, monotonic_ahead; /* of the real clocks */
};

static int64_t fake_wall(void *context)
{
        return clock_wall(NULL) + ((struct fake *)context)->wall_ahead;
}

static int64_t fake_monotonic(void *context)
{
        return clock_monotonic(NULL) + ((struct fake *)context)->monotonic_ahead;
}

/* Both clocks move on, as time does. */
static void pass(struct capture_fixture *x, struct fake *fake, int64_t ns)
{
        fake->wall_ahead += ns;
        fake->monotonic_ahead += ns;
        capture_fixture_settle(x);
}

static void ask(struct capture_fixture *x, const char *command, const char *argument)
{
        int64_t id = 0;
        store_fixture_check(requests_post(desk_fixture_store(&x->desk)->store, command, argument,
                                    STORE_FIXTURE_NOW, &id),
                "requests_post");
        capture_fixture_settle(x);
}

/* Closes the open files and lists them. */
static void rotate(struct capture_fixture *x)
{
        ask(x, "rotate", NULL);
        _cleanup_(files_release) struct files files = {0};
        sqlite3 *db = store_db(desk_fixture_store(&x->desk)->store);
        store_fixture_check(files_unpublished(db, &files), "files_unpublished");
        for (size_t i = 0; i < files.count; i++) {
                struct capture_measure m = {.ino = files.items[i].ino};
                store_fixture_check(
                        closer_measure(db, &files.items[i], NULL, &m.measure), "closer_measure");
                store_fixture_check(capture_publish(x->capture, &m, 1), "capture_publish");
                checkpoints_release(&m.measure.checkpoints);
        }
        capture_fixture_settle(x);
}

static int64_t number(struct capture_fixture *x, const char *sql)
{
        return capture_fixture_number(x, sql);
}

/* Three files of a commit each, and what was committed is so many ns older than it is. */
static void open_with_files(struct capture_fixture *x, struct fake *fake, struct clock *clock)
{
        memset(fake, 0, sizeof *fake);
        *clock = (struct clock){fake_wall, fake_monotonic, fake};
        capture_fixture_open(x, "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "t");
        capture_fixture_stop(x);
        x->options.clock = clock;
        x->options.linger_ns = 15 * MINUTE;
        capture_fixture_start(x);
        capture_fixture_settle(x);
        for (int i = 0; i < 3; i++) {
                app_run(&x->app, "INSERT INTO t(v) VALUES('secret')");
                rotate(x);
        }
}

/* Makes what is captured so far older, as if the last commit had come so much later. */
static void age(struct capture_fixture *x, const char *days)
{
        char sql[300];
        snprintf(sql, sizeof sql,
                "UPDATE lsn_time_mapping SET tran_begin_time = strftime('%%Y-%%m-%%dT%%H:%%M:"
                "%%fZ', tran_begin_time, '-%s days'), tran_end_time = strftime('%%Y-%%m-%%dT%%H:"
                "%%M:%%fZ', tran_end_time, '-%s days')",
                days, days);
        store_fixture_check(sql_execute(store_db(desk_fixture_store(&x->desk)->store), sql), sql);
}

static const char listed[] =
        "SELECT count(*) FROM cdcfs_files WHERE format = 'csv' AND mtime_ns IS NOT NULL AND NOT "
        "is_withdrawn AND object_id > 0";
static const char rows[] = "SELECT count(*) FROM main_t_CT";

Test(capture_cleanup, runs_every_night_and_keeps_what_is_young)
{
        struct capture_fixture x;
        struct fake fake;
        struct clock clock;
        open_with_files(&x, &fake, &clock);
        pass(&x, &fake, 1 * DAY);
        cr_expect_neq(number(&x, "SELECT cleaned_ns FROM cdcfs_state"), 0);
        pass(&x, &fake, 5 * DAY);
        cr_expect_eq(number(&x, listed), 3, "nothing was committed since");
        age(&x, "5");
        app_run(&x.app, "INSERT INTO t(v) VALUES('new')");
        capture_fixture_settle(&x);
        cr_expect_eq(number(&x, listed), 3, "not before the night");
        pass(&x, &fake, 1 * DAY);
        cr_expect_eq(number(&x, listed), 0);
        cr_expect_eq(number(&x, rows), 4, "they can still be opened");
        cr_expect_eq(number(&x, "SELECT (SELECT start_lsn FROM change_tables) = (SELECT from_lsn"
                                " FROM cdcfs_files WHERE to_lsn IS NULL AND format = 'csv')"),
                1);
        pass(&x, &fake, 14 * MINUTE);
        cr_expect_eq(number(&x, rows), 4);
        pass(&x, &fake, 2 * MINUTE);
        cr_expect_eq(number(&x, rows), 1);
        cr_expect_eq(number(&x, "SELECT count(*) FROM cdcfs_files WHERE is_withdrawn"), 0);
        rotate(&x);
        cr_expect_eq(number(&x, listed), 1);
        capture_fixture_close(&x);
}

/* B067 */
Test(capture_cleanup, b067_a_wall_clock_that_jumps_deletes_nothing)
{
        struct capture_fixture x;
        struct fake fake;
        struct clock clock;
        open_with_files(&x, &fake, &clock);
        age(&x, "30");
        app_run(&x.app, "INSERT INTO t(v) VALUES('new')");
        fake.wall_ahead += 30 * DAY;
        capture_fixture_settle(&x);
        cr_expect_neq(number(&x, "SELECT cleaned_ns FROM cdcfs_state"), 0, "the job ran");
        cr_expect_eq(number(&x, listed), 3);
        cr_expect_eq(number(&x, rows), 4);
        capture_fixture_close(&x);
}

/* B070 */
Test(capture_cleanup, b070_a_reader_that_holds_a_file_open_reads_it_whole)
{
        struct capture_fixture x;
        struct fake fake;
        struct clock clock;
        struct cdc_view *view;
        struct cdc_content *content, *late;
        char before[4096], after[4096], name[64];
        size_t size = 0, again = 0;
        open_with_files(&x, &fake, &clock);
        cr_assert_eq(cdc_view_open(&x.desk.database, &view, NULL), 0);
        struct cdc_catalog *catalog = cdc_view_catalog(view);
        const struct cdc_instance *instance = cdc_catalog_find_instance(catalog, "main_t");
        const struct cdc_file file = *cdc_catalog_next_file(catalog, instance, 0, 0);
        cdc_catalog_unref(catalog);
        snprintf(name, sizeof name, "%s-%s.csv", file.from_lsn, file.to_lsn);
        cr_assert_eq(cdc_content_open(view, file.ino, &content), 0);
        cr_assert_eq(cdc_content_read(content, 0, before, 10, &size), 0);

        char argument[100];
        snprintf(argument, sizeof argument, "1 5000 %s",
                capture_fixture_text(&x, "SELECT substr(hex(start_lsn), 1, 20) FROM "
                                         "lsn_time_mapping ORDER BY rowid DESC LIMIT 1"));
        memmove(argument + 9, argument + 7, strlen(argument + 7) + 1);
        memcpy(argument + 7, "0x", 2);
        ask(&x, "cleanup-change-table", argument);
        cr_expect_eq(number(&x, listed), 0);
        cr_expect_eq(number(&x, rows), 3);
        cr_assert_eq(cdc_view_refresh(view), 1);
        catalog = cdc_view_catalog(view);
        instance = cdc_catalog_find_instance(catalog, "main_t");
        cr_expect_null(cdc_catalog_next_file(catalog, instance, 0, 0), "not listed");
        const struct cdc_file *found = cdc_catalog_find_file(catalog, instance, 0, name);
        cr_assert_not_null(found, "by its exact name");
        cr_expect_eq(found->ino, file.ino);
        cr_expect(found->is_withdrawn);
        cr_assert_eq(cdc_content_open(view, found->ino, &late), 0);
        cdc_catalog_unref(catalog);

        pass(&x, &fake, 16 * MINUTE);
        cr_expect_eq(number(&x, rows), 1);
        cr_expect_eq(cdc_view_refresh(view), 1);
        catalog = cdc_view_catalog(view);
        cr_expect_null(cdc_catalog_find_ino(catalog, file.ino), "gone");
        cdc_catalog_unref(catalog);
        cr_assert_eq(cdc_content_read(content, 0, before, sizeof before, &size), 0);
        cr_expect_eq(size, file.size);
        cr_expect_not_null(memmem(before, size, "secret", 6));
        cr_assert_eq(cdc_content_read(late, 0, after, sizeof after, &again), 0);
        cr_expect(again == size && memcmp(before, after, size) == 0);
        cdc_content_close(content);
        cdc_content_close(late);
        cdc_view_close(view);
        capture_fixture_close(&x);
}

Test(capture_cleanup, what_was_left_over_goes_at_the_next_start)
{
        struct capture_fixture x;
        struct fake fake;
        struct clock clock;
        open_with_files(&x, &fake, &clock);
        age(&x, "5");
        app_run(&x.app, "INSERT INTO t(v) VALUES('new')");
        capture_fixture_settle(&x);
        pass(&x, &fake, 5 * DAY);
        cr_expect_eq(number(&x, listed), 0);
        capture_fixture_stop(&x);
        fake.monotonic_ahead += 20 * MINUTE;
        cr_expect_eq(number(&x, rows), 4);
        capture_fixture_start(&x);
        capture_fixture_settle(&x);
        cr_expect_eq(number(&x, rows), 1);
        capture_fixture_close(&x);
}

Test(capture_cleanup, over_max_store_the_lowest_hold_yields_on_record)
{
        struct capture_fixture x;
        struct fake fake;
        struct clock clock;
        open_with_files(&x, &fake, &clock);
        store_fixture_check(
                sql_execute(store_db(desk_fixture_store(&x.desk)->store),
                        "INSERT INTO cdcfs_holds SELECT object_id, 'slow', start_lsn,"
                        " '2026-01-01T00:00:00.000000Z', NULL, NULL FROM change_tables"),
                "INSERT");
        age(&x, "5");
        app_run(&x.app, "INSERT INTO t(v) VALUES('new')");
        capture_fixture_settle(&x);
        pass(&x, &fake, 5 * DAY);
        cr_expect_eq(number(&x, listed), 3, "held");
        capture_fixture_stop(&x);
        x.options.max_store = 4096;
        capture_fixture_start(&x);
        rotate(&x);
        cr_expect_eq(number(&x, "SELECT count(*) FROM cdcfs_holds WHERE yielded IS NOT NULL"), 1);
        cr_expect_eq(number(&x, listed), 1);
        cr_expect_eq(number(&x, "SELECT count(*) FROM dm_cdc_errors WHERE error_message LIKE"
                                " '%slow%yields%' AND error_severity = 10"),
                1);
        capture_fixture_close(&x);
}

Test(capture_cleanup, by_hand_its_refusals_have_their_numbers)
{
        struct capture_fixture x;
        struct fake fake;
        struct clock clock;
        open_with_files(&x, &fake, &clock);
        static const char answer[] =
                "SELECT number FROM cdcfs_requests ORDER BY request DESC LIMIT 1";
        ask(&x, "cleanup-change-table", "1 5000 00000001:00000000:0009");
        cr_expect_eq(number(&x, answer), 22964);
        ask(&x, "cleanup-change-table", "1 5000 -");
        cr_expect_eq(number(&x, answer), 0);
        cr_expect_eq(number(&x, listed), 3);
        ask(&x, "cleanup", NULL);
        cr_expect_eq(
                number(&x, "SELECT result FROM cdcfs_requests ORDER BY request DESC LIMIT 1"), 0);
        capture_fixture_close(&x);
}
