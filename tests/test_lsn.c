/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/lsn.h"
#include "prng.h"

static const char *const texts[] = {
        "00000000:00000000:0000",
        "0000002d:00000580:0001",
        "ffffffff:ffffffff:ffff",
        "12345678:9abcdef0:fedc",
};

Test(lsn, its_parts_come_back)
{
        struct lsn lsn = lsn_make(0x2d, 0x580, LSN_SLOT_COMMIT);
        static const uint8_t bytes[LSN_SIZE] = {0, 0, 0, 0x2d, 0, 0, 5, 0x80, 0, 1};
        cr_expect_eq(memcmp(lsn.bytes, bytes, LSN_SIZE), 0);
        cr_expect_eq(lsn_generation(lsn), 0x2d);
        cr_expect_eq(lsn_frame(lsn), 0x580);
}

Test(lsn, order_is_generation_then_frame_then_slot)
{
        const struct lsn rising[] = {
                lsn_make(0, 0, 0),
                lsn_make(0, 0, 1),
                lsn_make(0, 0, 256),
                lsn_make(0, 1, 0),
                lsn_make(0, 0x80000000, 0),
                lsn_make(1, 0, 0),
                lsn_make(0x80000000, 0, 0),
                lsn_make(UINT32_MAX, UINT32_MAX, UINT16_MAX),
        };
        for (size_t i = 0; i < COUNT(rising); i++) {
                for (size_t j = 0; j < COUNT(rising); j++) {
                        int order = lsn_compare(rising[i], rising[j]);
                        cr_expect_eq((order > 0) - (order < 0), (i > j) - (i < j), "%zu %zu", i, j);
                }
                cr_expect_eq(lsn_is_zero(rising[i]), i == 0, "%zu", i);
        }
}

