/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "prng.h"

static const struct {
        uint64_t value;
        unsigned size;
        uint8_t bytes[9];
} varints[] = {
        {0, 1, {0x00}},
        {1, 1, {0x01}},
        {0x7f, 1, {0x7f}},
        {0x80, 2, {0x81, 0x00}},
        {0x3fff, 2, {0xff, 0x7f}},
        {0x4000, 3, {0x81, 0x80, 0x00}},
        {0x1fffff, 3, {0xff, 0xff, 0x7f}},
        {0xffffffff, 5, {0x8f, 0xff, 0xff, 0xff, 0x7f}},
        {0x00ffffffffffffff, 8, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
        {0x0100000000000000, 9, {0x80, 0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}},
        {0x8000000000000000, 9, {0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}},
        {UINT64_MAX, 9, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
};

Test(bytes, varints_are_written_as_sqlite_writes_them)
{
        for (size_t i = 0; i < COUNT(varints); i++) {
                uint8_t bytes[9] = {0};
                cr_expect_eq(varint_put(bytes, varints[i].value), varints[i].size, "%" PRIx64,
                        varints[i].value);
                cr_expect_eq(memcmp(bytes, varints[i].bytes, 9), 0, "%" PRIx64, varints[i].value);
        }
}

Test(bytes, varints_are_read_and_never_beyond_the_end)
{
        for (size_t i = 0; i < COUNT(varints); i++) {
                const uint8_t *bytes = varints[i].bytes;
                uint64_t value = 1234;
                for (unsigned size = 0; size < varints[i].size; size++)
                        cr_expect_eq(varint_get(bytes, bytes + size, &value), 0, "%" PRIx64,
                                varints[i].value);
                cr_expect_eq(value, 1234, "a varint without an end leaves the result alone");
                unsigned taken = varint_get(bytes, bytes + varints[i].size, &value);
                cr_expect_eq(taken, varints[i].size, "%" PRIx64, varints[i].value);
                cr_expect_eq(value, varints[i].value, "%" PRIx64, varints[i].value);
        }
}

Test(bytes, a_varint_longer_than_needed_is_read)
{
        const uint8_t bytes[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x05};
        uint64_t value;
        cr_expect_eq(varint_get(bytes, bytes + 9, &value), 9);
        cr_expect_eq(value, 5);
}

Test(bytes, random_varints_round_trip)
{
        struct prng prng = {1};
        for (unsigned i = 0; i < 100000; i++) {
                uint64_t value = prng_next(&prng) >> prng_below(&prng, 64);
                uint64_t back = ~value;
                uint8_t bytes[9];
                unsigned size = varint_put(bytes, value);
                cr_assert_eq(varint_get(bytes, bytes + size, &back), size);
                cr_assert_eq(back, value);
        }
}

Test(bytes, words_are_big_endian)
{
        const uint8_t bytes[] = {0x81, 0x02, 0x83, 0x04, 0x85, 0x06, 0x87, 0x08};
        uint8_t out[8];
        cr_expect_eq(be16(bytes), 0x8102);
        cr_expect_eq(be32(bytes), 0x81028304);
        cr_expect_eq(be64(bytes), 0x8102830485068708);
        put_be16(out, 0x8102);
        cr_expect_eq(memcmp(out, bytes, 2), 0);
        put_be32(out, 0x81028304);
        cr_expect_eq(memcmp(out, bytes, 4), 0);
        put_be64(out, 0x8102830485068708);
        cr_expect_eq(memcmp(out, bytes, 8), 0);
}
