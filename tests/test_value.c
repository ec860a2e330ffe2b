/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/value.h"
#include "ground/bytes.h"
#include "ground/cleanup.h"
#include "prng.h"

#define TEXT(s)                                                                                    \
        {                                                                                          \
                .type = VALUE_TEXT, .size = sizeof(s) - 1, .bytes = (const uint8_t *)(s)           \
        }
#define BLOB(s)                                                                                    \
        {                                                                                          \
                .type = VALUE_BLOB, .size = sizeof(s) - 1, .bytes = (const uint8_t *)(s)           \
        }
#define INTEGER(i)                                                                                 \
        {                                                                                          \
                .type = VALUE_INTEGER, .integer = (i)                                              \
        }
#define REAL(r)                                                                                    \
        {                                                                                          \
                .type = VALUE_REAL, .real = (r)                                                    \
        }

/* In the order of their keys; no two are equal. */
static const struct value rising[] = {
        {.type = VALUE_NULL},
        INTEGER(INT64_MIN),
        INTEGER(INT64_MIN + 1),
        INTEGER(-256),
        INTEGER(-1),
        INTEGER(0),
        INTEGER(1),
        INTEGER(255),
        INTEGER(256),
        INTEGER(INT64_MAX),
        REAL(-INFINITY),
        REAL(-DBL_MAX),
        REAL(-1.5),
        REAL(-1.0),
        REAL(-DBL_TRUE_MIN),
        REAL(-0.0),
        REAL(0.0),
        REAL(DBL_TRUE_MIN),
        REAL(1.0),
        REAL(1.5),
        REAL(1e300),
        REAL(INFINITY),
        TEXT(""),
        TEXT("\0"),
        TEXT("\0\0"),
        TEXT("\0\1"),
        TEXT("\0\xff"),
        TEXT("\1"),
        TEXT("a"),
        TEXT("a\0"),
        TEXT("a\0b"),
        TEXT("a\1"),
        TEXT("aa"),
        TEXT("b"),
        TEXT("\xff"),
        TEXT("\xff\xff"),
        BLOB(""),
        BLOB("\0"),
        BLOB("a"),
        BLOB("a\0\0"),
        BLOB("ab"),
};

static int sign(int order)
{
        return (order > 0) - (order < 0);
}

/* memcmp over both, where one that begins the other must not happen. */
static int compare_keys(const struct buf *a, const struct buf *b)
{
        size_t size = a->size < b->size ? a->size : b->size;
        int order = memcmp(a->data, b->data, size);
        cr_assert(order != 0 || a->size == b->size, "one key begins another");
        return sign(order);
}

Test(value, equal_means_same_class_and_same_bytes)
{
        for (size_t i = 0; i < COUNT(rising); i++) {
                for (size_t j = 0; j < COUNT(rising); j++)
                        cr_expect_eq(value_equal(&rising[i], &rising[j]), i == j, "%zu %zu", i, j);
        }
}

Test(value, equal_bytes_may_stand_in_different_places)
{
        char first[] = "same", second[] = "same";
        struct value a = {.type = VALUE_TEXT, .size = 4, .bytes = (const uint8_t *)first};
        struct value b = {.type = VALUE_TEXT, .size = 4, .bytes = (const uint8_t *)second};
        cr_expect(value_equal(&a, &b));
        struct value empty = {.type = VALUE_TEXT, .size = 0, .bytes = NULL};
        struct value other = {.type = VALUE_TEXT, .size = 0, .bytes = (const uint8_t *)first};
        cr_expect(value_equal(&empty, &other));
}

Test(value, keys_order_by_class_and_then_by_value)
{
        for (size_t i = 0; i < COUNT(rising); i++) {
                for (size_t j = 0; j < COUNT(rising); j++) {
                        _cleanup_(buf_release) struct buf a = BUF_INIT;
                        _cleanup_(buf_release) struct buf b = BUF_INIT;
                        value_append_key(&a, &rising[i]);
                        value_append_key(&b, &rising[j]);
                        cr_expect_eq(compare_keys(&a, &b), sign((int)i - (int)j), "%zu %zu", i, j);
                }
        }
}

Test(value, keys_of_lists_order_as_the_lists)
{
        struct prng prng = {17};
        for (unsigned round = 0; round < 50000; round++) {
                _cleanup_(buf_release) struct buf a = BUF_INIT;
                _cleanup_(buf_release) struct buf b = BUF_INIT;
                int order = 0;
                for (unsigned i = 0; i < 3; i++) {
                        /* Equal beginnings are what the later values are there for. */
                        int left = (int)prng_below(&prng, COUNT(rising));
                        int right =
                                prng_below(&prng, 2) ? left : (int)prng_below(&prng, COUNT(rising));
                        value_append_key(&a, &rising[left]);
                        value_append_key(&b, &rising[right]);
                        order = order ? order : sign(left - right);
                }
                cr_assert_eq(compare_keys(&a, &b), order);
        }
}

