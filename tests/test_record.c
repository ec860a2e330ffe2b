/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/btpage.h"
#include "bytes/record.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "prng.h"
#include "sample.h"

static const struct {
        const char *name;
        const char *payload;
        size_t size;
        struct value value;
} singles[] = {
        {"NULL", "\2\0", 2, {.type = VALUE_NULL}},
        {"1 byte", "\2\1\x7f", 3, {.type = VALUE_INTEGER, .integer = 127}},
        {"1 byte, negative", "\2\1\x80", 3, {.type = VALUE_INTEGER, .integer = -128}},
        {"2 bytes", "\2\2\x80\0", 4, {.type = VALUE_INTEGER, .integer = -32768}},
        {"3 bytes", "\2\3\x7f\xff\xff", 5, {.type = VALUE_INTEGER, .integer = 8388607}},
        {"3 bytes, negative", "\2\3\xff\xff\xfe", 5, {.type = VALUE_INTEGER, .integer = -2}},
        {"4 bytes", "\2\4\x80\0\0\0", 6, {.type = VALUE_INTEGER, .integer = INT32_MIN}},
        {"6 bytes", "\2\5\x7f\xff\xff\xff\xff\xff", 8,
                {.type = VALUE_INTEGER, .integer = 140737488355327}},
        {"6 bytes, negative", "\2\5\x80\0\0\0\0\0", 8,
                {.type = VALUE_INTEGER, .integer = -140737488355328}},
        {"8 bytes", "\2\6\x80\0\0\0\0\0\0\0", 10, {.type = VALUE_INTEGER, .integer = INT64_MIN}},
        {"REAL", "\2\7\x3f\xf8\0\0\0\0\0\0", 10, {.type = VALUE_REAL, .real = 1.5}},
        {"REAL -0.0", "\2\7\x80\0\0\0\0\0\0\0", 10, {.type = VALUE_REAL, .real = -0.0}},
        {"NaN is NULL", "\2\7\x7f\xf8\0\0\0\0\0\0", 10, {.type = VALUE_NULL}},
        {"0", "\2\x08", 2, {.type = VALUE_INTEGER, .integer = 0}},
        {"1", "\2\x09", 2, {.type = VALUE_INTEGER, .integer = 1}},
        {"empty BLOB", "\2\x0c", 2, {.type = VALUE_BLOB}},
        {"empty TEXT", "\2\x0d", 2, {.type = VALUE_TEXT}},
        {"BLOB", "\2\x0e\xff", 3,
                {.type = VALUE_BLOB, .size = 1, .bytes = (const uint8_t *)"\xff"}},
        {"TEXT",
                "\2\x11"
                "ab",
                4, {.type = VALUE_TEXT, .size = 2, .bytes = (const uint8_t *)"ab"}},
        {"types in long varints", "\4\x80\x80\x01\x05", 5, {.type = VALUE_INTEGER, .integer = 5}},
        {"header size in a long varint", "\x80\x03\x01\x05", 4,
                {.type = VALUE_INTEGER, .integer = 5}},
};

Test(record, every_serial_type_is_decoded)
{
        for (size_t i = 0; i < COUNT(singles); i++) {
                struct value values[2];
                size_t count = 0;
                int result = record_decode(
                        (const uint8_t *)singles[i].payload, singles[i].size, values, 2, &count);
                cr_expect_eq(result, 0, "%s", singles[i].name);
                cr_expect_eq(count, 1, "%s", singles[i].name);
                cr_expect(value_equal(&values[0], &singles[i].value), "%s", singles[i].name);
        }
}

