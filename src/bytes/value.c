/* SPDX-License-Identifier: MIT
 *
 * value: compares values, and writes them as sort keys and in a compact form.
 *
 * Equality is stricter than SQL's: storage classes never mix, so 1 and 1.0 differ, and so do
 * 0.0 and -0.0. It knows no collation and no affinity, and never looks into TEXT.
 */
#include "bytes/value.h"

#include <errno.h>
#include <string.h>

#include "ground/bytes.h"

#define SIGN_BIT (UINT64_C(1) << 63)

static uint64_t real_bits(double real)
{
        uint64_t bits;
        memcpy(&bits, &real, sizeof(bits));
        return bits;
}

static bool has_bytes(const struct value *value)
{
        return value->type == VALUE_TEXT || value->type == VALUE_BLOB;
}

bool value_equal(const struct value *a, const struct value *b)
{
        if (a->type != b->type)
                return false;
        switch (a->type) {
        case VALUE_NULL:
                return true;
        case VALUE_INTEGER:
                return a->integer == b->integer;
        case VALUE_REAL:
                return real_bits(a->real) == real_bits(b->real);
        default:
                return a->size == b->size &&
                       (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
        }
}

static void append_be64(struct buf *buf, uint64_t word)
{
        uint8_t bytes[8];
        put_be64(bytes, word);
        buf_append(buf, bytes, sizeof(bytes));
}

/* Bits of a double in the order of the numbers: a negative one falls as its bits rise. */
static uint64_t real_order(double real)
{
        uint64_t bits = real_bits(real);
        return bits & SIGN_BIT ? ~bits : bits | SIGN_BIT;
}

/* 00 stands as 00 ff and 00 00 ends: no form begins another, and a shorter text with the same
 * beginning comes first. */
static void append_key_bytes(struct buf *buf, const uint8_t *bytes, size_t size)
{
        size_t from = 0;
        for (size_t at = 0; at < size; at++) {
                if (bytes[at] != 0)
                        continue;
                buf_append(buf, bytes + from, at + 1 - from);
                buf_append_byte(buf, 0xff);
                from = at + 1;
        }
        if (from < size)
                buf_append(buf, bytes + from, size - from);
        buf_append(buf, "\0", 2);
}

void value_append_key(struct buf *buf, const struct value *value)
{
        buf_append_byte(buf, (uint8_t)value->type);
        if (value->type == VALUE_INTEGER)
                append_be64(buf, (uint64_t)value->integer ^ SIGN_BIT);
        else if (value->type == VALUE_REAL)
                append_be64(buf, real_order(value->real));
        else if (has_bytes(value))
                append_key_bytes(buf, value->bytes, value->size);
}

void value_append(struct buf *buf, const struct value *value)
{
        buf_append_byte(buf, (uint8_t)value->type);
        if (value->type == VALUE_INTEGER) {
                append_be64(buf, (uint64_t)value->integer);
        } else if (value->type == VALUE_REAL) {
                append_be64(buf, real_bits(value->real));
        } else if (has_bytes(value)) {
                uint8_t size[4];
                put_be32(size, value->size);
                buf_append(buf, size, sizeof(size));
                buf_append(buf, value->bytes, value->size);
        }
}

/* The 8 bytes of an INTEGER or REAL. */
static const uint8_t *parse_word(const uint8_t *p, const uint8_t *end, struct value *value)
{
        if (end - p < 8)
                return NULL;
        uint64_t bits = be64(p);
        if (value->type == VALUE_INTEGER)
                value->integer = (int64_t)bits;
        else
                memcpy(&value->real, &bits, sizeof(bits));
        return p + 8;
}

static const uint8_t *parse_bytes(const uint8_t *p, const uint8_t *end, struct value *value)
{
        if (end - p < 4 || (size_t)(end - p - 4) < be32(p))
                return NULL;
        value->size = be32(p);
        value->bytes = p + 4;
        return p + 4 + value->size;
}

int value_parse(const uint8_t **cursor, const uint8_t *end, struct value *ret_value)
{
        const uint8_t *p = *cursor;
        if (p >= end || *p > VALUE_BLOB)
                return -EBADMSG;
        struct value value = {.type = (enum value_type) * p++};
        if (has_bytes(&value))
                p = parse_bytes(p, end, &value);
        else if (value.type != VALUE_NULL)
                p = parse_word(p, end, &value);
        if (!p)
                return -EBADMSG;
        *cursor = p;
        *ret_value = value;
        return 0;
}
