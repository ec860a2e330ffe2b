/* SPDX-License-Identifier: MIT
 *
 * csv: fields as RFC 4180 has them. Values are in the golden files of the formats too.
 */
#include "faces/csv.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "ground/cleanup.h"

Test(csv, quotes_names_only_where_a_reader_would_mistake_them)
{
        static const struct {
                const char *name, *wanted;
        } cases[] = {{"id", "id"}, {"a b", "a b"}, {"", "\"\""}, {" a", "\" a\""}, {"a ", "\"a \""},
                {"a,b", "\"a,b\""}, {"a\"b", "\"a\"\"b\""}, {"a\nb", "\"a\nb\""}, {"\xff", "\\Xff"},
                {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                csv_append_name(&buf, cases[i].name);
                cr_expect_str_eq(buf_string(&buf), cases[i].wanted);
        }
}

Test(csv, quotes_every_text_but_those_that_are_none)
{
        static const struct {
                const char *bytes;
                uint32_t size;
                const char *wanted;
        } cases[] = {{"", 0, "\"\""}, {"a", 1, "\"a\""}, {"\"", 1, "\"\"\"\""}, {"1", 1, "\"1\""},
                {"a\0b", 3, "\\X610062"}, {"\xc3(", 2, "\\Xc328"}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                struct value value = {
                        VALUE_TEXT, cases[i].size, {.bytes = (const uint8_t *)cases[i].bytes}};
                csv_append_text(&buf, &value, TEXT_UTF8);
                cr_expect_str_eq(buf_string(&buf), cases[i].wanted);
        }
}

Test(csv, has_words_for_infinities_and_nothing_for_no_number)
{
        static const struct {
                double real;
                const char *wanted;
        } cases[] = {{1.0, "1.0"}, {0.1, "0.1"}, {HUGE_VAL, "Infinity"}, {-HUGE_VAL, "-Infinity"}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                csv_append_real(&buf, cases[i].real);
                cr_expect_str_eq(buf_string(&buf), cases[i].wanted);
        }
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        csv_append_real(&buf, (double)NAN);
        cr_expect_str_eq(buf_string(&buf), "");
}
