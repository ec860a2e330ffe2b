/* SPDX-License-Identifier: MIT */
#include "desk/rangename.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "ground/cleanup.h"

#define SECOND INT64_C(1000000000)
#define TEN (INT64_C(1796032800) * SECOND) /* 2026-11-30T10:00:00Z */

Test(rangename, of_times_is_read_to_the_microsecond)
{
        static const struct {
                const char *name, *suffix;
                int64_t from_ns, to_ns;
        } cases[] = {
                {"20261130T100000Z-20261130T110000Z.csv", ".csv", TEN, TEN + 3600 * SECOND},
                {"20261130T100001Z-20261130T100000Z.jsonl", ".jsonl", TEN + SECOND, TEN},
                {"20261130T100000.5Z-20261130T100000.000001Z.csv", ".csv", TEN + SECOND / 2,
                        TEN + 1000},
                /* as long as a name by LSN */
                {"20261130T100000.250Z-20261130T100000.750Z.csv", ".csv", TEN + SECOND / 4,
                        TEN + 3 * SECOND / 4},
                {"19700101T000000Z-20000229T000000Z.csv", ".csv", 0, 951782400 * SECOND},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct rangename range = {0};
                cr_assert_eq(rangename_parse(cases[i].name, cases[i].suffix, &range), 0, "%s",
                        cases[i].name);
                cr_expect(range.is_by_time);
                cr_expect_eq(range.from_ns, cases[i].from_ns, "%s", cases[i].name);
                cr_expect_eq(range.to_ns, cases[i].to_ns, "%s", cases[i].name);
        }
}

Test(rangename, of_lsns_has_their_digits)
{
        struct rangename range = {0};
        cr_assert_eq(
                rangename_parse("0000000100000002000a-00000001000000030001.csv", ".csv", &range),
                0);
        cr_expect_not(range.is_by_time);
        cr_expect_eq(lsn_compare(range.from_lsn, lsn_make(1, 2, 10)), 0);
        cr_expect_eq(lsn_compare(range.to_lsn, lsn_make(1, 3, 1)), 0);
}

Test(rangename, is_nothing_else)
{
        static const char *const names[] = {"", ".csv", "-.csv", "x.csv",
                "20261130T100000Z-20261130T110000Z", "20261130T100000Z-20261130T110000Z.jsonl",
                "20261130T100000Z.csv", "20261130T100000Z-.csv", "-20261130T100000Z.csv",
                "20261130T100000-20261130T110000.csv", "20261130T100000z-20261130T110000z.csv",
                "20261130t100000Z-20261130T110000Z.csv", "20261130T1000Z-20261130T1100Z.csv",
                "20261131T100000Z-20261130T110000Z.csv", "20261130T250000Z-20261130T110000Z.csv",
                "20261130T100000Z-20261130T110000Z.csv.csv",
                "20261130T100000.Z-20261130T110000Z.csv",
                "20261130T100000.1234567Z-20261130T110000Z.csv",
                "20261130T100000+0100-20261130T110000Z.csv",
                "2026-11-30T10:00:00Z-2026-11-30T11:00:00Z.csv",
                "20261130T100000Z-00000001000000030001.csv",
                "00000001000000030001-20261130T100000Z.csv",
                "20261130T100000Z-20261130T110000Z-20261130T120000Z.csv",
                "20261130T100000Z-20261130T110000Z .csv", "20261130T100000\n-20261130T110000Z.csv",
                "00000001000000020001-00000001000000030001-00000001000000030001.csv"};
        for (size_t i = 0; i < COUNT(names); i++) {
                struct rangename range;
                cr_expect_eq(rangename_parse(names[i], ".csv", &range), -ENOENT, "%s", names[i]);
        }
}
