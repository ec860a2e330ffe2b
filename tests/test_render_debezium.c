/* SPDX-License-Identifier: MIT
 *
 * render_debezium: the golden files hold its bytes, and each line is an object of JSON.
 */
#include "faces/render.h"

#include <criterion/criterion.h>
#include <jansson.h>

#include "golden.h"

Test(render_debezium, gives_the_golden_bytes)
{
        cr_expect(golden_check_events("debezium"));
}

Test(render_debezium, makes_one_object_of_a_change)
{
        static const unsigned lines[] = {4, 16, 13, 2, 1, 4, 2, 5, 0};
        for (size_t i = 0; i < COUNT(golden_event_cases); i++) {
                char path[512];
                unsigned count = 0;
                snprintf(path, sizeof path, "%s/golden/debezium/%s.jsonl", TESTS_DIR,
                        golden_event_cases[i]);
                _cleanup_free_ char *text = tmp_read(path, NULL);
                for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), count++) {
                        json_error_t error;
                        /* Infinities are out of the range of a double. */
                        if (strstr(line, "9.0e+999"))
                                continue;
                        json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, &error);
                        cr_expect(json_is_object(event), "%s: %s", line, error.text);
                        json_decref(event);
                }
                cr_expect_eq(count, lines[i], "%s: %u lines", golden_event_cases[i], count);
        }
}
