/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ground/cleanup.h"
#include "meaning/sorter.h"
#include "prng.h"

enum { MEGABYTE = 1 << 20 };

/* What went in, in the order in which it went in. */
struct item {
        uint8_t key[24];
        size_t key_size;
        unsigned side;
        uint32_t number;
        uint32_t size; /* of the payload: the number, then zeroes */
};

static int compare_items(const void *a, const void *b)
{
        const struct item *x = a, *y = b;
        size_t size = x->key_size < y->key_size ? x->key_size : y->key_size;
        int order = memcmp(x->key, y->key, size);
        if (order == 0)
                order = (x->key_size > y->key_size) - (x->key_size < y->key_size);
        if (order == 0)
                order = (int)x->side - (int)y->side;
        return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

static void add_item(struct sorter *sorter, const struct item *item)
{
        _cleanup_(buf_release) struct buf key = BUF_INIT, payload = BUF_INIT;
        buf_append(&key, item->key, item->key_size);
        buf_reserve(&payload, item->size);
        if (item->size > 0)
                memset(payload.data, 0, item->size);
        payload.size = item->size;
        if (item->size >= 4)
                memcpy(payload.data, &item->number, 4);
        cr_assert_eq(sorter_add(sorter, &key, item->side, &payload), 0);
}

static void expect_items(struct sorter *sorter, struct item *items, unsigned count)
{
        struct sorter_entry e;
        qsort(items, count, sizeof(*items), compare_items);
        cr_assert_eq(sorter_sort(sorter), 0);
        for (unsigned i = 0; i < count; i++) {
                const struct item *want = &items[i];
                cr_assert_eq(sorter_next(sorter, &e), 1, "entry %u", i);
                cr_assert_eq(e.key_size, want->key_size, "entry %u", i);
                cr_assert_eq(memcmp(e.key, want->key, e.key_size), 0, "entry %u", i);
                cr_assert_eq(e.side, want->side, "entry %u", i);
                cr_assert_eq(e.payload_size, want->size, "entry %u", i);
                cr_assert(
                        want->size < 4 || memcmp(e.payload, &want->number, 4) == 0, "entry %u", i);
        }
        cr_expect_eq(sorter_next(sorter, &e), 0);
}

static const struct {
        const char *name;
        unsigned count;
        uint32_t size;      /* of payloads, at most */
        uint32_t key_bytes; /* different values of a byte */
        unsigned key_size;  /* at most */
        bool is_spilled;
} cases[] = {
        {"nothing", 0, 1, 1, 1, false},
        {"one", 1, 100, 256, 8, false},
        {"different keys", 3000, 100, 256, 24, false},
        {"equal keys", 3000, 100, 1, 1, false},
        {"prefixes of each other", 3000, 20, 2, 24, false},
        {"empty payloads", 1000, 1, 3, 6, false},
        {"different keys, spilled", 2000, 40000, 256, 24, true},
        {"equal keys, spilled", 2000, 40000, 1, 1, true},
        {"prefixes of each other, spilled", 60000, 1000, 2, 24, true},
        {"one entry that is larger than memory", 1, 20 * MEGABYTE, 1, 1, true},
};

static struct item *make_items(size_t i, struct prng *prng)
{
        struct item *items = calloc(cases[i].count + 1, sizeof(*items));
        for (unsigned k = 0; k < cases[i].count; k++) {
                struct item *item = &items[k];
                item->key_size = 1 + prng_below(prng, cases[i].key_size);
                for (size_t n = 0; n < item->key_size; n++)
                        item->key[n] = (uint8_t)prng_below(prng, cases[i].key_bytes);
                item->side = prng_below(prng, 3);
                item->number = k;
                item->size =
                        cases[i].count == 1 ? cases[i].size - 1 : prng_below(prng, cases[i].size);
        }
        return items;
}

static void sort_case(struct sorter *sorter, size_t i, struct prng *prng)
{
        struct item *items = make_items(i, prng);
        for (unsigned k = 0; k < cases[i].count; k++)
                add_item(sorter, &items[k]);
        cr_expect_eq(!!sorter->is_spilled, cases[i].is_spilled, "%s", cases[i].name);
        expect_items(sorter, items, cases[i].count);
        free(items);
}

Test(sorter, entries_come_in_the_order_of_key_side_and_arrival)
{
        struct prng prng = {21};
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct sorter sorter = {0};
                sort_case(&sorter, i, &prng);
                sorter_release(&sorter);
        }
}

Test(sorter, a_sorter_is_reused_after_a_reset)
{
        struct prng prng = {22};
        struct sorter sorter = {0};
        for (size_t i = 0; i < 2 * COUNT(cases); i++) {
                sort_case(&sorter, (i * 7) % COUNT(cases), &prng);
                cr_assert_eq(sorter_reset(&sorter), 0);
                cr_expect_leq(sorter.memory.capacity, MEGABYTE, "memory is given back");
        }
        sorter_release(&sorter);
}

Test(sorter, a_reset_forgets_what_was_not_read)
{
        struct prng prng = {23};
        struct sorter sorter = {0};
        struct sorter_entry e;
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct item *items = make_items(i, &prng);
                for (unsigned k = 0; k < cases[i].count; k++)
                        add_item(&sorter, &items[k]);
                cr_assert_eq(sorter_sort(&sorter), 0);
                for (unsigned k = 0; k < cases[i].count / 2; k++)
                        cr_assert_eq(sorter_next(&sorter, &e), 1);
                cr_assert_eq(sorter_reset(&sorter), 0);
                cr_assert_eq(sorter_sort(&sorter), 0);
                cr_expect_eq(sorter_next(&sorter, &e), 0, "%s", cases[i].name);
                free(items);
        }
        sorter_release(&sorter);
}

Test(sorter, a_failed_buffer_is_refused)
{
        struct sorter sorter = {0};
        struct sorter_entry e;
        struct buf good = BUF_INIT, bad = {.error = -ENOMEM};
        cr_expect_eq(sorter_add(&sorter, &bad, 0, &good), -ENOMEM);
        cr_expect_eq(sorter_add(&sorter, &good, 0, &bad), -ENOMEM);
        cr_assert_eq(sorter_sort(&sorter), 0);
        cr_expect_eq(sorter_next(&sorter, &e), 0);
        sorter_release(&sorter);
}

Test(sorter, an_empty_sorter_can_be_reset_and_released)
{
        struct sorter sorter = {0};
        cr_expect_eq(sorter_reset(&sorter), 0);
        sorter_release(&sorter);
        sorter_release(&sorter);
}
