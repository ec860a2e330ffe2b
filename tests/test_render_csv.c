/* SPDX-License-Identifier: MIT
 *
 * render_csv: the golden files hold its bytes, and a reader of the manual gets every value back.
 */
#include "faces/render.h"

#include <criterion/criterion.h>

#include "golden.h"

Test(render_csv, gives_the_golden_bytes)
{
        cr_expect(golden_check("csv"));
}

Test(render_csv, loses_nothing)
{
        if (system("python3 -c 'import sqlite3' 2>/dev/null") != 0)
                cr_skip_test("python3 is not here");
        struct run_result result = run("%s/golden/read_back csv", TESTS_DIR);
        cr_expect_eq(result.code, 0, "%s", result.text);
        run_release(&result);
}

Test(render_csv, quotes_metadata_only_where_somebody_has_tampered_with_it)
{
        static const struct {
                const char *text;
                const char *wanted;
        } cases[] = {
                {"2026-11-30T10:00:00.000000Z", "2026-11-30T10:00:00.000000Z"},
                {"0000002d:00000580:0001", "0000002d:00000580:0001"},
                {"", "\"\""},
                {"a,b", "\"a,b\""},
                {"a\"b", "\"a\"\"b\""},
                {"\xff", "\\Xff"},
        };
        _cleanup_(result_release_shape) struct result_shape shape = {.encoding = TEXT_UTF8};
        _cleanup_(render_release) struct render render = {0};
        cr_assert_eq(result_add_column(&shape, "entry_time", RESULT_BARE), 0);
        cr_assert_eq(render_init(&render, render_find("csv"), &shape), 0);
        for (unsigned i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                struct value value = {VALUE_TEXT, (uint32_t)strlen(cases[i].text),
                        {.bytes = (const uint8_t *)cases[i].text}};
                render_row(&render, &value, &buf);
                cr_expect_eq(buf.size, strlen(cases[i].wanted) + 1, "%s", cases[i].wanted);
                cr_expect_eq(strncmp(buf_string(&buf), cases[i].wanted, buf.size - 1), 0, "%s",
                        buf_string(&buf));
        }
}
