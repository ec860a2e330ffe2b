/* SPDX-License-Identifier: MIT
 *
 * The map of page numbers to frames, against an array that does the same.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "prng.h"
#include "source/frames.h"

Test(frames, an_empty_map_knows_no_page)
{
        _cleanup_(frames_release) struct frames map = {0};
        _cleanup_free_ uint32_t *pages = NULL;
        cr_expect_eq(frames_find(&map, 1), 0);
        cr_expect_eq(frames_find(&map, UINT32_MAX), 0);
        frames_clear(&map);
        cr_expect_eq(frames_find(&map, 1), 0);
        cr_assert_eq(frames_pages(&map, &pages), 0);
        cr_expect_not_null(pages, "a list of nothing is a list all the same");
        frames_release(&map);
        frames_release(&map);
}

Test(frames, the_newest_frame_of_a_page_counts)
{
        _cleanup_(frames_release) struct frames map = {0};
        cr_assert_eq(frames_put(&map, 7, 3), 0);
        cr_assert_eq(frames_put(&map, 7, 9), 0);
        cr_assert_eq(frames_put(&map, 8, 4), 0);
        cr_expect_eq(map.count, 2);
        cr_expect_eq(frames_find(&map, 7), 9);
        cr_expect_eq(frames_find(&map, 8), 4);
        cr_expect_eq(frames_find(&map, 9), 0);
}

Test(frames, page_numbers_of_every_size_are_kept)
{
        static const uint32_t pages[] = {1, 2, 63, 64, 65, 4095, 4096, 262145, 0x7fffffff,
                0x80000000, 0xfffffffe, 0xffffffff};
        _cleanup_(frames_release) struct frames map = {0};
        _cleanup_free_ uint32_t *listed = NULL;
        for (unsigned i = COUNT(pages); i-- > 0;)
                cr_assert_eq(frames_put(&map, pages[i], i + 1), 0);
        for (unsigned i = 0; i < COUNT(pages); i++)
                cr_expect_eq(frames_find(&map, pages[i]), i + 1, "%u", pages[i]);
        cr_assert_eq(frames_pages(&map, &listed), 0);
        cr_expect_eq(memcmp(listed, pages, sizeof pages), 0, "they are listed in ascending order");
}

enum { RANGE = 30000 };

Test(frames, random_puts_give_what_an_array_gives)
{
        _cleanup_(frames_release) struct frames map = {0};
        _cleanup_free_ uint32_t *want = calloc(RANGE, sizeof *want), *pages = NULL;
        struct prng prng = {11};
        size_t count = 0, listed = 0;
        for (uint32_t frame = 1; frame <= 2 * RANGE; frame++) {
                uint32_t pgno = 1 + prng_below(&prng, RANGE - 1);
                count += want[pgno] == 0;
                want[pgno] = frame;
                cr_assert_eq(frames_put(&map, pgno, frame), 0);
        }
        cr_expect_eq(map.count, count);
        for (uint32_t pgno = 1; pgno < RANGE; pgno++)
                if (frames_find(&map, pgno) != want[pgno])
                        cr_assert_fail("page %u", pgno);
        cr_assert_eq(frames_pages(&map, &pages), 0);
        for (uint32_t pgno = 1; pgno < RANGE; pgno++)
                if (want[pgno] != 0 && pages[listed++] != pgno)
                        cr_assert_fail("page %u is not at its place in the list", pgno);
        cr_expect_eq(listed, count);
}

Test(frames, pages_at_equal_distances_are_found)
{
        enum { EACH = 4000 };
        for (unsigned shift = 0; shift <= 20; shift += 4) {
                _cleanup_(frames_release) struct frames map = {0};
                for (uint32_t i = 1; i <= EACH; i++)
                        cr_assert_eq(frames_put(&map, i << shift, i), 0);
                for (uint32_t i = 1; i <= EACH; i++)
                        if (frames_find(&map, i << shift) != i)
                                cr_assert_fail("page %u", i << shift);
                cr_expect_eq(map.count, EACH);
        }
}

Test(frames, a_merge_takes_every_entry_and_the_other_wins)
{
        _cleanup_(frames_release) struct frames map = {0}, newer = {0}, none = {0};
        for (uint32_t i = 1; i <= 300; i++)
                cr_assert_eq(frames_put(&map, i, i), 0);
        for (uint32_t i = 201; i <= 500; i++)
                cr_assert_eq(frames_put(&newer, i, 1000 + i), 0);
        cr_assert_eq(frames_merge(&map, &none), 0);
        cr_expect_eq(map.count, 300);
        cr_assert_eq(frames_merge(&map, &newer), 0);
        cr_expect_eq(map.count, 500);
        for (uint32_t i = 1; i <= 500; i++)
                cr_expect_eq(frames_find(&map, i), i <= 200 ? i : 1000 + i, "%u", i);
        cr_expect_eq(newer.count, 300, "the merged map stays as it is");
        cr_assert_eq(frames_merge(&none, &newer), 0);
        cr_expect_eq(frames_find(&none, 500), 1500);
}

Test(frames, a_cleared_map_is_empty_and_small)
{
        static const uint32_t sizes[] = {1, 100, 2000, 100000};
        _cleanup_(frames_release) struct frames map = {0};
        for (unsigned i = 0; i < COUNT(sizes); i++) {
                for (uint32_t pgno = 1; pgno <= sizes[i]; pgno++)
                        cr_assert_eq(frames_put(&map, pgno, pgno), 0);
                frames_clear(&map);
                cr_expect_eq(map.count, 0);
                cr_expect_leq(map.capacity * sizeof map.entries[0], 65536,
                        "%zu entries are kept after %u pages", map.capacity, sizes[i]);
                for (uint32_t pgno = 1; pgno <= sizes[i]; pgno++)
                        if (frames_find(&map, pgno) != 0)
                                cr_assert_fail("page %u was not forgotten", pgno);
                cr_assert_eq(frames_put(&map, 5, 1), 0);
                cr_expect_eq(frames_find(&map, 5), 1);
                cr_expect_eq(map.count, 1);
                frames_clear(&map);
        }
}
