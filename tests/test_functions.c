/* SPDX-License-Identifier: MIT
 *
 * functions: SQL Server's functions over a store, by what the user writes.
 */
#include "faces/functions.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "changes_fixture.h"
#include "ground/clock.h"

struct fixture {
        struct store_fixture f;
        sqlite3 *db;
        int64_t id;
};

/* main_t from frame 10 to 20, main_nk without a key. */
static struct fixture setup(void)
{
        struct fixture x;
        store_fixture_open(&x.f, TEXT_UTF8);
        x.db = store_db(x.f.store);
        x.id = changes_fixture_enable(&x.f, "main_t");
        changes_fixture_recognise(&x.f, x.id, 10);
        int64_t other = store_fixture_enable(&x.f, "CREATE TABLE nk(a, b)", "nk", "main_nk");
        changes_fixture_recognise(&x.f, other, 12);
        changes_fixture_commit(&x.f, x.id, 15, "i1 i2");
        changes_fixture_commit(&x.f, x.id, 20, "u1 d2");
        return x;
}

static const char lsn10[] = "00000001:0000000a:0001", lsn15[] = "0000000100000000f0001",
                  lsn20[] = "0x00000001000000140001", after20[] = "00000001:00000014:0002";

static const struct {
        const char *name;
        struct functions_window window;
        int all, net, number; /* results; the number of both */
} windows[] = {
        {"whole", {"main_t", lsn10, lsn20, NULL}, 0, 0, 0},
        {"filter of both", {"main_t", lsn10, lsn20, "all"}, 0, 0, 0},
        {"unknown instance", {"main_x", lsn10, lsn20, NULL}, -ENOENT, -ENOENT, 22981},
        {"unknown filter", {"main_t", lsn10, lsn20, "some"}, -EINVAL, -EINVAL, 313},
        {"no from", {"main_t", NULL, lsn20, NULL}, -EINVAL, -EINVAL, 313},
        {"no to", {"main_t", lsn10, NULL, NULL}, -EINVAL, -EINVAL, 313},
        {"no LSN", {"main_t", lsn15, lsn20, NULL}, -EINVAL, -EINVAL, 0},
        {"before min", {"main_t", "00000001000000010001", lsn20, NULL}, -ERANGE, -ERANGE, 313},
        {"nothing new", {"main_t", after20, lsn20, NULL}, -EAGAIN, -EAGAIN, 0},
};

Test(functions, open_what_may_be_read)
{
        struct fixture x = setup();
        for (unsigned i = 0; i < COUNT(windows); i++) {
                _cleanup_changes_ struct changes *changes = NULL;
                _cleanup_netchanges_ struct netchanges *net = NULL;
                struct problem problem = {0};
                cr_expect_eq(functions_get_all(x.db, &windows[i].window, &problem, &changes),
                        windows[i].all, "%s", windows[i].name);
                cr_expect_eq(problem.number, windows[i].number, "%s", windows[i].name);
                problem = (struct problem){0};
                cr_expect_eq(functions_get_net(x.db, &windows[i].window, &problem, &net),
                        windows[i].net, "%s", windows[i].name);
                cr_expect_eq(problem.number, windows[i].number, "%s", windows[i].name);
        }
        store_fixture_close(&x.f);
}

/* B061 */
Test(functions, refuse_net_changes_without_a_key)
{
        struct fixture x = setup();
        struct changes *changes = NULL;
        struct netchanges *net = NULL;
        struct problem problem = {0};
        const struct functions_window window = {"main_nk", "00000001:0000000c:0001", lsn20, "all"};
        cr_expect_eq(functions_get_net(x.db, &window, &problem, &net), -ENOTSUP);
        cr_expect_eq(problem.number, 208);
        cr_expect_eq(functions_get_all(x.db, &window, &problem, &changes), 0);
        changes_close(changes);
        store_fixture_close(&x.f);
}

Test(functions, know_each_others_filters_apart)
{
        enum changes_filter all;
        enum netchanges_filter net;
        cr_expect_eq(functions_parse_all("all update old", NULL, &all), 0);
        cr_expect_eq(functions_parse_all("all with mask", NULL, &all), -EINVAL);
        cr_expect_eq(functions_parse_net(" ALL with mask", NULL, &net), 0);
        cr_expect_eq(functions_parse_net("all update old", NULL, &net), -EINVAL);
}

