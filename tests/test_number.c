/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ground/cleanup.h"
#include "ground/number.h"
#include "prng.h"
#include "tmp.h"

static const struct {
        double value;
        const char *text;
} reals[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {9.0, "9.0"},
        {-9.0, "-9.0"},
        {0.1, "0.1"},
        {1.5, "1.5"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3.0, "0.3333333333333333"},
        {100000.0, "100000.0"},
        {123456789012345.0, "123456789012345.0"},
        {1234567890123456.0, "1234567890123456.0"},
        {9007199254740993.0, "9007199254740992.0"},
        {1e15, "1e+15"},
        {1e300, "1e+300"},
        {-2.5e-300, "-2.5e-300"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_TRUE_MIN, "4.94065645841247e-324"},
        {-DBL_MAX, "-1.7976931348623157e+308"},
};

static void expect_table(void)
{
        for (size_t i = 0; i < COUNT(reals); i++) {
                char text[NUMBER_SIZE];
                int length = number_format_real(reals[i].value, text);
                cr_expect_str_eq(text, reals[i].text);
                cr_expect_eq((size_t)length, strlen(text), "%s", reals[i].text);
        }
}

Test(number, reals_have_the_fewest_digits_and_a_point_or_exponent)
{
        expect_table();
}

/* A locale of its own whose decimal point is `point`, in the form that glibc compiles. */
static bool set_decimal_point(const char *point)
{
        uint32_t end = 32 + (uint32_t)strlen(point);
        uint32_t words = (end + 4) / 4 * 4;
        const uint32_t head[8] = {
                0x20031115 ^ LC_NUMERIC, 6, 32, end, end, words, words + 4, words + 8};
        const uint32_t wide = ',';
        char body[64] = {0};
        memcpy(body, head, sizeof(head));
        memcpy(body + 32, point, strlen(point));
        memcpy(body + words, &wide, sizeof(wide));
        memcpy(body + words + 8, "UTF-8", 6);

        struct tmp tmp;
        char folder[300], path[320];
        tmp_open(&tmp);
        snprintf(folder, sizeof(folder), "%s/comma", tmp.directory);
        snprintf(path, sizeof(path), "%s/LC_NUMERIC", folder);
        mkdir(folder, 0700);
        tmp_write(path, body, words + 14);
        setenv("LOCPATH", tmp.directory, 1);
        bool set = setlocale(LC_NUMERIC, "comma") != NULL;
        tmp_close(&tmp);
        return set;
}

Test(number, the_locale_changes_nothing)
{
        static const char *const points[] = {",", "\u066b"};
        for (size_t i = 0; i < COUNT(points); i++) {
                char text[16];
                setlocale(LC_NUMERIC, "C");
                if (!set_decimal_point(points[i]))
                        cr_skip_test("this C library takes no locale of ours");
                snprintf(text, sizeof(text), "1%s5", points[i]);
                cr_assert_eq(strtod(text, NULL), 1.5, "the locale is in force");
                expect_table();
        }
}

static void expect_round_trip(double value)
{
        char text[NUMBER_SIZE];
        int length = number_format_real(value, text);
        double back = strtod(text, NULL);
        cr_assert_eq(memcmp(&value, &back, sizeof(value)), 0, "%a: %s", value, text);
        cr_assert_eq((size_t)length, strlen(text));
        cr_assert_not_null(strpbrk(text, ".e"), "%s", text);
        cr_assert_eq(strspn(text, "0123456789.e+-"), (size_t)length, "%s", text);
}

Test(number, a_million_random_bit_patterns_round_trip)
{
        struct prng prng = {20261130};
        for (unsigned i = 0; i < 1000000; i++) {
                uint64_t bits = prng_next(&prng);
                double value;
                memcpy(&value, &bits, sizeof(value));
                if (isfinite(value))
                        expect_round_trip(value);
        }
}

Test(number, random_decimals_keep_their_digits)
{
        struct prng prng = {7};
        for (unsigned i = 0; i < 100000; i++) {
                char written[NUMBER_SIZE], text[NUMBER_SIZE];
                snprintf(written, sizeof(written), "%u.%02u", prng_below(&prng, 100000000),
                        prng_below(&prng, 100));
                double value = strtod(written, NULL);
                expect_round_trip(value);
                number_format_real(value, text);
                size_t length = strlen(text);
                cr_assert_eq(strncmp(written, text, length), 0, "%s: %s", written, text);
        }
}
