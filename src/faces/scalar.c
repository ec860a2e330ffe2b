/* SPDX-License-Identifier: MIT
 *
 * scalar: integers, reals, LSNs and the look at a text, without printf.
 *
 * Most texts are short ASCII with nothing in them that any format has to escape. Eight bytes at
 * a time are looked at to find that out; only the others are read by character. It refuses to
 * know what a format does with them.
 */
#include "faces/scalar.h"

#include <math.h>
#include <string.h>

#include "ground/number.h"

#define EVERY_BYTE(b) (UINT64_C(0x0101010101010101) * (b))
#define HIGH_BITS EVERY_BYTE(0x80)

enum { INTEGER_DIGITS = 20, EXACT_REAL_MAX_DIGITS = 15 };

static const char hex_digits[] = "0123456789abcdef";

/* The high bit of a byte of the result is set if that byte is zero (false hits only above a
 * true one). */
static inline uint64_t zero_bytes(uint64_t word)
{
        return (word - EVERY_BYTE(1)) & ~word & HIGH_BITS;
}

static inline bool is_plain_word(uint64_t word)
{
        uint64_t control = (word - EVERY_BYTE(0x20)) & ~word & HIGH_BITS;
        uint64_t quote = zero_bytes(word ^ EVERY_BYTE('"'));
        uint64_t backslash = zero_bytes(word ^ EVERY_BYTE('\\'));
        return ((word & HIGH_BITS) | control | quote | backslash) == 0;
}

static bool is_plain(const uint8_t *bytes, size_t size)
{
        while (size >= sizeof(uint64_t)) {
                uint64_t word;
                memcpy(&word, bytes, sizeof(word));
                if (!is_plain_word(word))
                        return false;
                bytes += sizeof(word);
                size -= sizeof(word);
        }
        uint64_t rest = EVERY_BYTE(' ');
        memcpy(&rest, bytes, size);
        return is_plain_word(rest);
}

/* UTF-16 has no fast way: whatever comes out is read by character later. */
static int read_utf16(
        const struct value *value, enum text_encoding encoding, struct scalar_text *text)
{
        int r = text_append_utf16(&text->converted, value->bytes, value->size, encoding);
        if (buf_error(&text->converted))
                return buf_error(&text->converted);
        if (r < 0 || memchr(text->converted.data, 0, text->converted.size)) {
                text->care = SCALAR_ODD;
                return 0;
        }
        text->care = SCALAR_TEXT;
        text->bytes = text->converted.data;
        text->size = text->converted.size;
        return 0;
}

static bool is_text(const uint8_t *bytes, size_t size)
{
        return text_is_utf8(bytes, size) && !memchr(bytes, 0, size);
}

int scalar_text_read(
        const struct value *value, enum text_encoding encoding, struct scalar_text *ret_text)
{
        *ret_text = (struct scalar_text){SCALAR_PLAIN, value->bytes, value->size, BUF_INIT};
        if (value->size == 0)
                return 0;
        if (encoding != TEXT_UTF8)
                return read_utf16(value, encoding, ret_text);
        if (!is_plain(value->bytes, value->size))
                ret_text->care = is_text(value->bytes, value->size) ? SCALAR_TEXT : SCALAR_ODD;
        return 0;
}

void scalar_text_release(struct scalar_text *text)
{
        buf_release(&text->converted);
}

void scalar_append_integer(struct buf *buf, int64_t value)
{
        char digits[INTEGER_DIGITS];
        char *at = digits + sizeof(digits);
        /* Negated as unsigned, because the smallest INTEGER has no positive twin. */
        uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        do {
                *--at = (char)('0' + left % 10);
                left /= 10;
        } while (left > 0);
        if (value < 0)
                *--at = '-';
        buf_append(buf, at, (size_t)(digits + sizeof(digits) - at));
}

void scalar_append_real(struct buf *buf, double value)
{
        static const double exact_limit = 1e15; /* where %.15g begins to write an exponent */
        char text[NUMBER_SIZE];
        bool is_negative_zero = value == 0 && signbit(value);
        if (fabs(value) < exact_limit && value == (double)(int64_t)value && !is_negative_zero) {
                scalar_append_integer(buf, (int64_t)value);
                buf_append(buf, ".0", 2);
                return;
        }
        int size = number_format_real(value, text);
        buf_append(buf, text, (size_t)size);
}

static char *put_hex(char *at, const uint8_t *bytes, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                *at++ = hex_digits[bytes[i] >> 4];
                *at++ = hex_digits[bytes[i] & 15];
        }
        return at;
}

void scalar_append_lsn(struct buf *buf, const uint8_t bytes[LSN_SIZE])
{
        char text[LSN_TEXT_SIZE];
        char *at = put_hex(text, bytes, 4);
        *at++ = ':';
        at = put_hex(at, bytes + 4, 4);
        *at++ = ':';
        at = put_hex(at, bytes + 8, 2);
        buf_append(buf, text, (size_t)(at - text));
}
