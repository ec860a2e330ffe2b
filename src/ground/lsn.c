/* SPDX-License-Identifier: MIT
 *
 * lsn: log sequence numbers as bytes and as text, and the bits of an update mask.
 *
 * Pure arithmetic. It does not know which LSNs exist, what a generation is, or which column
 * an ordinal stands for.
 */
#include "ground/lsn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ground/bytes.h"

struct lsn lsn_make(uint32_t generation, uint32_t frame, uint16_t slot)
{
        struct lsn lsn;
        put_be32(lsn.bytes, generation);
        put_be32(lsn.bytes + 4, frame);
        put_be16(lsn.bytes + 8, slot);
        return lsn;
}

uint32_t lsn_generation(struct lsn lsn)
{
        return be32(lsn.bytes);
}

uint32_t lsn_frame(struct lsn lsn)
{
        return be32(lsn.bytes + 4);
}

int lsn_compare(struct lsn a, struct lsn b)
{
        return memcmp(a.bytes, b.bytes, LSN_SIZE);
}

bool lsn_is_zero(struct lsn lsn)
{
        return lsn_compare(lsn, (struct lsn){{0}}) == 0;
}

struct lsn lsn_increment(struct lsn lsn)
{
        for (int i = LSN_SIZE - 1; i >= 0; i--) {
                if (++lsn.bytes[i] != 0)
                        break;
        }
        return lsn;
}

struct lsn lsn_decrement(struct lsn lsn)
{
        for (int i = LSN_SIZE - 1; i >= 0; i--) {
                if (lsn.bytes[i]-- != 0)
                        break;
        }
        return lsn;
}

/* The digit's value, or -1. */
static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        if (c >= 'A' && c <= 'F')
                return c - 'A' + 10;
        return -1;
}

/* Reads `size` bytes of digits; the text may end early. NULL at anything but a digit. */
static const char *parse_bytes(const char *text, uint8_t *bytes, unsigned size)
{
        for (unsigned i = 0; i < size; i++, text += 2) {
                int high = hex_digit(text[0]);
                int low = high < 0 ? -1 : hex_digit(text[1]);
                if (low < 0)
                        return NULL;
                bytes[i] = (uint8_t)(high << 4 | low);
        }
        return text;
}

int lsn_parse(const char *text, struct lsn *ret_lsn)
{
        struct lsn lsn;
        bool prefixed = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
        const char *rest = parse_bytes(prefixed ? text + 2 : text, lsn.bytes, 4);
        bool colons = !prefixed && rest && *rest == ':';
        if (rest)
                rest = parse_bytes(rest + colons, lsn.bytes + 4, 4);
        if (!rest || (colons && *rest != ':'))
                return -EINVAL;
        rest = parse_bytes(rest + colons, lsn.bytes + 8, 2);
        if (!rest || *rest != 0)
                return -EINVAL;
        *ret_lsn = lsn;
        return 0;
}

int lsn_parse_name(const char *name, struct lsn *ret_lsn)
{
        struct lsn lsn;
        if (!parse_bytes(name, lsn.bytes, LSN_SIZE))
                return -EINVAL;
        /* One LSN has one name: the same digits in upper case name nothing. */
        for (unsigned i = 0; i < 2 * LSN_SIZE; i++) {
                if (name[i] >= 'A' && name[i] <= 'F')
                        return -EINVAL;
        }
        *ret_lsn = lsn;
        return 0;
}

void lsn_format(struct lsn lsn, char ret_text[LSN_TEXT_SIZE])
{
        snprintf(ret_text, LSN_TEXT_SIZE, "%08x:%08x:%04x", lsn_generation(lsn), lsn_frame(lsn),
                be16(lsn.bytes + 8));
}

void lsn_format_name(struct lsn lsn, char ret_name[LSN_NAME_SIZE])
{
        snprintf(ret_name, LSN_NAME_SIZE, "%08x%08x%04x", lsn_generation(lsn), lsn_frame(lsn),
                be16(lsn.bytes + 8));
}

struct lsn lsn_from_change(uint64_t change)
{
        struct lsn lsn = {{0}};
        put_be64(lsn.bytes + 2, change);
        return lsn;
}

uint64_t lsn_to_change(struct lsn seqval)
{
        return be64(seqval.bytes + 2);
}

size_t mask_size(unsigned columns)
{
        return ((size_t)columns + 7) / 8;
}

void mask_set(uint8_t *mask, unsigned columns, unsigned ordinal)
{
        if (ordinal == 0 || ordinal > columns)
                return;
        unsigned bit = ordinal - 1;
        mask[mask_size(columns) - 1 - bit / 8] |= (uint8_t)(1u << bit % 8);
}

bool mask_is_set(const uint8_t *mask, size_t size, unsigned ordinal)
{
        if (ordinal == 0 || (ordinal - 1) / 8 >= size)
                return false;
        unsigned bit = ordinal - 1;
        return mask[size - 1 - bit / 8] >> bit % 8 & 1;
}

void mask_set_all(uint8_t *mask, unsigned columns)
{
        if (columns == 0)
                return;
        memset(mask, 0xff, mask_size(columns));
        mask[0] = (uint8_t)(0xff >> (7 - (columns - 1) % 8));
}