Test(record, malformed_payloads_are_refused)
{
        static const struct {
                const char *name;
                const char *payload;
                size_t size;
        } cases[] = {
                {"nothing", "", 0},
                {"header size 0", "\0", 1},
                {"header smaller than its own size", "\x80\1\1", 3},
                {"header beyond the payload", "\3\1", 2},
                {"header size without an end", "\x82", 1},
                {"enormous header", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9},
                {"type 10", "\2\x0a", 2},
                {"type 11", "\2\x0b", 2},
                {"type without an end", "\2\x81", 2},
                {"type that ends in the body", "\2\x81\1xxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 31},
                {"INTEGER beyond the payload", "\2\6\0\0\0\0\0\0\0", 9},
                {"TEXT beyond the payload", "\2\x11x", 3},
                {"BLOB of 2^63 bytes", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 10},
                {"second body beyond the payload", "\3\1\1x", 4},
                {"bytes left over", "\2\1xy", 4},
                {"bytes left over without a column", "\1x", 2},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_free_ uint8_t *payload = malloc(cases[i].size + !cases[i].size);
                struct value values[4];
                size_t count = 99;
                memcpy(payload, cases[i].payload, cases[i].size);
                cr_expect_eq(record_decode(payload, cases[i].size, values, 4, &count), -EBADMSG,
                        "%s", cases[i].name);
                cr_expect_eq(count, 99, "%s", cases[i].name);
        }
}

Test(record, an_empty_payload_may_be_null)
{
        size_t count;
        cr_expect_eq(record_decode(NULL, 0, NULL, 0, &count), -EBADMSG);
}

Test(record, a_record_without_columns_is_empty)
{
        struct value value;
        size_t count = 99;
        cr_expect_eq(record_decode((const uint8_t *)"\1", 1, &value, 1, &count), 0);
        cr_expect_eq(count, 0);
}

Test(record, values_beyond_the_capacity_are_left_out_but_checked)
{
        const uint8_t good[] = {4, 1, 1, 1, 5, 6, 7};
        const uint8_t bad[] = {4, 1, 1, 10, 5, 6};
        struct value values[2];
        size_t count;
        cr_expect_eq(record_decode(good, sizeof(good), values, 2, &count), 0);
        cr_expect_eq(count, 2);
        cr_expect_eq(values[1].integer, 6);
        cr_expect_eq(record_decode(good, sizeof(good), NULL, 0, &count), 0);
        cr_expect_eq(count, 0);
        cr_expect_eq(record_decode(bad, sizeof(bad), values, 2, &count), -EBADMSG);
}

Test(record, values_come_one_by_one)
{
        const uint8_t payload[] = {3, 1, 15, 5, 'x'};
        struct record record;
        struct value value;
        cr_assert_eq(record_open(payload, sizeof(payload), &record), 0);
        cr_expect_eq(record_next(&record, &value), 1);
        cr_expect_eq(value.integer, 5);
        cr_expect_eq(record_next(&record, &value), 1);
        cr_expect_eq(value.bytes, payload + 4, "TEXT is borrowed");
        cr_expect_eq(record_next(&record, &value), 0);
        cr_expect_eq(record_next(&record, &value), 0, "the end stays the end");
}

Test(record, a_header_of_two_thousand_columns_is_decoded)
{
        enum { COLUMNS = 2000 };
        static struct value values[COLUMNS + 1];
        struct sample sample;
        struct btpage page;
        struct btcell cell;
        size_t count = 0;
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        sample_create(&sample, 65536, 0, "UTF-8");
        buf_append_string(&sql, "CREATE TABLE t(c0");
        for (unsigned i = 1; i < COLUMNS; i++)
                buf_append_format(&sql, ",c%u", i);
        buf_append_string(&sql, "); INSERT INTO t VALUES(0");
        for (unsigned i = 1; i < COLUMNS; i++)
                buf_append_format(&sql, ",%u", i * i);
        buf_append_string(&sql, ")");
        sample_run(&sample, buf_string(&sql));
        sample_read(&sample);
        uint32_t root = (uint32_t)sample_number(&sample, "SELECT rootpage FROM sqlite_schema");
        cr_assert_eq(btpage_open(sample_image(&sample, root), sample.usable, root, &page), 0);
        cr_assert_eq(btpage_cell(&page, 0, &cell), 0);
        cr_assert_eq(cell.overflow, 0);
        cr_assert_eq(record_decode(cell.local, cell.local_size, values, COLUMNS + 1, &count), 0);
        cr_assert_eq(count, COLUMNS);
        for (unsigned i = 0; i < COLUMNS; i++)
                cr_assert_eq(values[i].integer, i * i);
        sample_release(&sample);
}

Test(record, flipped_bytes_give_values_inside_the_payload_or_an_error)
{
        static const uint8_t payload[] = {9, 0, 1, 3, 6, 7, 8, 18, 23, 1, 1, 2, 3, 1, 2, 3, 4, 5, 6,
                7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 'a', 'b', 'c', 'h', 'e', 'l', 'l', 'o'};
        struct prng prng = {41};
        unsigned good = 0;
        for (unsigned round = 0; round < 100000; round++) {
                size_t size = sizeof(payload) - prng_below(&prng, 4);
                _cleanup_free_ uint8_t *bytes = malloc(size);
                struct value values[8];
                size_t count = 0;
                memcpy(bytes, payload, size);
                for (unsigned flips = prng_below(&prng, 4); flips > 0; flips--)
                        bytes[prng_below(&prng, 12)] ^= (uint8_t)(1u << prng_below(&prng, 8));
                int result = record_decode(bytes, size, values, 8, &count);
                cr_assert(result == 0 || result == -EBADMSG);
                cr_assert(count <= 8);
                good += result == 0;
                for (size_t i = 0; i < count; i++)
                        cr_assert(values[i].size == 0 ||
                                  (values[i].bytes >= bytes &&
                                          values[i].bytes + values[i].size <= bytes + size));
        }
        cr_expect_gt(good, 1000, "some survive: %u", good);
}
