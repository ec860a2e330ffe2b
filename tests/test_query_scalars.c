/* SPDX-License-Identifier: MIT
 *
 * query_scalars: one value each, and "" where SQL Server gives NULL.
 */
#include "cdc.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "desk_fixture.h"

static void setup(struct desk_fixture *x)
{
        struct cdc_table_options options = {.table = "t", .supports_net_changes = -1};
        desk_fixture_open(x, "CREATE TABLE t(id INTEGER PRIMARY KEY, x)");
        cr_assert_eq(cdc_enable_db(&x->database, false, NULL, NULL, &x->error), 0);
        cr_assert_eq(cdc_enable_table(&x->database, &options, NULL, NULL, &x->error), 0);
        int64_t id = desk_fixture_id(x, "main_t");
        changes_fixture_recognise(desk_fixture_store(x), id, 10);
        changes_fixture_commit(desk_fixture_store(x), id, 15, "i1");
        store_close(x->f.store);
        x->f.store = NULL;
}

Test(query_scalars, map_between_times_and_lsns)
{
        struct desk_fixture x;
        char lsn[24], time[28];
        setup(&x);
        cr_expect_eq(cdc_map_time_to_lsn(&x.database, "smallest greater than",
                             "2026-11-30T10:00:10Z", lsn, &x.error),
                0);
        cr_expect_str_eq(lsn, "00000001:0000000f:0001");
        cr_expect_eq(cdc_map_lsn_to_time(&x.database, lsn, time, &x.error), 0);
        cr_expect_str_eq(time, "2026-11-30T10:00:15.000000Z");
        cr_expect_eq(
                cdc_map_time_to_lsn(&x.database, "smallest greater than", time, lsn, &x.error), 0);
        cr_expect_str_eq(lsn, "");
        cr_expect_eq(cdc_map_lsn_to_time(&x.database, "00000001000000100001", time, &x.error), 0);
        cr_expect_str_eq(time, "");
        cr_expect_eq(cdc_map_time_to_lsn(&x.database, "after", time, lsn, &x.error), -EINVAL);
        cr_expect_eq(cdc_map_lsn_to_time(&x.database, "1", time, &x.error), -EINVAL);
        desk_fixture_close(&x);
}

Test(query_scalars, tell_columns_and_their_bits)
{
        struct desk_fixture x;
        unsigned ordinal = 9;
        bool bit = false;
        setup(&x);
        cr_expect_eq(cdc_get_column_ordinal(&x.database, "main_t", "x", &ordinal, &x.error), 0);
        cr_expect_eq(ordinal, 2);
        cr_expect_eq(cdc_get_column_ordinal(&x.database, "main_t", "y", &ordinal, &x.error), 0);
        cr_expect_eq(ordinal, 0);
        cr_expect_eq(
                cdc_get_column_ordinal(&x.database, "main_u", "x", &ordinal, &x.error), -ENOENT);
        cr_expect_eq(x.error.number, 22981);
        cr_expect_eq(
                cdc_has_column_changed(&x.database, "main_t", "x", "\\x02", &bit, &x.error), 0);
        cr_expect(bit);
        cr_expect_eq(
                cdc_has_column_changed(&x.database, "main_t", "id", "0x02", &bit, &x.error), 0);
        cr_expect_not(bit);
        cr_expect_eq(
                cdc_has_column_changed(&x.database, "main_t", "y", "02", &bit, &x.error), -ENOENT);
        cr_expect_eq(
                cdc_has_column_changed(&x.database, "main_t", "x", "2", &bit, &x.error), -EINVAL);
        desk_fixture_close(&x);
}

Test(query_scalars, read_bits_from_the_end)
{
        static const struct {
                unsigned position;
                const char *mask;
                bool bit;
        } cases[] = {{1, "\\x01", true}, {2, "\\x01", false}, {9, "0x0100", true},
                {8, "0x0080", true}, {17, "0x0100", false}, {0, "0xff", false}, {1, "", false}};
        for (unsigned i = 0; i < COUNT(cases); i++) {
                bool bit = !cases[i].bit;
                struct cdc_error error;
                cr_expect_eq(cdc_is_bit_set(cases[i].position, cases[i].mask, &bit, &error), 0);
                cr_expect_eq(bit, cases[i].bit, "%u of %s", cases[i].position, cases[i].mask);
        }
}