static struct value random_value(struct prng *prng, uint8_t *bytes, size_t size)
{
        struct value value = {.type = (enum value_type)prng_below(prng, VALUE_BLOB + 1)};
        if (value.type == VALUE_INTEGER) {
                value.integer = (int64_t)(prng_next(prng) >> prng_below(prng, 64));
        } else if (value.type == VALUE_REAL) {
                uint64_t bits = prng_next(prng);
                memcpy(&value.real, &bits, sizeof(bits));
        } else if (value.type != VALUE_NULL) {
                value.size = prng_below(prng, (uint32_t)size + 1);
                value.bytes = bytes;
                for (uint32_t i = 0; i < value.size; i++)
                        bytes[i] = (uint8_t)(prng_below(prng, 3) * 0x7f);
        }
        return value;
}

Test(value, keys_are_equal_exactly_where_values_are)
{
        struct prng prng = {23};
        for (unsigned round = 0; round < 50000; round++) {
                uint8_t first[3], second[3];
                struct value a = random_value(&prng, first, sizeof(first));
                struct value b = random_value(&prng, second, sizeof(second));
                _cleanup_(buf_release) struct buf key_a = BUF_INIT;
                _cleanup_(buf_release) struct buf key_b = BUF_INIT;
                value_append_key(&key_a, &a);
                value_append_key(&key_b, &b);
                cr_assert_eq(compare_keys(&key_a, &key_b) == 0, value_equal(&a, &b));
        }
}

Test(value, the_compact_form_reads_back)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        for (size_t i = 0; i < COUNT(rising); i++)
                value_append(&buf, &rising[i]);
        const uint8_t *cursor = buf.data, *end = buf.data + buf.size;
        for (size_t i = 0; i < COUNT(rising); i++) {
                struct value value;
                cr_assert_eq(value_parse(&cursor, end, &value), 0, "%zu", i);
                cr_expect(value_equal(&value, &rising[i]), "%zu", i);
                cr_expect(value.size == 0 || (value.bytes >= buf.data && value.bytes < end));
        }
        cr_expect_eq(cursor, end);
}

Test(value, the_compact_form_is_what_the_header_says)
{
        static const struct {
                struct value value;
                const char *bytes;
                size_t size;
        } cases[] = {
                {{.type = VALUE_NULL}, "\0", 1},
                {INTEGER(-2), "\1\xff\xff\xff\xff\xff\xff\xff\xfe", 9},
                {REAL(1.0), "\2\x3f\xf0\0\0\0\0\0\0", 9},
                {TEXT("a\0"), "\3\0\0\0\2a\0", 7},
                {BLOB(""), "\4\0\0\0\0", 5},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                value_append(&buf, &cases[i].value);
                cr_expect_eq(buf.size, cases[i].size, "%zu", i);
                cr_expect_eq(memcmp(buf.data, cases[i].bytes, cases[i].size), 0, "%zu", i);
        }
}

Test(value, a_form_cut_short_is_refused_and_the_cursor_stays)
{
        for (size_t i = 0; i < COUNT(rising); i++) {
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                value_append(&buf, &rising[i]);
                for (size_t size = 0; size < buf.size; size++) {
                        /* An exact copy, so that a sanitizer sees a read behind it. */
                        _cleanup_free_ uint8_t *bytes = malloc(size + !size);
                        const uint8_t *cursor = bytes;
                        struct value value;
                        memcpy(bytes, buf.data, size);
                        cr_expect_eq(value_parse(&cursor, bytes + size, &value), -EBADMSG,
                                "%zu %zu", i, size);
                        cr_expect_eq(cursor, bytes);
                }
        }
}

Test(value, unknown_types_and_sizes_beyond_the_end_are_refused)
{
        static const char *const cases[] = {
                "\5\0\0\0\0\0\0\0\0\0",
                "\xff\0\0\0\0\0\0\0\0\0",
                "\3\xff\xff\xff\xff-----",
                "\4\x80\0\0\0-----",
                "\4\0\0\0\6-----",
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                const uint8_t *cursor = (const uint8_t *)cases[i];
                struct value value;
                cr_expect_eq(value_parse(&cursor, cursor + 10, &value), -EBADMSG, "%zu", i);
        }
}

Test(value, random_bytes_never_read_outside)
{
        struct prng prng = {31};
        for (unsigned round = 0; round < 20000; round++) {
                size_t size = prng_below(&prng, 40);
                _cleanup_free_ uint8_t *bytes = malloc(size + !size);
                for (size_t i = 0; i < size; i++)
                        bytes[i] = (uint8_t)(prng_below(&prng, 8) ? prng_below(&prng, 6)
                                                                  : prng_next(&prng));
                const uint8_t *cursor = bytes;
                struct value value;
                int result;
                while ((result = value_parse(&cursor, bytes + size, &value)) == 0) {
                        cr_assert(cursor <= bytes + size);
                        cr_assert(value.size == 0 || value.bytes + value.size == cursor);
                }
                cr_assert_eq(result, -EBADMSG);
        }
}
