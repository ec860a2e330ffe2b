/* SPDX-License-Identifier: MIT
 *
 * scalars: every function, by each of its names, with what is there and what is not.
 */
#include "extension_fixture.h"

static const struct {
        const char *sql, *wanted;
} cases[] = {
        {"SELECT get_min_lsn('main_t')", "x000000010000000a0001"},
        {"SELECT get_min_lsn()", "x000000010000000a0001"},
        {"SELECT get_min_lsn('main_pending')", "NULL"},
        {"SELECT get_min_lsn('main_x')", "x00000000000000000000"},
        {"SELECT get_min_lsn('MAIN_T')", "x00000000000000000000"},
        {"SELECT get_min_lsn(NULL)", "NULL"},
        {"SELECT get_max_lsn()", "x00000001000000140001"},
        {"SELECT fn_cdc_get_max_lsn() = sys_fn_cdc_get_max_lsn()", "1"},
        {"SELECT increment_lsn(x'0000000100000014ffff')", "x00000001000000150000"},
        {"SELECT increment_lsn('00000001:00000014:0001')", "x00000001000000140002"},
        {"SELECT sys_fn_cdc_decrement_lsn('0x00000001000000140000')", "x0000000100000013ffff"},
        {"SELECT decrement_lsn(increment_lsn(get_max_lsn())) = get_max_lsn()", "1"},
        {"SELECT increment_lsn(NULL)", "NULL"},
        {"SELECT map_time_to_lsn('largest less than', '2026-11-30T10:00:20Z')",
                "x000000010000000f0001"},
        {"SELECT map_time_to_lsn('largest less than or equal', '2026-11-30T10:00:20Z')",
                "x00000001000000140001"},
        {"SELECT map_time_to_lsn('smallest greater than', '2026-11-30T10:00:15Z')",
                "x00000001000000140001"},
        {"SELECT map_time_to_lsn('smallest greater than or equal', '2026-11-30T10:00:15Z')",
                "x000000010000000f0001"},
        {"SELECT map_time_to_lsn('smallest greater than', '2026-11-30T10:00:20Z')", "NULL"},
        {"SELECT map_time_to_lsn('largest less than', NULL)", "NULL"},
        {"SELECT map_lsn_to_time(x'000000010000000f0001')", "2026-11-30T10:00:15.000000Z"},
        {"SELECT map_lsn_to_time('00000001:00000010:0001')", "NULL"},
        {"SELECT map_lsn_to_time(NULL)", "NULL"},
        {"SELECT is_bit_set(9, x'01ff'), is_bit_set(10, x'01ff'), is_bit_set(1, '\\x02')", "1|0|0"},
        {"SELECT is_bit_set(17, x'ffff'), is_bit_set(0, x'ff'), is_bit_set(-1, x'ff')", "0|0|0"},
        {"SELECT is_bit_set(1, NULL), is_bit_set(NULL, x'01')", "NULL|NULL"},
        {"SELECT get_column_ordinal('main_t', 'X'), get_column_ordinal('main_t', 'y')", "2|NULL"},
        {"SELECT get_column_ordinal('main_x', 'x')", "NULL"},
        {"SELECT has_column_changed('main_t', 'x', x'02'), has_column_changed('main_t', 'id', "
         "x'02')",
                "1|0"},
        {"SELECT has_column_changed('main_t', 'y', x'02'), has_column_changed('main_t', 'x', NULL)",
                "NULL|NULL"},
        {"SELECT fn_cdc_has_column_changed('main_t', 'x', '0x02')", "1"},
};

Test(scalars, give_what_the_functions_give)
{
        struct extension_fixture x;
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.store);
        for (unsigned i = 0; i < COUNT(cases); i++)
                extension_fixture_expect(db, cases[i].sql, cases[i].wanted);
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}

Test(scalars, say_what_is_wrong)
{
        static const char *const wrong[][2] = {
                {"SELECT increment_lsn('12')", "is no LSN"},
                {"SELECT increment_lsn(x'12')", "is no LSN"},
                {"SELECT map_lsn_to_time('now')", "is no LSN"},
                {"SELECT map_time_to_lsn('before', '2026-11-30T10:00:20Z')", "relational operator"},
                {"SELECT map_time_to_lsn('largest less than', 'noon')", "no time"},
                {"SELECT is_bit_set(1, 'x')", "no update mask"},
                {"SELECT get_min_lsn('a', 'b')", "wrong number of arguments"},
        };
        struct extension_fixture x;
        extension_fixture_open(&x);
        sqlite3 *db = extension_fixture_load(x.store);
        for (unsigned i = 0; i < COUNT(wrong); i++)
                extension_fixture_expect_words(db, wrong[i][0], wrong[i][1]);
        sqlite3_close_v2(db);
        extension_fixture_close(&x);
}
