/* SPDX-License-Identifier: MIT
 *
 * buf: a growable byte buffer that remembers its first failed allocation.
 *
 * Growth doubles, so that appending byte by byte stays linear. It knows nothing of what the
 * bytes mean, and a failed append leaves the content as it was.
 */
#include "ground/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUF_FIRST_CAPACITY = 64 };

void buf_release(struct buf *buf)
{
        free(buf->data);
        *buf = (struct buf)BUF_INIT;
}

void buf_reset(struct buf *buf)
{
        buf->size = 0;
        buf->error = 0;
}

int buf_error(const struct buf *buf)
{
        return buf->error;
}

int buf_reserve(struct buf *buf, size_t size)
{
        if (buf->error)
                return buf->error;
        if (size <= buf->capacity - buf->size)
                return 0;
        size_t capacity = buf->capacity <= SIZE_MAX / 2 ? buf->capacity * 2 : SIZE_MAX;
        if (capacity < BUF_FIRST_CAPACITY)
                capacity = BUF_FIRST_CAPACITY;
        if (size > SIZE_MAX - buf->size)
                return buf->error = -ENOMEM;
        if (capacity < buf->size + size)
                capacity = buf->size + size;
        uint8_t *data = realloc(buf->data, capacity);
        if (!data)
                return buf->error = -ENOMEM;
        buf->data = data;
        buf->capacity = capacity;
        return 0;
}

void buf_append(struct buf *buf, const void *bytes, size_t size)
{
        if (size == 0 || buf_reserve(buf, size) < 0)
                return;
        memcpy(buf->data + buf->size, bytes, size);
        buf->size += size;
}

void buf_append_byte(struct buf *buf, uint8_t byte)
{
        if (buf_reserve(buf, 1) < 0)
                return;
        buf->data[buf->size++] = byte;
}

void buf_append_string(struct buf *buf, const char *string)
{
        buf_append(buf, string, strlen(string));
}

void buf_append_format(struct buf *buf, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        int size = vsnprintf(NULL, 0, format, arguments);
        va_end(arguments);
        if (size < 0) {
                buf->error = -ENOMEM;
                return;
        }
        /* vsnprintf wants room for the NUL, which then does not count. */
        if (buf_reserve(buf, (size_t)size + 1) < 0)
                return;
        va_start(arguments, format);
        vsnprintf((char *)buf->data + buf->size, (size_t)size + 1, format, arguments);
        va_end(arguments);
        buf->size += (size_t)size;
}

void buf_append_hex(struct buf *buf, const void *bytes, size_t size)
{
        static const char digits[] = "0123456789abcdef";
        const uint8_t *byte = bytes;
        if (size > SIZE_MAX / 2)
                buf->error = -ENOMEM;
        if (buf_reserve(buf, size * 2) < 0)
                return;
        for (size_t i = 0; i < size; i++) {
                buf->data[buf->size++] = (uint8_t)digits[byte[i] >> 4];
                buf->data[buf->size++] = (uint8_t)digits[byte[i] & 15];
        }
}

/* Up to three bytes become four letters. */
static void append_group(struct buf *buf, const uint8_t *bytes, size_t size)
{
        static const char letters[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        uint32_t bits = (uint32_t)bytes[0] << 16;
        bits |= size > 1 ? (uint32_t)bytes[1] << 8 : 0;
        bits |= size > 2 ? bytes[2] : 0;
        for (size_t i = 0; i < 4; i++)
                buf->data[buf->size++] =
                        (uint8_t)(i <= size ? letters[bits >> (18 - 6 * i) & 63] : '=');
}

void buf_append_base64(struct buf *buf, const void *bytes, size_t size)
{
        const uint8_t *byte = bytes;
        if (size > SIZE_MAX / 4 * 3 - 2)
                buf->error = -ENOMEM;
        if (buf_reserve(buf, (size + 2) / 3 * 4) < 0)
                return;
        for (size_t i = 0; i < size; i += 3)
                append_group(buf, byte + i, size - i < 3 ? size - i : 3);
}

const char *buf_string(struct buf *buf)
{
        if (buf_reserve(buf, 1) < 0)
                return "";
        buf->data[buf->size] = 0;
        return (const char *)buf->data;
}

char *buf_steal(struct buf *buf)
{
        buf_string(buf);
        if (buf->error)
                return NULL;
        char *string = (char *)buf->data;
        *buf = (struct buf)BUF_INIT;
        return string;
}
