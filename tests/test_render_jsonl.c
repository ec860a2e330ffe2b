/* SPDX-License-Identifier: MIT
 *
 * render_jsonl: the golden files hold its bytes, and a reader of the manual gets every value back.
 */
#include "faces/render.h"

#include <criterion/criterion.h>

#include "golden.h"

Test(render_jsonl, gives_the_golden_bytes)
{
        cr_expect(golden_check("jsonl"));
}

Test(render_jsonl, loses_nothing)
{
        if (system("python3 -c 'import sqlite3' 2>/dev/null") != 0)
                cr_skip_test("python3 is not here");
        struct run_result result = run("%s/golden/read_back jsonl", TESTS_DIR);
        cr_expect_eq(result.code, 0, "%s", result.text);
        run_release(&result);
}
