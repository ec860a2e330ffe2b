/* SPDX-License-Identifier: MIT
 *
 * bytes: writes SQLite's varint; all other loads and stores are inline in the header.
 *
 * Knows the encoding alone: whether a number is a size, a serial type or a rowid is the
 * business of the rooms above.
 */
#include "ground/bytes.h"

enum { VARINT_SIZE_MAX = 9 };

unsigned varint_put(uint8_t *p, uint64_t v)
{
        unsigned size = 1;
        while (size < VARINT_SIZE_MAX && v >> (7 * size))
                size++;
        unsigned last = size;
        /* A ninth byte holds eight bits and needs no continuation bit. */
        if (size == VARINT_SIZE_MAX) {
                p[--last] = (uint8_t)v;
                v >>= 8;
        }
        for (unsigned i = last; i > 0; i--) {
                p[i - 1] = (uint8_t)((v & 0x7f) | (i < size ? 0x80 : 0));
                v >>= 7;
        }
        return size;
}
