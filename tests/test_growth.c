/* SPDX-License-Identifier: MIT */
#include "growth.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(growth, notes_each_number_once_until_it_is_taken)
{
        uint64_t inos[GROWTH_COUNT];
        struct growth *growth = growth_new();
        cr_expect_eq(growth_take(growth, inos), 0);
        growth_note(growth, 7);
        growth_note(growth, 5);
        growth_note(growth, 7);
        cr_assert_eq(growth_take(growth, inos), 2);
        cr_expect_eq(inos[0], 7);
        cr_expect_eq(inos[1], 5);
        cr_expect_eq(growth_take(growth, inos), 0);
        growth_free(growth);
        growth_free(NULL);
}

Test(growth, has_an_end)
{
        uint64_t *inos = malloc(GROWTH_COUNT * sizeof *inos);
        struct growth *growth = growth_new();
        for (uint64_t ino = 1; ino <= GROWTH_COUNT + 10; ino++)
                growth_note(growth, ino);
        growth_note(growth, 1);
        cr_expect_eq(growth_take(growth, inos), GROWTH_COUNT);
        growth_free(growth);
        free(inos);
}