Test(lsn, neighbours_carry_through_all_ten_bytes_and_wrap)
{
        static const struct {
                const char *lower, *upper;
        } cases[] = {
                {"00000000:00000000:0000", "00000000:00000000:0001"},
                {"00000000:00000000:ffff", "00000000:00000001:0000"},
                {"00000000:ffffffff:ffff", "00000001:00000000:0000"},
                {"0000002d:00000580:00ff", "0000002d:00000580:0100"},
                {"ffffffff:ffffffff:ffff", "00000000:00000000:0000"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct lsn lower, upper;
                cr_assert_eq(lsn_parse(cases[i].lower, &lower), 0);
                cr_assert_eq(lsn_parse(cases[i].upper, &upper), 0);
                cr_expect_eq(lsn_compare(lsn_increment(lower), upper), 0, "%s", cases[i].lower);
                cr_expect_eq(lsn_compare(lsn_decrement(upper), lower), 0, "%s", cases[i].upper);
        }
}

Test(lsn, both_texts_round_trip)
{
        for (size_t i = 0; i < COUNT(texts); i++) {
                struct lsn lsn, back;
                char text[LSN_TEXT_SIZE], name[LSN_NAME_SIZE];
                cr_assert_eq(lsn_parse(texts[i], &lsn), 0);
                lsn_format(lsn, text);
                lsn_format_name(lsn, name);
                cr_expect_str_eq(text, texts[i]);
                cr_expect_eq(strlen(name), 20);
                cr_expect_eq(lsn_parse(name, &back), 0);
                cr_expect_eq(lsn_compare(lsn, back), 0, "%s", name);
                cr_expect_eq(lsn_parse_name(name, &back), 0);
                cr_expect_eq(lsn_compare(lsn, back), 0, "%s", name);
        }
}

Test(lsn, names_order_as_lsns)
{
        struct prng prng = {3};
        for (unsigned i = 0; i < 10000; i++) {
                struct lsn a = lsn_make((uint32_t)prng_next(&prng), prng_below(&prng, 100), 1);
                struct lsn b = lsn_make(lsn_generation(a), prng_below(&prng, 100), 2);
                char first[LSN_NAME_SIZE], second[LSN_NAME_SIZE];
                lsn_format_name(a, first);
                lsn_format_name(b, second);
                cr_assert_eq(
                        lsn_compare(a, b) < 0, strcmp(first, second) < 0, "%s %s", first, second);
        }
}

Test(lsn, input_takes_every_form_in_either_case)
{
        static const char *const cases[] = {
                "0000ab2d:00000cde:0001",
                "0000AB2D:00000CDE:0001",
                "0000ab2d00000cde0001",
                "0000AB2D00000cde0001",
                "0x0000ab2d00000cde0001",
                "0X0000AB2D00000CDE0001",
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct lsn lsn;
                cr_expect_eq(lsn_parse(cases[i], &lsn), 0, "%s", cases[i]);
                cr_expect_eq(lsn_compare(lsn, lsn_make(0xab2d, 0xcde, 1)), 0, "%s", cases[i]);
        }
}

Test(lsn, other_input_is_refused)
{
        static const char *const cases[] = {
                "",
                "0",
                "0x",
                "0000002d",
                "0000002d:",
                "0000002d:00000580",
                "0000002d:00000580:",
                "0000002d:00000580:001",
                "0000002d:00000580:00011",
                "0000002d:00000580:0001 ",
                " 0000002d:00000580:0001",
                "0000002d:000005800001",
                "0000002d00000580:0001",
                "0000002d000005800001:",
                "0x0000002d:00000580:0001",
                "0x0000002d00000580000",
                "0x0000002d0000058000011",
                "0000002g:00000580:0001",
                "-000002d:00000580:0001",
                "2d:580:1",
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct lsn lsn = lsn_make(7, 7, 7);
                cr_expect_eq(lsn_parse(cases[i], &lsn), -EINVAL, "%s", cases[i]);
                cr_expect_eq(lsn_compare(lsn, lsn_make(7, 7, 7)), 0, "%s", cases[i]);
        }
}

Test(lsn, a_name_is_twenty_lower_case_digits_whatever_follows)
{
        static const struct {
                const char *name;
                int result;
        } cases[] = {
                {"0000ab2d00000cde0001", 0},
                {"0000ab2d00000cde0001-0000ab2d00000cde0002.csv", 0},
                {"0000AB2d00000cde0001", -EINVAL},
                {"0000ab2d00000cde000F", -EINVAL},
                {"0x00ab2d00000cde0001", -EINVAL},
                {"0000ab2d:00000cde:0001", -EINVAL},
                {"0000ab2d00000cde000", -EINVAL},
                {"live", -EINVAL},
                {"", -EINVAL},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct lsn lsn;
                cr_expect_eq(
                        lsn_parse_name(cases[i].name, &lsn), cases[i].result, "%s", cases[i].name);
        }
}

Test(lsn, a_change_number_fills_the_last_eight_bytes)
{
        struct lsn seqval = lsn_from_change(0x0123456789abcdef);
        char text[LSN_TEXT_SIZE];
        lsn_format(seqval, text);
        cr_expect_str_eq(text, "00000123:456789ab:cdef");
        cr_expect_eq(lsn_to_change(seqval), 0x0123456789abcdef);
        cr_expect_eq(lsn_to_change(lsn_from_change(UINT64_MAX)), UINT64_MAX);
        cr_expect(lsn_is_zero(lsn_from_change(0)));
}

Test(mask, ordinal_1_is_the_lowest_bit_of_the_last_byte)
{
        static const struct {
                unsigned columns, ordinal;
                size_t size;
                uint8_t mask[3];
        } cases[] = {
                {1, 1, 1, {0x01}},
                {8, 8, 1, {0x80}},
                {9, 1, 2, {0x00, 0x01}},
                {9, 9, 2, {0x01, 0x00}},
                {16, 16, 2, {0x80, 0x00}},
                {17, 8, 3, {0x00, 0x00, 0x80}},
                {17, 17, 3, {0x01, 0x00, 0x00}},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                uint8_t mask[3] = {0};
                unsigned columns = cases[i].columns, ordinal = cases[i].ordinal;
                cr_expect_eq(mask_size(columns), cases[i].size, "%u", columns);
                mask_set(mask, columns, ordinal);
                cr_expect_eq(memcmp(mask, cases[i].mask, 3), 0, "%u of %u", ordinal, columns);
                for (unsigned other = 0; other <= 40; other++)
                        cr_expect_eq(mask_is_set(mask, cases[i].size, other), other == ordinal,
                                "%u of %u: %u", ordinal, columns, other);
        }
}

Test(mask, ordinals_outside_the_columns_set_nothing)
{
        static const unsigned ordinals[] = {0, 10, 16, 17, 1000, UINT32_MAX};
        uint8_t mask[2] = {0};
        for (size_t i = 0; i < COUNT(ordinals); i++)
                mask_set(mask, 9, ordinals[i]);
        cr_expect_eq(mask[0] | mask[1], 0);
        cr_expect_not(mask_is_set(mask, 0, 1));
}

Test(mask, all_is_every_column_and_no_other_bit)
{
        for (unsigned columns = 0; columns <= 70; columns++) {
                uint8_t mask[10];
                memset(mask, 0xa5, sizeof(mask));
                mask_set_all(mask, columns);
                for (unsigned ordinal = 1; ordinal <= 8 * mask_size(columns); ordinal++)
                        cr_expect_eq(mask_is_set(mask, mask_size(columns), ordinal),
                                ordinal <= columns, "%u of %u", ordinal, columns);
                cr_expect_eq(mask[mask_size(columns)], 0xa5, "%u", columns);
        }
}
