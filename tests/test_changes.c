/* SPDX-License-Identifier: MIT
 *
 * changes: the right rows in the right order for every range and filter, and nothing scanned.
 */
#include "faces/changes.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "changes_fixture.h"
#include "ground/buf.h"

struct fixture {
        struct store_fixture f;
        int64_t id;
        int64_t other;
};

/* Frames 2, 4, 7 and 9 have changes of main_t, 5 of main_u alone, 11 of neither. */
static struct fixture setup(void)
{
        struct fixture x;
        store_fixture_open(&x.f, TEXT_UTF8);
        x.id = changes_fixture_enable(&x.f, "main_t");
        x.other = changes_fixture_enable(&x.f, "main_u");
        changes_fixture_recognise(&x.f, x.id, 1);
        changes_fixture_recognise(&x.f, x.other, 1);
        changes_fixture_commit(&x.f, x.id, 2, "i1 i2");
        changes_fixture_commit(&x.f, x.id, 4, "d2 u1 i3");
        changes_fixture_commit(&x.f, x.other, 5, "i1 i2 i3");
        changes_fixture_commit(&x.f, x.id, 7, "u1");
        changes_fixture_commit(&x.f, x.id, 9, "d1 d3");
        changes_fixture_commit(&x.f, x.id, 11, "");
        return x;
}

/* Rows as `frame:seqval:operation:x` words. */
static void append_row(struct buf *buf, struct changes *changes, const struct value *row)
{
        buf_append_format(buf, "%s%u:%llu:%lld:%.*s", buf->size ? " " : "",
                (unsigned)lsn_frame(changes_lsn(changes)),
                (unsigned long long)changes_number(changes), (long long)row[2].integer,
                (int)row[5].size, (const char *)row[5].bytes);
}

static int read_rows(struct changes *changes, struct buf *buf)
{
        const struct value *row;
        int r;
        while ((r = changes_next(changes, &row)) > 0)
                append_row(buf, changes, row);
        cr_expect_eq(changes_next(changes, &row), 0);
        return r;
}

static const struct {
        const char *name;
        uint32_t from, to;
        enum changes_filter filter;
        const char *rows;
} ranges[] = {
        {"all", 1, 11, CHANGES_ALL,
                "2:1:2:i1 2:2:2:i2 4:3:1:-d2 4:4:4:u1 4:5:2:i3 7:9:4:u1 9:10:1:-d1 9:11:1:-d3"},
        {"all update old", 1, 11, CHANGES_ALL_UPDATE_OLD,
                "2:1:2:i1 2:2:2:i2 4:3:1:-d2 4:4:3:-u1 4:4:4:u1 4:5:2:i3 7:9:3:-u1 7:9:4:u1 "
                "9:10:1:-d1 9:11:1:-d3"},
        {"one commit", 4, 4, CHANGES_ALL_UPDATE_OLD, "4:3:1:-d2 4:4:3:-u1 4:4:4:u1 4:5:2:i3"},
        {"both ends inclusive", 2, 4, CHANGES_ALL, "2:1:2:i1 2:2:2:i2 4:3:1:-d2 4:4:4:u1 4:5:2:i3"},
        {"between commits", 5, 8, CHANGES_ALL, "7:9:4:u1"},
        {"ends between commits", 3, 6, CHANGES_ALL, "4:3:1:-d2 4:4:4:u1 4:5:2:i3"},
        {"another instance alone", 5, 6, CHANGES_ALL, ""},
        {"no commit", 3, 3, CHANGES_ALL, ""},
        {"start alone", 1, 1, CHANGES_ALL, ""},
        {"dummy at the end", 10, 11, CHANGES_ALL, ""},
        {"beyond the end", 12, 99, CHANGES_ALL, ""},
        {"reversed", 9, 2, CHANGES_ALL, ""},
};

