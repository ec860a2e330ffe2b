/* SPDX-License-Identifier: MIT
 *
 * Where a capture goes on: exactly, or with a gap on record.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "capture_fixture.h"

#define TABLE "CREATE TABLE t(id INTEGER PRIMARY KEY, v)"
#define ROWS "SELECT group_concat(\"__$operation\" || v, ' ') FROM main_t_CT"
#define GAPS "SELECT count(*) FROM cdcfs_gaps"

/* What happens between a stop and a start, and what must come of it. `first` was captured. */
static const struct {
        const char *name;
        bool is_filled; /* everything was in the database file when it stopped */
        const char *meanwhile;
        int64_t gaps;
        const char *rows; /* after one more insert of 'z' */
} cases[] = {
        {"nothing", false, "", 0, "2a 2z"},
        {"commits", false, "INSERT INTO t VALUES(2, 'b'); UPDATE t SET v = 'c' WHERE id = 1", 0,
                "2a 2b 3a 4c 2z"},
        {"a checkpoint of what was captured", false, "PRAGMA wal_checkpoint(PASSIVE)", 0, "2a 2z"},
        {"a restart of what was captured", true, "INSERT INTO t VALUES(2, 'b')", 0, "2a 2b 2z"},
        {"a checkpoint beyond", false,
                "INSERT INTO t VALUES(2, 'b'); PRAGMA wal_checkpoint(PASSIVE)", 1, "2a 2z"},
        {"a restart beyond", false,
                "INSERT INTO t VALUES(2, 'b'); PRAGMA wal_checkpoint(TRUNCATE); "
                "INSERT INTO t VALUES(3, 'c')",
                1, "2a 2z"},
};

Test(capture_open, goes_on_where_the_log_allows_it)
{
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct capture_fixture x;
                capture_fixture_open(&x, TABLE, "t");
                app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
                capture_fixture_settle(&x);
                if (cases[i].is_filled) {
                        free(app_ask(&x.app, "PRAGMA wal_checkpoint(PASSIVE)"));
                        capture_fixture_settle(&x);
                }
                capture_fixture_stop(&x);
                free(app_ask(&x.app, "%s", cases[i].meanwhile));
                capture_fixture_start(&x);
                app_run(&x.app, "INSERT INTO t VALUES(9, 'z')");
                capture_fixture_settle(&x);
                cr_expect_eq(capture_fixture_number(&x, GAPS), cases[i].gaps, "%s", cases[i].name);
                const char *rows = capture_fixture_text(&x, ROWS);
                cr_expect_str_eq(rows, cases[i].rows, "%s: %s", cases[i].name, rows);
                capture_fixture_close(&x);
        }
}

Test(capture_open, a_replaced_file_is_a_gap)
{
        struct capture_fixture x;
        char other[600];
        capture_fixture_open(&x, TABLE, "t");
        app_run(&x.app, "INSERT INTO t VALUES(1, 'a')");
        capture_fixture_settle(&x);
        capture_fixture_stop(&x);
        app_close(&x.app);
        snprintf(other, sizeof other, "%s.other", x.desk.f.source);
        desk_fixture_run(other, "PRAGMA journal_mode=WAL; " TABLE "; INSERT INTO t VALUES(5, 'q')");
        cr_assert_eq(rename(other, x.desk.f.source), 0);
        snprintf(other, sizeof other, "%s-wal", x.desk.f.source);
        unlink(other);
        snprintf(other, sizeof other, "%s-shm", x.desk.f.source);
        unlink(other);
        app_open(&x.app, x.desk.f.source);
        capture_fixture_start(&x);
        app_run(&x.app, "INSERT INTO t VALUES(9, 'z')");
        capture_fixture_settle(&x);
        cr_expect_eq(capture_fixture_number(&x, GAPS), 1);
        cr_expect_str_eq(capture_fixture_text(&x, ROWS), "2a 2z");
        capture_fixture_close(&x);
}

/* LSNs rise over every kind of start. */
Test(capture_open, lsns_rise_over_restarts)
{
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        for (int i = 0; i < 6; i++) {
                app_run(&x.app, "INSERT INTO t(v) VALUES('x')");
                capture_fixture_settle(&x);
                capture_fixture_stop(&x);
                if (i % 2)
                        free(app_ask(&x.app, "PRAGMA wal_checkpoint(TRUNCATE)"));
                capture_fixture_start(&x);
        }
        cr_expect_eq(capture_fixture_number(&x,
                             "SELECT count(*) FROM (SELECT \"__$start_lsn\" AS l, "
                             "lag(\"__$start_lsn\") OVER (ORDER BY rowid) AS b FROM main_t_CT) "
                             "WHERE b >= l"),
                0);
        cr_expect_geq(capture_fixture_number(&x, "SELECT count(*) FROM main_t_CT"), 6);
        capture_fixture_close(&x);
}

Test(capture_open, a_second_one_is_refused)
{
        struct capture_fixture x;
        struct capture *second = NULL;
        capture_fixture_open(&x, TABLE, "t");
        cr_expect_eq(capture_open(&x.options, &second, &x.problem), -EBUSY);
        cr_expect_null(second);
        cr_expect_not_null(strstr(x.problem.message, "runs the jobs"), "%s", x.problem.message);
        capture_fixture_close(&x);
}

/* The other source is a copy, which the store fits in all but whose it is. */
static void copy_source(struct capture_fixture *x, const char *path)
{
        char command[2048];
        snprintf(command, sizeof command, "cp '%s' '%s'", x->desk.f.source, path);
        cr_assert_eq(system(command), 0);
}

Test(capture_open, a_store_that_another_database_owns_is_refused)
{
        struct capture_fixture x;
        struct capture *second = NULL;
        capture_fixture_open(&x, TABLE, "t");
        const char *other = store_fixture_path(&x.desk.f, "other.db");
        copy_source(&x, other);
        struct capture_options options = x.options;
        options.source = other;
        capture_fixture_stop(&x);
        cr_expect_eq(capture_open(&options, &second, &x.problem), -EXDEV);
        cr_expect_null(second);
        cr_expect_not_null(strstr(x.problem.message, "/app.db, and not"), "%s", x.problem.message);
        capture_fixture_start(&x);
        capture_fixture_close(&x);
}

Test(capture_open, a_store_whose_database_went_goes_on_under_another_name)
{
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        const char *other = store_fixture_path(&x.desk.f, "other.db");
        capture_fixture_stop(&x);
        copy_source(&x, other);
        cr_assert_eq(unlink(x.desk.f.source), 0);
        x.options.source = other;
        struct capture *capture = NULL;
        cr_expect_eq(capture_open(&x.options, &capture, &x.problem), 0, "%s", x.problem.message);
        capture_close(capture);
        const char *path = capture_fixture_text(&x, "SELECT source_path FROM cdcfs_state");
        cr_expect_not_null(strstr(path, "/other.db"), "%s", path);
        capture_fixture_close(&x);
}

Test(capture_open, a_table_that_went_meanwhile_is_dropped)
{
        struct capture_fixture x;
        capture_fixture_open(&x, TABLE, "t");
        capture_fixture_settle(&x);
        capture_fixture_stop(&x);
        free(app_ask(&x.app, "DROP TABLE t; PRAGMA wal_checkpoint(TRUNCATE); CREATE TABLE u(a)"));
        capture_fixture_start(&x);
        cr_expect_eq(capture_fixture_number(&x, "SELECT has_drop_pending FROM change_tables"), 1);
        capture_fixture_close(&x);
}
