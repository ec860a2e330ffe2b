/* SPDX-License-Identifier: MIT
 *
 * render_qlik: the golden files hold its bytes, among them the byte vectors of Qlik's masks.
 */
#include "faces/render.h"

#include <criterion/criterion.h>

#include "golden.h"

Test(render_qlik, gives_the_golden_bytes)
{
        cr_expect(golden_check_events("qlik"));
}

/* The mask of each line of the golden file. */
Test(render_qlik, writes_the_masks_of_the_byte_vectors)
{
        static const char *const masks[] = {
                "header__change_mask", "8003", "", "0001", "", "80", "80"};
        char path[512];
        snprintf(path, sizeof path, "%s/golden/qlik/vectors.csv", TESTS_DIR);
        _cleanup_free_ char *text = tmp_read(path, NULL);
        char *line = text;
        for (size_t i = 0; i < COUNT(masks); i++) {
                char *mask = strchr(strchr(line, ',') + 1, ',') + 1;
                size_t size = strcspn(mask, ",");
                cr_expect_eq(size, strlen(masks[i]), "line %zu: %.*s", i, (int)size, mask);
                cr_expect_eq(strncmp(mask, masks[i], size), 0, "line %zu", i);
                line = strchr(line, '\n') + 1;
        }
        cr_expect_eq(*line, 0);
}
