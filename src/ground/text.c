/* SPDX-License-Identifier: MIT
 *
 * text: checks and converts encodings, and quotes names for SQL and for directories.
 *
 * Names and texts come from other people's databases, so nothing is taken to be well-formed.
 * It knows no locale and no Unicode tables: cases are folded for ASCII only, as SQLite does.
 */
#include "ground/text.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/hash.h"

enum { DIRECTORY_MAX = 200, UTF8_TAIL_MAX = 3 };

enum text_encoding text_encoding_of(const char *name)
{
        if (strcmp(name, "UTF-16le") == 0)
                return TEXT_UTF16LE;
        return strcmp(name, "UTF-16be") == 0 ? TEXT_UTF16BE : TEXT_UTF8;
}

enum text_encoding text_encoding_at(uint32_t number)
{
        bool is_utf16 = number == TEXT_UTF16LE || number == TEXT_UTF16BE;
        return is_utf16 ? (enum text_encoding)number : TEXT_UTF8;
}

static bool is_tail(uint8_t byte)
{
        return (byte & 0xc0) == 0x80;
}

/* What may follow a first byte (Unicode, table 3-7). The bounds of the second byte shut out
 * overlong forms, surrogates and what is beyond U+10FFFF. */
static const struct {
        uint8_t first, last;
        uint8_t size;
        uint8_t low, high;
} leads[] = {
        {0x00, 0x7f, 1, 0, 0},
        {0xc2, 0xdf, 2, 0x80, 0xbf},
        {0xe0, 0xe0, 3, 0xa0, 0xbf},
        {0xe1, 0xec, 3, 0x80, 0xbf},
        {0xed, 0xed, 3, 0x80, 0x9f},
        {0xee, 0xef, 3, 0x80, 0xbf},
        {0xf0, 0xf0, 4, 0x90, 0xbf},
        {0xf1, 0xf3, 4, 0x80, 0xbf},
        {0xf4, 0xf4, 4, 0x80, 0x8f},
};

/* Bytes of the well-formed character at p, or 0. */
static size_t character_size(const uint8_t *p, size_t left)
{
        size_t i = 0;
        while (i < COUNT(leads) && p[0] > leads[i].last)
                i++;
        if (i == COUNT(leads) || p[0] < leads[i].first || leads[i].size > left)
                return 0;
        size_t size = leads[i].size;
        if (size > 1 && (p[1] < leads[i].low || p[1] > leads[i].high))
                return 0;
        for (size_t at = 2; at < size; at++) {
                if (!is_tail(p[at]))
                        return 0;
        }
        return size;
}

bool text_is_utf8(const uint8_t *bytes, size_t size)
{
        for (size_t at = 0; at < size;) {
                size_t step = character_size(bytes + at, size - at);
                if (step == 0)
                        return false;
                at += step;
        }
        return true;
}

size_t text_cut(const uint8_t *bytes, size_t size, size_t limit)
{
        if (size <= limit)
                return size;
        size_t cut = limit;
        while (cut > 0 && limit - cut < UTF8_TAIL_MAX && is_tail(bytes[cut]))
                cut--;
        /* A longer run of tail bytes is no character; there is nothing to keep whole. */
        return is_tail(bytes[cut]) ? limit : cut;
}

