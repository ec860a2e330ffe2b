/* SPDX-License-Identifier: MIT
 *
 * scalar: digits as printf would write them, and the look at a text at every length and place.
 */
#include "faces/scalar.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/number.h"
#include "prng.h"

Test(scalar, writes_integers_as_printf_does)
{
        static const int64_t edges[] = {0, 1, -1, 9, 10, 11, 99, 100, -100, INT32_MAX, INT32_MIN,
                INT64_MAX, INT64_MIN, INT64_MIN + 1};
        struct prng prng = {1};
        for (unsigned i = 0; i < 10000 + COUNT(edges); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                char wanted[32];
                int64_t value = i < COUNT(edges)
                                        ? edges[i]
                                        : (int64_t)(prng_next(&prng) >> prng_below(&prng, 64));
                snprintf(wanted, sizeof wanted, "%" PRId64, value);
                scalar_append_integer(&buf, value);
                cr_expect_str_eq(buf_string(&buf), wanted);
        }
}

Test(scalar, writes_reals_as_number_does)
{
        static const double edges[] = {0.0, -0.0, 9, -9, 1e6, 999999999999999.0, -999999999999999.0,
                1e15, -1e15, 2e15, 1e16, 0.5, -0.5, 0.1, 1e300, 5e-324};
        struct prng prng = {2};
        for (unsigned i = 0; i < 20000 + COUNT(edges); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                char wanted[NUMBER_SIZE];
                double value = i < COUNT(edges) ? edges[i]
                                                : (double)(int64_t)prng_next(&prng) /
                                                          (1 << prng_below(&prng, 20));
                number_format_real(value, wanted);
                scalar_append_real(&buf, value);
                cr_expect_str_eq(buf_string(&buf), wanted);
        }
}

/* Prices, rates, coordinates: every number of digits on both sides of the point. */
Test(scalar, writes_short_decimals_as_number_does)
{
        struct prng prng = {4};
        for (unsigned i = 0; i < 200000; i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                char decimal[64], wanted[NUMBER_SIZE];
                snprintf(decimal, sizeof decimal, "%s%" PRIu64 ".%0*" PRIu64, i % 2 ? "-" : "",
                        prng_next(&prng) >> (14 + prng_below(&prng, 50)),
                        (int)prng_below(&prng, 12) + 1,
                        prng_next(&prng) >> (24 + prng_below(&prng, 40)));
                double value = strtod(decimal, NULL);
                number_format_real(value, wanted);
                scalar_append_real(&buf, value);
                cr_assert_str_eq(buf_string(&buf), wanted, "%s", decimal);
        }
}

Test(scalar, keeps_the_sign_of_zero)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        scalar_append_real(&buf, -0.0);
        cr_expect_str_eq(buf_string(&buf), "-0.0");
}

Test(scalar, writes_lsns_as_lsn_does)
{
        struct prng prng = {3};
        for (unsigned i = 0; i < 1000; i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                struct lsn lsn = lsn_make((uint32_t)prng_next(&prng), (uint32_t)prng_next(&prng),
                        (uint16_t)prng_next(&prng));
                char wanted[LSN_TEXT_SIZE];
                lsn_format(lsn, wanted);
                scalar_append_lsn(&buf, lsn.bytes);
                cr_expect_str_eq(buf_string(&buf), wanted);
        }
}