Test(changes, gives_the_rows_of_a_range)
{
        struct fixture x = setup();
        for (unsigned i = 0; i < COUNT(ranges); i++) {
                _cleanup_changes_ struct changes *changes = NULL;
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                cr_assert_eq(
                        changes_open(store_db(x.f.store), x.id, changes_fixture_lsn(ranges[i].from),
                                changes_fixture_lsn(ranges[i].to), ranges[i].filter, &changes),
                        0);
                cr_assert_eq(read_rows(changes, &buf), 0);
                cr_expect_str_eq(buf_string(&buf), ranges[i].rows, "%s: %s", ranges[i].name,
                        buf_string(&buf));
        }
        store_fixture_close(&x.f);
}

/* B062: consecutive windows repeat nothing and lose nothing. */
Test(changes, windows_add_up_wherever_they_are_cut)
{
        struct fixture x = setup();
        for (uint32_t cut = 1; cut < 11; cut++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                for (unsigned half = 0; half < 2; half++) {
                        _cleanup_changes_ struct changes *changes = NULL;
                        struct lsn border = changes_fixture_lsn(cut);
                        struct lsn from = half ? lsn_increment(border) : changes_fixture_lsn(1);
                        struct lsn to = half ? changes_fixture_lsn(11) : border;
                        cr_assert_eq(changes_open(store_db(x.f.store), x.id, from, to, CHANGES_ALL,
                                             &changes),
                                0);
                        cr_assert_eq(read_rows(changes, &buf), 0);
                }
                cr_expect_str_eq(buf_string(&buf), ranges[0].rows, "cut at %u", (unsigned)cut);
        }
        store_fixture_close(&x.f);
}

Test(changes, scans_nothing)
{
        struct fixture x = setup();
        struct changes *changes = NULL;
        const struct value *row;
        sqlite3 *db = store_db(x.f.store);
        cr_assert_eq(changes_open(db, x.id, changes_fixture_lsn(7), changes_fixture_lsn(7),
                             CHANGES_ALL_UPDATE_OLD, &changes),
                0);
        while (changes_next(changes, &row) > 0)
                ;
        for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(db, stmt));) {
                const char *sql = sqlite3_sql(stmt);
                if (strstr(sql, "_CT"))
                        cr_expect_eq(sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0),
                                0, "%s", sql);
        }
        changes_close(changes);
        store_fixture_close(&x.f);
}

Test(changes, has_the_columns_of_the_function)
{
        static const struct result_column wanted[] = {
                {"__$start_lsn", RESULT_LSN},
                {"__$seqval", RESULT_LSN},
                {"__$operation", RESULT_VALUE},
                {"__$update_mask", RESULT_VALUE},
                {"id", RESULT_VALUE},
                {"x", RESULT_VALUE},
        };
        struct fixture x = setup();
        _cleanup_changes_ struct changes *changes = NULL;
        cr_assert_eq(changes_open_range(store_db(x.f.store), x.id, (struct changes_range){1, 2},
                             CHANGES_ALL, &changes),
                0);
        const struct result_shape *shape = changes_shape(changes);
        cr_assert_eq(shape->count, COUNT(wanted));
        for (unsigned i = 0; i < COUNT(wanted); i++) {
                cr_expect_str_eq(shape->columns[i].name, wanted[i].name);
                cr_expect_eq(shape->columns[i].kind, wanted[i].kind, "%s", wanted[i].name);
        }
        changes_close(changes);
        changes = NULL;
        store_fixture_close(&x.f);
}