static void append_character(struct buf *buf, uint32_t c)
{
        uint8_t bytes[4];
        size_t size = 0;
        if (c < 0x80) {
                bytes[size++] = (uint8_t)c;
        } else if (c < 0x800) {
                bytes[size++] = (uint8_t)(0xc0 | c >> 6);
                bytes[size++] = (uint8_t)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
                bytes[size++] = (uint8_t)(0xe0 | c >> 12);
                bytes[size++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
                bytes[size++] = (uint8_t)(0x80 | (c & 0x3f));
        } else {
                bytes[size++] = (uint8_t)(0xf0 | c >> 18);
                bytes[size++] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
                bytes[size++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
                bytes[size++] = (uint8_t)(0x80 | (c & 0x3f));
        }
        buf_append(buf, bytes, size);
}

static uint32_t utf16_unit(const uint8_t *p, enum text_encoding encoding)
{
        return encoding == TEXT_UTF16BE ? (uint32_t)(p[0] << 8 | p[1])
                                        : (uint32_t)(p[1] << 8 | p[0]);
}

int text_append_utf16(
        struct buf *buf, const uint8_t *bytes, size_t size, enum text_encoding encoding)
{
        size_t even = size - size % 2;
        for (size_t at = 0; at < even; at += 2) {
                uint32_t c = utf16_unit(bytes + at, encoding);
                if (c >= 0xd800 && c <= 0xdfff) {
                        uint32_t low = at + 2 < even ? utf16_unit(bytes + at + 2, encoding) : 0;
                        if (c >= 0xdc00 || low < 0xdc00 || low > 0xdfff)
                                return -EBADMSG;
                        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                        at += 2;
                }
                append_character(buf, c);
        }
        return even == size ? 0 : -EBADMSG;
}

static void append_quoted(struct buf *buf, const char *text, char quote)
{
        buf_append_byte(buf, (uint8_t)quote);
        for (const char *c = text; *c; c++) {
                if (*c == quote)
                        buf_append_byte(buf, (uint8_t)quote);
                buf_append_byte(buf, (uint8_t)*c);
        }
        buf_append_byte(buf, (uint8_t)quote);
}

void text_append_identifier(struct buf *buf, const char *name)
{
        append_quoted(buf, name, '"');
}

void text_append_literal(struct buf *buf, const char *text)
{
        append_quoted(buf, text, '\'');
}

static bool is_plain(char c)
{
        bool is_alphanumeric =
                (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return is_alphanumeric || (uint8_t)c >= 0x80 || (c && strchr("_@%+=:,./-", c));
}

void text_append_word(struct buf *buf, const char *word)
{
        const char *c = word;
        while (is_plain(*c))
                c++;
        if (*word && !*c) {
                buf_append_string(buf, word);
                return;
        }
        buf_append_byte(buf, '\'');
        for (c = word; *c; c++) {
                if (*c == '\'')
                        buf_append_string(buf, "'\\'");
                buf_append_byte(buf, (uint8_t)*c);
        }
        buf_append_byte(buf, '\'');
}

static bool needs_escape(uint8_t byte, bool first)
{
        if (byte < 0x20 || byte == 0x7f || byte == '/' || byte == '%' || byte == '\\')
                return true;
        return first && (byte == '.' || byte == '-');
}

static void append_escaped(struct buf *buf, const char *name)
{
        for (const char *c = name; *c; c++) {
                if (needs_escape((uint8_t)*c, c == name))
                        buf_append_format(buf, "%%%02X", (unsigned)(uint8_t)*c);
                else
                        buf_append_byte(buf, (uint8_t)*c);
        }
        /* No other name gives a lone %, and a directory must have a name. */
        if (*name == 0)
                buf_append_byte(buf, '%');
}

/* The cut keeps characters and %XX whole: a % in escaped text always begins three bytes. */
static size_t cut_escaped(const uint8_t *escaped, size_t size)
{
        size_t cut = text_cut(escaped, size, DIRECTORY_MAX);
        for (size_t back = 1; back <= 2; back++) {
                if (escaped[cut - back] == '%')
                        return cut - back;
        }
        return cut;
}

void text_append_directory(struct buf *buf, const char *name)
{
        size_t start = buf->size;
        append_escaped(buf, name);
        if (buf_error(buf) || buf->size - start <= DIRECTORY_MAX)
                return;
        buf->size = start + cut_escaped(buf->data + start, buf->size - start);
        buf_append_format(buf, "~%016" PRIx64, hash_bytes64(name, strlen(name)));
}

bool text_equal_name(const char *a, const char *b)
{
        return sqlite3_stricmp(a, b) == 0;
}