/* What the eight bytes at a time must find, at every place of texts of every length. */
Test(scalar, finds_what_needs_care_wherever_it_stands)
{
        static const struct {
                const char *name;
                uint8_t byte;
                enum scalar_care care;
        } cases[] = {
                {"blank", ' ', SCALAR_PLAIN},
                {"quote", '"', SCALAR_TEXT},
                {"backslash", '\\', SCALAR_TEXT},
                {"newline", '\n', SCALAR_TEXT},
                {"last control", 0x1f, SCALAR_TEXT},
                {"delete", 0x7f, SCALAR_PLAIN},
                {"bang", '!', SCALAR_PLAIN},
                {"hash", '#', SCALAR_PLAIN},
                {"NUL", 0, SCALAR_ODD},
                {"lone tail", 0x80, SCALAR_ODD},
                {"lone head", 0xc3, SCALAR_ODD},
                {"never in UTF-8", 0xff, SCALAR_ODD},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                for (unsigned size = 1; size <= 40; size++) {
                        for (unsigned at = 0; at < size; at++) {
                                uint8_t bytes[40];
                                struct scalar_text text;
                                memset(bytes, 'a', sizeof bytes);
                                bytes[at] = cases[i].byte;
                                struct value value = {VALUE_TEXT, size, {.bytes = bytes}};
                                cr_assert_eq(scalar_text_read(&value, TEXT_UTF8, &text), 0);
                                cr_expect_eq(text.care, cases[i].care, "%s at %u of %u",
                                        cases[i].name, at, size);
                                scalar_text_release(&text);
                        }
                }
        }
}

Test(scalar, takes_an_empty_text_for_plain)
{
        struct value value = {VALUE_TEXT, 0, {.bytes = NULL}};
        for (int encoding = TEXT_UTF8; encoding <= TEXT_UTF16BE; encoding++) {
                struct scalar_text text;
                cr_assert_eq(scalar_text_read(&value, (enum text_encoding)encoding, &text), 0);
                cr_expect_eq(text.care, SCALAR_PLAIN);
                cr_expect_eq(text.size, 0);
                scalar_text_release(&text);
        }
}

Test(scalar, converts_utf16)
{
        static const struct {
                const char *name;
                enum text_encoding encoding;
                const char *bytes;
                uint32_t size;
                const char *wanted; /* NULL: odd */
        } cases[] = {
                {"little", TEXT_UTF16LE, "a\0\xe9\0", 4, "a\xc3\xa9"},
                {"big", TEXT_UTF16BE, "\0a\0\xe9", 4, "a\xc3\xa9"},
                {"pair", TEXT_UTF16LE, "\x3d\xd8\x00\xde", 4, "\xf0\x9f\x98\x80"},
                {"byte order mark", TEXT_UTF16LE, "\xff\xfe", 2, "\xef\xbb\xbf"},
                {"lone surrogate", TEXT_UTF16LE, "\x3d\xd8", 2, NULL},
                {"odd size", TEXT_UTF16LE, "a\0b", 3, NULL},
                {"NUL", TEXT_UTF16LE, "a\0\0\0", 4, NULL},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct value value = {
                        VALUE_TEXT, cases[i].size, {.bytes = (const uint8_t *)cases[i].bytes}};
                struct scalar_text text;
                cr_assert_eq(scalar_text_read(&value, cases[i].encoding, &text), 0);
                if (cases[i].wanted) {
                        cr_expect_eq(text.care, SCALAR_TEXT, "%s", cases[i].name);
                        cr_expect_eq(text.size, strlen(cases[i].wanted), "%s", cases[i].name);
                        cr_expect_arr_eq(
                                text.bytes, cases[i].wanted, text.size, "%s", cases[i].name);
                } else {
                        cr_expect_eq(text.care, SCALAR_ODD, "%s", cases[i].name);
                        cr_expect_eq(text.bytes, value.bytes, "%s", cases[i].name);
                        cr_expect_eq(text.size, value.size, "%s", cases[i].name);
                }
                scalar_text_release(&text);
        }
}

Test(scalar, json_escapes_what_must_be_and_nothing_else)
{
        static const struct {
                const char *bytes;
                size_t size;
                const char *wanted;
        } cases[] = {{"", 0, "\"\""}, {"a/b", 3, "\"a/b\""}, {"\"\\", 2, "\"\\\"\\\\\""},
                {"\n\t\r\b\f", 5, "\"\\n\\t\\r\\b\\f\""}, {"\x01\x1f", 2, "\"\\u0001\\u001f\""},
                {"\x7f", 1, "\"\x7f\""}, {"gr\xc3\xbc\xc3\x9f", 6, "\"gr\xc3\xbc\xc3\x9f\""}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                scalar_append_json(&buf, (const uint8_t *)cases[i].bytes, cases[i].size);
                cr_expect_str_eq(buf_string(&buf), cases[i].wanted);
        }
}
