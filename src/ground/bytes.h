/* SPDX-License-Identifier: MIT
 *
 * bytes: big-endian loads and stores, and SQLite's varint. Nothing else.
 * The caller has checked the bounds, except for varint_get, which takes them.
 */
#ifndef CDC_BYTES_H
#define CDC_BYTES_H

#include <stdint.h>

static inline uint16_t be16(const uint8_t *p)
{
        return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be32(const uint8_t *p)
{
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t be64(const uint8_t *p)
{
        return (uint64_t)be32(p) << 32 | be32(p + 4);
}

static inline void put_be16(uint8_t *p, uint16_t v)
{
        p[0] = (uint8_t)(v >> 8);
        p[1] = (uint8_t)v;
}

static inline void put_be32(uint8_t *p, uint32_t v)
{
        put_be16(p, (uint16_t)(v >> 16));
        put_be16(p + 2, (uint16_t)v);
}

static inline void put_be64(uint8_t *p, uint64_t v)
{
        put_be32(p, (uint32_t)(v >> 32));
        put_be32(p + 4, (uint32_t)v);
}

/* Reads a varint of 1 to 9 bytes at p, never at or beyond end (SQLite file format §1.6).
 * Returns the number of bytes it took, or 0 if it does not end before end. */
static inline unsigned varint_get(const uint8_t *p, const uint8_t *end, uint64_t *ret_value)
{
        uint64_t v = 0;
        for (unsigned i = 0; i < 8; i++) {
                if (p + i >= end)
                        return 0;
                v = v << 7 | (p[i] & 0x7f);
                if (!(p[i] & 0x80)) {
                        *ret_value = v;
                        return i + 1;
                }
        }
        if (p + 8 >= end)
                return 0;
        *ret_value = v << 8 | p[8];
        return 9;
}

/* Writes v as a varint; p has room for 9 bytes. Returns the number of bytes written. */
unsigned varint_put(uint8_t *p, uint64_t v);

#endif
