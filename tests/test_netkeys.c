/* SPDX-License-Identifier: MIT
 *
 * netkeys: every history of a key comes to what the table says, in memory and on disk alike.
 */
#include "faces/netkeys.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ground/buf.h"
#include "ground/cleanup.h"
#include "prng.h"

/* Adds words of a key and an operation: "a2 b2 a4"; a dash is no key. The mask of an update is 2,
 * others have 3. */
static void add_words(struct netkeys *keys, const char *words, uint64_t *number)
{
        char key[16];
        int operation, size = 0;
        for (; sscanf(words, " %15[a-z-]%d%n", key, &operation, &size) == 2; words += size) {
                uint8_t mask = operation == 4 ? 2 : 3;
                bool has_key = strcmp(key, "-") != 0;
                cr_assert_eq(netkeys_add(keys, has_key ? key : NULL, has_key ? strlen(key) : 0,
                                     operation, ++*number, &mask, 1),
                        0);
        }
}

/* `operation@number/mask` words. */
static void read_words(struct netkeys *keys, struct buf *buf)
{
        struct netkey net;
        int r;
        while ((r = netkeys_next(keys, &net)) > 0)
                buf_append_format(buf, "%s%d@%llu/%u", buf->size ? " " : "", net.operation,
                        (unsigned long long)net.number, net.mask[0]);
        cr_expect_eq(r, 0);
        cr_expect_eq(netkeys_next(keys, &net), 0);
}

static const struct {
        const char *words, *wanted;
} histories[] = {
        {"", ""},
        {"a2", "2@1/3"},
        {"a2 a4 a4", "2@3/3"},
        {"a2 a1", ""},
        {"a2 a4 a1", ""},
        {"a4", "4@1/2"},
        {"a4 a4", "4@2/2"},
        {"a1", "1@1/3"},
        {"a4 a1", "1@2/3"},
        {"a1 a2", "4@2/3"},
        {"a1 a2 a4", "4@3/3"},
        {"a1 a2 a1", "1@3/3"},
        {"a2 a1 a2", "2@3/3"},
        {"a2 a1 a2 a1", ""},
        {"a1 b2", "1@1/3 2@2/3"},
        {"a2 b2 a4 c1 b1", "2@3/3 1@4/3"},
        {"a2 aa2 a1", "2@2/3"},
        {"-2 -4 -1 -2", "2@1/3 4@2/2 1@3/3 2@4/3"},
        {"-1 a2 -1 a1 -2", "1@1/3 1@3/3 2@5/3"},
};

Test(netkeys, decides_by_the_first_and_the_last)
{
        for (unsigned i = 0; i < COUNT(histories); i++) {
                /* A limit of one byte sends every key to disk before the next. */
                for (size_t limit = 1; limit <= NETKEYS_LIMIT; limit += NETKEYS_LIMIT - 1) {
                        _cleanup_(netkeys_freep) struct netkeys *keys = NULL;
                        _cleanup_(buf_release) struct buf buf = BUF_INIT;
                        uint64_t number = 0;
                        cr_assert_eq(netkeys_new(limit, &keys), 0);
                        add_words(keys, histories[i].words, &number);
                        cr_assert_eq(netkeys_finish(keys), 0);
                        read_words(keys, &buf);
                        cr_expect_str_eq(buf_string(&buf), histories[i].wanted, "'%s' at %zu: %s",
                                histories[i].words, limit, buf_string(&buf));
                }
        }
}

Test(netkeys, is_the_same_wherever_it_spills)
{
        enum { CHANGES = 20000, KEYS = 900 };
        static const size_t limits[] = {NETKEYS_LIMIT, 3000, 40000};
        struct buf texts[COUNT(limits)] = {0};
        for (unsigned i = 0; i < COUNT(limits); i++) {
                _cleanup_(netkeys_freep) struct netkeys *keys = NULL;
                struct prng prng = {.state = 7};
                uint64_t number = 0;
                char key[16];
                cr_assert_eq(netkeys_new(limits[i], &keys), 0);
                for (unsigned j = 0; j < CHANGES; j++) {
                        static const int operations[] = {1, 2, 4};
                        uint8_t mask[2] = {
                                (uint8_t)prng_below(&prng, 4), (uint8_t)prng_below(&prng, 256)};
                        snprintf(key, sizeof key, "%u", (unsigned)prng_below(&prng, KEYS));
                        cr_assert_eq(netkeys_add(keys, key, strlen(key),
                                             operations[prng_below(&prng, 3)], ++number, mask, 2),
                                0);
                }
                cr_assert_eq(netkeys_finish(keys), 0);
                cr_expect_eq(netkeys_is_spilled(keys), i > 0);
                read_words(keys, &texts[i]);
                cr_expect_str_eq(buf_string(&texts[i]), buf_string(&texts[0]));
        }
        for (unsigned i = 0; i < COUNT(limits); i++)
                buf_release(&texts[i]);
}

Test(netkeys, refuses_masks_of_two_sizes)
{
        _cleanup_(netkeys_freep) struct netkeys *keys = NULL;
        const uint8_t mask[2] = {0};
        cr_assert_eq(netkeys_new(NETKEYS_LIMIT, &keys), 0);
        cr_expect_eq(netkeys_add(keys, "a", 1, 2, 1, mask, 1), 0);
        cr_expect_eq(netkeys_add(keys, "b", 1, 2, 2, mask, 2), -EINVAL);
}
