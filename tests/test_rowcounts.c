/* SPDX-License-Identifier: MIT */
#include "desk/rowcounts.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "ground/cleanup.h"

struct step {
        int instance; /* from 1; 0 = no more */
        enum change_operation operation;
};

static const struct {
        const char *name;
        struct step steps[6];
        const char *text;
} cases[] = {
        {"none", {{0}}, "{}"},
        {"an update is two rows", {{1, CHANGE_INSERT}, {1, CHANGE_UPDATE}, {1, CHANGE_DELETE}},
                "{\"main_a\":4}"},
        {"by instance, whatever the order of changes",
                {{3, CHANGE_DELETE}, {1, CHANGE_DELETE}, {3, CHANGE_INSERT}, {2, CHANGE_UPDATE}},
                "{\"main_a\":1,\"of \\\"b\\\" \\\\ \\n é\":2,\"main_c\":2}"},
};

Test(rowcounts, are_of_one_transaction_each)
{
        struct instance instances[] = {
                {.object_id = 1, .name = "main_a"},
                {.object_id = 7, .name = "of \"b\" \\ \n é"},
                {.object_id = 9, .name = "main_c"},
        };
        _cleanup_(rowcounts_release) struct rowcounts counts = {0};
        for (size_t i = 0; i < COUNT(cases); i++) {
                rowcounts_reset(&counts);
                for (const struct step *step = cases[i].steps; step->instance; step++) {
                        const struct instance *instance = &instances[step->instance - 1];
                        struct change change = {
                                .object_id = instance->object_id, .operation = step->operation};
                        cr_assert_eq(rowcounts_add(&counts, instance, &change), 0);
                }
                cr_expect_str_eq(rowcounts_text(&counts), cases[i].text, "%s", cases[i].name);
        }
}

Test(rowcounts, of_many_instances_stand_in_the_order_of_their_numbers)
{
        enum { MANY = 500 };
        struct instance instances[MANY];
        struct change change = {.operation = CHANGE_INSERT};
        char names[MANY][16];
        _cleanup_(rowcounts_release) struct rowcounts counts = {0};
        for (int i = 0; i < MANY; i++) {
                snprintf(names[i], sizeof names[i], "i%d", i);
                instances[i] = (struct instance){.object_id = i + 1, .name = names[i]};
        }
        for (int i = 0; i < 2 * MANY; i++)
                cr_assert_eq(rowcounts_add(&counts, &instances[i * 7 % MANY], &change), 0);
        cr_assert_eq(counts.count, MANY);
        for (size_t i = 0; i < MANY; i++) {
                cr_expect_eq(counts.items[i].instance, &instances[i]);
                cr_expect_eq(counts.items[i].rows, 2);
        }
}
