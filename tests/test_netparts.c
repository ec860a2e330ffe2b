/* SPDX-License-Identifier: MIT
 *
 * netparts: parts of a key become one, in the order of their numbers.
 */
#include "faces/netparts.h"

#include <criterion/criterion.h>

#include "ground/cleanup.h"

struct row {
        const char *key; /* NULL: stands for itself */
        int first, last;
        uint64_t number;
        uint8_t mask;
};

static void add(struct netparts *parts, const struct row *row)
{
        const struct netpart part = {
                .key = row->key,
                .key_size = row->key ? strlen(row->key) : 0,
                .first = row->first,
                .last = row->last,
                .number = row->number,
                .mask = &row->mask,
                .mask_size = 1,
        };
        cr_assert_eq(netparts_add(parts, &part), 0);
}

Test(netparts, puts_the_parts_of_a_key_together)
{
        static const struct row given[] = {{"b", 2, 4, 1, 1}, {"a", 1, 2, 2, 3}, {NULL, 2, 2, 3, 3},
                {"a", 4, 4, 4, 4}, {"b", 1, 1, 5, 8}, {NULL, 4, 4, 6, 1}, {"ab", 2, 2, 7, 3},
                {"a", 1, 1, 8, 16}};
        static const struct row wanted[] = {{NULL, 2, 2, 3, 3}, {NULL, 2, 1, 5, 9},
                {NULL, 4, 4, 6, 1}, {NULL, 2, 2, 7, 3}, {NULL, 1, 1, 8, 23}};
        _cleanup_(netparts_freep) struct netparts *parts = NULL;
        struct netpart part;
        cr_assert_eq(netparts_new(&parts), 0);
        for (unsigned i = 0; i < COUNT(given); i++) {
                if (i % 3 == 0)
                        cr_assert_eq(netparts_begin(parts), 0);
                add(parts, &given[i]);
                if (i % 3 == 2 || i + 1 == COUNT(given))
                        cr_assert_eq(netparts_end(parts), 0);
        }
        cr_assert_eq(netparts_join(parts), 0);
        for (unsigned i = 0; i < COUNT(wanted); i++) {
                cr_assert_eq(netparts_next(parts, &part), 1);
                cr_expect_eq(part.first, wanted[i].first);
                cr_expect_eq(part.last, wanted[i].last);
                cr_expect_eq(part.number, wanted[i].number);
                cr_expect_eq(part.mask[0], wanted[i].mask, "%u: %u", i, part.mask[0]);
                cr_expect_eq(part.mask_size, 1);
        }
        cr_expect_eq(netparts_next(parts, &part), 0);
}

Test(netparts, gives_nothing_of_nothing)
{
        _cleanup_(netparts_freep) struct netparts *parts = NULL;
        struct netpart part;
        cr_assert_eq(netparts_new(&parts), 0);
        cr_assert_eq(netparts_join(parts), 0);
        cr_expect_eq(netparts_next(parts, &part), 0);
}
