/* SPDX-License-Identifier: MIT
 *
 * json: strings and numbers as RFC 8259 has them. Values are in the golden files of the formats
 * too.
 */
#include "faces/json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "ground/cleanup.h"

Test(json, marks_what_is_no_text)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        json_append_marked_hex(&buf, 'x', "\x00\xff", 2);
        json_append_name(&buf, "a\"b");
        json_append_name(&buf, "\xff");
        cr_expect_str_eq(buf_string(&buf), "\"\\\\x00ff\"\"a\\\"b\"\"\\\\Xff\"");
}

Test(json, writes_infinities_as_numbers_that_are_too_large)
{
        static const struct {
                double real;
                const char *wanted;
        } cases[] = {{1.0, "1.0"}, {0.1, "0.1"}, {HUGE_VAL, "9.0e+999"}, {-HUGE_VAL, "-9.0e+999"}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                json_append_real(&buf, cases[i].real);
                cr_expect_str_eq(buf_string(&buf), cases[i].wanted);
        }
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        json_append_real(&buf, (double)NAN);
        cr_expect_str_eq(buf_string(&buf), "null");
}