Test(changes, takes_ranges_of_numbers)
{
        static const struct {
                const char *name;
                struct changes_range range;
                const char *rows;
        } cases[] = {
                {"inside a commit", {2, 3}, "2:2:2:i2 4:3:1:-d2"},
                {"open end", {10, UINT64_MAX}, "9:10:1:-d1 9:11:1:-d3"},
                {"others' numbers", {6, 8}, ""},
                {"empty", {1, 0}, ""},
                {"far away", {UINT64_MAX / 2, UINT64_MAX}, ""},
                {"largest number with a rowid", {INT64_MAX / 2, INT64_MAX / 2}, ""},
        };
        struct fixture x = setup();
        for (unsigned i = 0; i < COUNT(cases); i++) {
                _cleanup_changes_ struct changes *changes = NULL;
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                cr_assert_eq(changes_open_range(store_db(x.f.store), x.id, cases[i].range,
                                     CHANGES_ALL_UPDATE_OLD, &changes),
                        0);
                cr_assert_eq(read_rows(changes, &buf), 0);
                cr_expect_str_eq(
                        buf_string(&buf), cases[i].rows, "%s: %s", cases[i].name, buf_string(&buf));
        }
        store_fixture_close(&x.f);
}

Test(changes, reads_filters_as_sql_server_does)
{
        static const struct {
                const char *text;
                int result;
                enum changes_filter filter;
        } cases[] = {
                {"all", 0, CHANGES_ALL},
                {" ALL  ", 0, CHANGES_ALL},
                {"all update old", 0, CHANGES_ALL_UPDATE_OLD},
                {"  All Update Old ", 0, CHANGES_ALL_UPDATE_OLD},
                {"all  update old", -EINVAL, 0},
                {"all with mask", -EINVAL, 0},
                {"al", -EINVAL, 0},
                {"allx", -EINVAL, 0},
                {"", -EINVAL, 0},
                {NULL, -EINVAL, 0},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                enum changes_filter filter = 0;
                cr_expect_eq(changes_parse_filter(cases[i].text, &filter), cases[i].result, "'%s'",
                        cases[i].text ? cases[i].text : "NULL");
                cr_expect_eq(
                        filter, cases[i].filter, "'%s'", cases[i].text ? cases[i].text : "NULL");
        }
}

/* A captured column may have any name that the rowid goes by; two are left then. */
Test(changes, finds_the_rowid_behind_columns_of_its_names)
{
        static const char *const tables[] = {"CREATE TABLE t(id INTEGER PRIMARY KEY, rowid)",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, _rowid_)",
                "CREATE TABLE t(_rowid_ INTEGER PRIMARY KEY, \"ROWID\")"};
        for (unsigned i = 0; i < COUNT(tables); i++) {
                struct store_fixture f;
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                store_fixture_open(&f, TEXT_UTF8);
                int64_t id = store_fixture_enable(&f, tables[i], "t", "main_t");
                changes_fixture_recognise(&f, id, 1);
                changes_fixture_commit(&f, id, 2, "i7 u7");
                struct changes *changes = NULL;
                cr_assert_eq(changes_open(store_db(f.store), id, changes_fixture_lsn(1),
                                     changes_fixture_lsn(2), CHANGES_ALL, &changes),
                        0);
                cr_assert_eq(read_rows(changes, &buf), 0);
                cr_expect_str_eq(buf_string(&buf), "2:1:2:i7 2:2:4:u7", "%s", tables[i]);
                changes_close(changes);
                store_fixture_close(&f);
        }
}

Test(changes, refuses_what_is_not_there_or_damaged)
{
        struct fixture x = setup();
        _cleanup_changes_ struct changes *changes = NULL;
        const struct value *row;
        cr_expect_eq(changes_open_range(store_db(x.f.store), 99, (struct changes_range){1, 2},
                             CHANGES_ALL, &changes),
                -ENOENT);
        store_fixture_check(
                sql_execute(store_db(x.f.store), "UPDATE main_t_CT SET \"__$start_lsn\" = 'none'"),
                "UPDATE");
        cr_assert_eq(changes_open_range(store_db(x.f.store), x.id, (struct changes_range){1, 2},
                             CHANGES_ALL, &changes),
                0);
        cr_expect_eq(changes_next(changes, &row), -EBADMSG);
        changes_close(changes);
        changes = NULL;
        store_fixture_close(&x.f);
}