/* The mapping has rows of frames 10, 12, 15 and 20, one second a frame. */
Test(functions, map_times_by_each_operator)
{
        static const struct {
                int seconds;
                uint32_t less, less_or_equal, greater, greater_or_equal; /* 0 = NULL */
        } cases[] = {
                {9, 0, 0, 10, 10},
                {10, 0, 10, 12, 10},
                {11, 10, 10, 12, 12},
                {20, 15, 20, 0, 20},
                {21, 20, 20, 0, 0},
        };
        static const char *const operators[] = {"largest less than", "largest less than or equal",
                "smallest greater than", "SMALLEST GREATER THAN OR EQUAL"};
        struct fixture x = setup();
        for (unsigned i = 0; i < 4 * COUNT(cases); i++) {
                const uint32_t wanted[] = {cases[i / 4].less, cases[i / 4].less_or_equal,
                        cases[i / 4].greater, cases[i / 4].greater_or_equal};
                char time[CLOCK_TEXT_SIZE];
                struct lsn lsn = {{0}};
                clock_format(STORE_FIXTURE_NOW + cases[i / 4].seconds * INT64_C(1000000000), time);
                int r = functions_map_time(x.db, operators[i % 4], time, NULL, &lsn);
                cr_expect_eq(r, wanted[i % 4] != 0, "%s %s", operators[i % 4], time);
                cr_expect_eq(lsn_frame(lsn), wanted[i % 4], "%s %s", operators[i % 4], time);
        }
        struct lsn lsn;
        struct problem problem = {0};
        cr_expect_eq(functions_map_time(x.db, "less than", "2026-11-30T10:00:00Z", &problem, &lsn),
                -EINVAL);
        cr_expect_not_null(strstr(problem.message, "smallest greater than or equal"));
        cr_expect_eq(functions_map_time(x.db, operators[0], "now", &problem, &lsn), -EINVAL);
        store_fixture_close(&x.f);
}

Test(functions, map_lsns_that_are_there)
{
        struct fixture x = setup();
        int64_t wall_ns = 0;
        cr_expect_eq(functions_map_lsn(x.db, changes_fixture_lsn(15), &wall_ns), 1);
        cr_expect_eq(wall_ns, STORE_FIXTURE_NOW + 15 * INT64_C(1000000000));
        cr_expect_eq(functions_map_lsn(x.db, changes_fixture_lsn(16), &wall_ns), 0);
        store_fixture_close(&x.f);
}

Test(functions, find_columns_and_instances)
{
        struct fixture x = setup();
        unsigned ordinal = 0;
        int64_t id = 0;
        cr_expect_eq(functions_find_column(x.db, x.id, "X", &ordinal), 1);
        cr_expect_eq(ordinal, 2);
        cr_expect_eq(functions_find_column(x.db, x.id, "y", &ordinal), 0);
        cr_expect_eq(functions_find_column(x.db, 99, "x", &ordinal), 0);
        cr_expect_eq(functions_find_instance(x.db, "main_t", NULL, &id), 0);
        cr_expect_eq(id, x.id);
        cr_expect_eq(functions_find_instance(x.db, "MAIN_t", NULL, &id), -ENOENT);
        store_fixture_close(&x.f);
}

Test(functions, read_masks)
{
        static const struct {
                const char *text;
                int result;
                unsigned first, size;
        } cases[] = {
                {"\\x01ff", 0, 1, 2},
                {"0X1F", 0, 0x1f, 1},
                {"aB", 0, 0xab, 1},
                {"", 0, 0, 0},
                {"\\x1", -EINVAL, 0, 0},
                {"0xzz", -EINVAL, 0, 0},
                {"x", -EINVAL, 0, 0},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf mask = BUF_INIT;
                cr_expect_eq(functions_parse_mask(cases[i].text, &mask, NULL), cases[i].result,
                        "%s", cases[i].text);
                if (cases[i].result < 0)
                        continue;
                cr_expect_eq(mask.size, cases[i].size, "%s", cases[i].text);
                cr_expect_eq(mask.size ? mask.data[0] : 0, cases[i].first, "%s", cases[i].text);
        }
}
