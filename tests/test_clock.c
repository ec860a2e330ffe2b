/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>

#include "ground/cleanup.h"
#include "ground/clock.h"

#define SECOND INT64_C(1000000000)

static const struct {
        int64_t ns;
        const char *text;
} times[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {1000, "1970-01-01T00:00:00.000001Z"},
        {-1000, "1969-12-31T23:59:59.999999Z"},
        {-SECOND, "1969-12-31T23:59:59.000000Z"},
        {951782400 * SECOND, "2000-02-29T00:00:00.000000Z"},
        {1796032800 * SECOND + 123456000, "2026-11-30T10:00:00.123456Z"},
        {9223372036 * SECOND + 854775000, "2262-04-11T23:47:16.854775Z"},
        {-9223372036 * SECOND, "1677-09-21T00:12:44.000000Z"},
};

Test(clock, times_are_utc_with_microseconds)
{
        for (size_t i = 0; i < COUNT(times); i++) {
                char text[CLOCK_TEXT_SIZE];
                clock_format(times[i].ns, text);
                cr_expect_str_eq(text, times[i].text);
        }
}

Test(clock, what_is_written_is_read_back)
{
        for (size_t i = 0; i < COUNT(times); i++) {
                int64_t ns = 0;
                cr_expect_eq(clock_parse(times[i].text, &ns), 0, "%s", times[i].text);
                cr_expect_eq(ns, times[i].ns, "%s: %" PRId64, times[i].text, ns);
        }
}

Test(clock, microseconds_are_truncated_never_rounded)
{
        char text[CLOCK_TEXT_SIZE];
        clock_format(999999999, text);
        cr_expect_str_eq(text, "1970-01-01T00:00:00.999999Z");
        clock_format(-1, text);
        cr_expect_str_eq(text, "1969-12-31T23:59:59.999999Z");
}

Test(clock, extreme_times_have_a_text)
{
        char text[CLOCK_TEXT_SIZE];
        clock_format(INT64_MAX, text);
        cr_expect_str_eq(text, "2262-04-11T23:47:16.854775Z");
        clock_format(INT64_MIN, text);
        cr_expect_str_eq(text, "1677-09-21T00:12:43.145224Z");
}

Test(clock, a_fraction_may_be_absent_or_have_one_to_nine_digits)
{
        static const struct {
                const char *text;
                int64_t ns;
        } cases[] = {
                {"1970-01-01T00:00:01Z", SECOND},
                {"1970-01-01T00:00:01.5Z", SECOND + 500000000},
                {"1970-01-01T00:00:01.050Z", SECOND + 50000000},
                {"1970-01-01T00:00:01.000000001Z", SECOND + 1},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                int64_t ns = 0;
                cr_expect_eq(clock_parse(cases[i].text, &ns), 0, "%s", cases[i].text);
                cr_expect_eq(ns, cases[i].ns, "%s", cases[i].text);
        }
}

Test(clock, what_is_no_time_is_refused)
{
        static const char *const cases[] = {
                "",
                "now",
                "1970-01-01",
                "1970-01-01T00:00:00",
                "1970-01-01 00:00:00Z",
                "1970-01-01T00:00:00+00:00",
                "1970-01-01T00:00:00.Z",
                "1970-01-01T00:00:00.0000000001Z",
                "1970-01-01T00:00:00Zjunk",
                " 1970-01-01T00:00:00Z",
                "-970-01-01T00:00:00Z",
                "1970-1-01T00:00:00Z",
                "1970-00-01T00:00:00Z",
                "1970-13-01T00:00:00Z",
                "1970-01-00T00:00:00Z",
                "2026-02-29T00:00:00Z",
                "2026-04-31T00:00:00Z",
                "1970-01-01T24:00:00Z",
                "1970-01-01T00:60:00Z",
                "1970-01-01T00:00:60Z",
                "1600-01-01T00:00:00Z",
                "2262-04-11T23:47:17Z",
                "9999-12-31T23:59:59Z",
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                int64_t ns = 77;
                cr_expect_eq(clock_parse(cases[i], &ns), -EINVAL, "%s", cases[i]);
                cr_expect_eq(ns, 77, "%s", cases[i]);
        }
}

static int64_t fixed(void *context)
{
        return *(int64_t *)context;
}

Test(clock, a_test_sets_its_own_clocks)
{
        int64_t now = 42;
        struct clock clock = {.wall = fixed, .context = &now};
        cr_expect_eq(clock_wall(&clock), 42);
        cr_expect_neq(clock_monotonic(&clock), 42);
        clock = (struct clock){.monotonic = fixed, .context = &now};
        cr_expect_eq(clock_monotonic(&clock), 42);
        cr_expect_neq(clock_wall(&clock), 42);
}

Test(clock, the_systems_clocks_serve_without_a_struct)
{
        int64_t before = clock_monotonic(NULL);
        cr_expect_geq(clock_monotonic(NULL), before);
        cr_expect_gt(clock_wall(NULL), 1700000000 * SECOND);
}

Test(clock, stamps_rise_strictly)
{
        static const struct {
                const char *name;
                int64_t now, last, stamp;
        } cases[] = {
                {"clock moved on", 10, 5, 10},
                {"clock stood still", 10, 10, 11},
                {"clock was set back", 3, 10, 11},
                {"first stamp", 10, 0, 10},
        };
        for (size_t i = 0; i < COUNT(cases); i++)
                cr_expect_eq(clock_stamp_after(cases[i].now, cases[i].last), cases[i].stamp, "%s",
                        cases[i].name);
}
