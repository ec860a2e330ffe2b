/* SPDX-License-Identifier: MIT
 *
 * query_changes: the change functions from the outside, by LSNs and by times.
 */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>

#include "desk_fixture.h"

/* main_t from frame 10 to 20, a second a frame after 2026-11-30T10:00:00Z; main_nk has no key. */
static void setup(struct desk_fixture *x)
{
        struct cdc_table_options options = {.table = "t", .supports_net_changes = -1};
        desk_fixture_open(x, "CREATE TABLE t(id INTEGER PRIMARY KEY, x); CREATE TABLE nk(a, b)");
        cr_assert_eq(cdc_enable_db(&x->database, false, NULL, NULL, &x->error), 0);
        cr_assert_eq(cdc_enable_table(&x->database, &options, NULL, NULL, &x->error), 0);
        options.table = "nk";
        cr_assert_eq(cdc_enable_table(&x->database, &options, NULL, NULL, &x->error), 0);
        int64_t id = desk_fixture_id(x, "main_t");
        int64_t other = desk_fixture_id(x, "main_nk");
        changes_fixture_recognise(desk_fixture_store(x), id, 10);
        changes_fixture_recognise(desk_fixture_store(x), other, 11);
        changes_fixture_commit(desk_fixture_store(x), id, 15, "i1 i2");
        changes_fixture_commit(desk_fixture_store(x), id, 20, "u1 d2 u3");
        store_close(x->f.store);
        x->f.store = NULL;
}

static char *write_rows(struct desk_fixture *x, struct cdc_rows *rows)
{
        const char *path = store_fixture_path(&x->f, "out");
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        cr_assert_eq(cdc_rows_write(rows, "csv", fd), 0);
        close(fd);
        cdc_rows_close(rows);
        char *text = tmp_read(path, NULL);
        unlink(path);
        return text;
}

static const char lsn10[] = "00000001:0000000a:0001", lsn15[] = "00000001:0000000f:0001",
                  lsn20[] = "00000001:00000014:0001";

#define NET_HEADER "__$start_lsn,__$operation,__$update_mask,id,x\n"

Test(query_changes, gives_net_changes)
{
        static const struct {
                const char *from, *to, *filter, *wanted;
        } cases[] = {
                {lsn10, lsn20, NULL,
                        NET_HEADER "00000001:00000014:0001,2,,1,\"u1\"\n"
                                   "00000001:00000014:0001,4,\\x02,3,\"u3\"\n"},
                {lsn10, lsn20, "all",
                        NET_HEADER "00000001:00000014:0001,2,,1,\"u1\"\n"
                                   "00000001:00000014:0001,4,,3,\"u3\"\n"},
                {lsn20, lsn20, "all with merge",
                        NET_HEADER "00000001:00000014:0001,5,,1,\"u1\"\n"
                                   "00000001:00000014:0001,1,,2,\"-d2\"\n"
                                   "00000001:00000014:0001,5,,3,\"u3\"\n"},
                {lsn10, lsn10, NULL, NET_HEADER},
        };
        struct desk_fixture x;
        setup(&x);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct cdc_rows *rows = NULL;
                cr_assert_eq(cdc_get_net_changes(&x.database, "main_t", cases[i].from, cases[i].to,
                                     cases[i].filter, &rows, &x.error),
                        0, "%s", x.error.message);
                _cleanup_free_ char *text = write_rows(&x, rows);
                cr_expect_str_eq(text, cases[i].wanted, "%u: %s", i, text);
        }
        desk_fixture_close(&x);
}

Test(query_changes, refuses_net_changes_by_cause)
{
        static const struct {
                const char *instance, *from, *to, *filter;
                int result, number;
        } cases[] = {
                {"main_nk", lsn15, lsn20, NULL, -ENOTSUP, 208},
                {"main_x", lsn15, lsn20, NULL, -ENOENT, 22981},
                {"main_t", lsn15, lsn20, "all update old", -EINVAL, 313},
                {"main_t", lsn20, lsn15, NULL, -EINVAL, 313},
                {"main_t", NULL, lsn15, NULL, -EINVAL, 313},
                {"main_t", "00000001:00000014:0002", lsn20, NULL, -EAGAIN, 0},
        };
        struct desk_fixture x;
        setup(&x);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct cdc_rows *rows = NULL;
                memset(&x.error, 0, sizeof x.error);
                cr_expect_eq(cdc_get_net_changes(&x.database, cases[i].instance, cases[i].from,
                                     cases[i].to, cases[i].filter, &rows, &x.error),
                        cases[i].result, "%u: %s", i, x.error.message);
                cr_expect_eq(x.error.number, cases[i].number, "%u", i);
                cr_expect_null(rows);
        }
        desk_fixture_close(&x);
}

static unsigned count_rows(struct cdc_rows *rows)
{
        unsigned count = 0;
        while (cdc_rows_next(rows) == 1)
                count++;
        cdc_rows_close(rows);
        return count;
}

Test(query_changes, reads_windows_of_time)
{
        static const struct {
                const char *from, *to;
                int result, number;
                unsigned all, net; /* rows */
        } cases[] = {
                {NULL, NULL, 0, 0, 7, 2},
                {"2026-11-30T10:00:10Z", "2026-11-30T10:00:15Z", 0, 0, 2, 2},
                {"2026-11-30T10:00:15Z", "2026-11-30T10:00:20Z", 0, 0, 5, 3},
                {"2026-11-30T10:00:14.999999Z", NULL, 0, 0, 7, 2},
                {"2026-11-30T10:00:16Z", "2026-11-30T10:00:19Z", 0, 0, 0, 0},
                {"2026-11-30T10:00:20Z", NULL, 0, 0, 0, 0},
                {"2026-11-30T10:00:09Z", NULL, -ERANGE, 313, 0, 0},
                {NULL, "2026-11-30T10:00:21Z", -ERANGE, 313, 0, 0},
                {"2026-11-30T10:00:16Z", "2026-11-30T10:00:15Z", -EINVAL, 313, 0, 0},
                {"noon", NULL, -EINVAL, 0, 0, 0},
        };
        struct desk_fixture x;
        setup(&x);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct cdc_rows *rows = NULL;
                memset(&x.error, 0, sizeof x.error);
                int r = cdc_get_all_changes_by_time(
                        &x.database, "main_t", cases[i].from, cases[i].to, NULL, &rows, &x.error);
                cr_expect_eq(r, cases[i].result, "%u: %d %s", i, r, x.error.message);
                cr_expect_eq(x.error.number, cases[i].number, "%u", i);
                if (r == 0)
                        cr_expect_eq(count_rows(rows), cases[i].all, "%u", i);
                r = cdc_get_net_changes_by_time(
                        &x.database, "main_t", cases[i].from, cases[i].to, "all", &rows, &x.error);
                cr_expect_eq(r, cases[i].result, "%u: %d %s", i, r, x.error.message);
                if (r == 0)
                        cr_expect_eq(count_rows(rows), cases[i].net, "%u", i);
        }
        struct cdc_rows *rows = NULL;
        cr_expect_eq(cdc_get_net_changes_by_time(
                             &x.database, "main_nk", NULL, NULL, NULL, &rows, &x.error),
                -ENOTSUP);
        cr_expect_eq(cdc_get_all_changes_by_time(
                             &x.database, "main_x", NULL, NULL, NULL, &rows, &x.error),
                -ENOENT);
        cr_expect_eq(cdc_get_all_changes_by_time(
                             &x.database, "main_t", NULL, NULL, "all with mask", &rows, &x.error),
                -EINVAL);
        desk_fixture_close(&x);
}
