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

#include "ground/cleanup.h"
#include "ground/number.h"

#define EVERY_BYTE(b) (UINT64_C(0x0101010101010101) * (b))
#define HIGH_BITS EVERY_BYTE(0x80)

enum { INTEGER_DIGITS = 20 };

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

void scalar_append_plain(struct buf *buf, const struct scalar_text *text)
{
        if (buf_reserve(buf, text->size + 2) < 0)
                return;
        uint8_t *at = buf->data + buf->size;
        *at++ = '"';
        if (text->size > 0)
                at = mempcpy(at, text->bytes, text->size);
        *at = '"';
        buf->size += text->size + 2;
}

/* Writes the digits before `end`, at least `least` of them. Returns where they begin. */
static char *put_digits(char *end, uint64_t value, unsigned least)
{
        char *at = end;
        while (value > 0 || end - at < (ptrdiff_t)least) {
                *--at = (char)('0' + value % 10);
                value /= 10;
        }
        return at;
}

void scalar_append_integer(struct buf *buf, int64_t value)
{
        char digits[INTEGER_DIGITS];
        char *end = digits + sizeof(digits);
        /* Negated as unsigned, because the smallest INTEGER has no positive twin. */
        uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        char *at = put_digits(end, size, 1);
        if (value < 0)
                *--at = '-';
        buf_append(buf, at, (size_t)(end - at));
}

static void append_decimal(
        struct buf *buf, uint64_t scaled, uint64_t power, unsigned places, bool is_negative)
{
        char text[NUMBER_SIZE];
        char *end = text + sizeof(text);
        char *at = put_digits(end, scaled % power, places);
        *--at = '.';
        at = put_digits(at, scaled / power, 1);
        if (is_negative)
                *--at = '-';
        buf_append(buf, at, (size_t)(end - at));
}

/* A REAL that some integer below 10^15 over a power of ten gives back is written as that: it is
 * the same text as the general way's, since no two decimals of 15 digits are the same double. The
 * quotient of two exact doubles is the double nearest to the decimal, which makes the proof. */
static bool append_short_real(struct buf *buf, double value)
{
        static const double powers[] = {1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
        static const double smallest = 1e-4, limit = 1e15; /* %.15g has an exponent outside */
        double size = fabs(value);
        bool is_zero = size == 0 && !signbit(value);
        if (!is_zero && !(size >= smallest && size < limit))
                return false;
        for (unsigned i = 0; i < COUNT(powers); i++) {
                double scaled = rint(size * powers[i]);
                if (scaled >= limit)
                        return false;
                if (scaled / powers[i] == size) {
                        append_decimal(
                                buf, (uint64_t)scaled, (uint64_t)powers[i], i + 1, value < 0);
                        return true;
                }
        }
        return false;
}

void scalar_append_real(struct buf *buf, double value)
{
        char text[NUMBER_SIZE];
        if (append_short_real(buf, value))
                return;
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

/* ---- JSON ---- */

/* The letter after the backslash, 'u' for \u00XX, 0 for a byte that stands as it is. */
static char escape_letter(uint8_t byte)
{
        switch (byte) {
        case '"':
        case '\\':
                return (char)byte;
        case '\n':
                return 'n';
        case '\t':
                return 't';
        case '\r':
                return 'r';
        case '\b':
                return 'b';
        case '\f':
                return 'f';
        default:
                return byte < 0x20 ? 'u' : 0;
        }
}

static void append_escape(struct buf *buf, uint8_t byte, char letter)
{
        buf_append_byte(buf, '\\');
        buf_append_byte(buf, (uint8_t)letter);
        if (letter != 'u')
                return;
        buf_append(buf, "00", 2);
        buf_append_hex(buf, &byte, 1);
}

/* Whatever needs no escape is copied in runs. */
void scalar_append_json(struct buf *buf, const uint8_t *bytes, size_t size)
{
        size_t run = 0;
        buf_append_byte(buf, '"');
        for (size_t i = 0; i < size; i++) {
                char letter = escape_letter(bytes[i]);
                if (!letter)
                        continue;
                buf_append(buf, bytes + run, i - run);
                append_escape(buf, bytes[i], letter);
                run = i + 1;
        }
        buf_append(buf, bytes + run, size - run);
        buf_append_byte(buf, '"');
}
