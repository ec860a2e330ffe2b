/* SPDX-License-Identifier: MIT
 *
 * delivered: what both parsers need.
 */
#include "delivered.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void delivered_release(struct delivered *delivered)
{
        names_release(&delivered->columns);
        bytes_release(&delivered->arena);
        free(delivered->rows);
        *delivered = (struct delivered){0};
}

struct delivered_row *delivered_append(struct delivered *delivered)
{
        size_t count = delivered->count;
        if ((count & (count - 1)) == 0)
                delivered->rows = memory_grow(
                        delivered->rows, (count ? count * 2 : 1) * sizeof(*delivered->rows));
        struct delivered_row *row = &delivered->rows[delivered->count++];
        *row = (struct delivered_row){0};
        return row;
}

int delivered_refuse(struct delivered *delivered, size_t line, const char *what)
{
        if (!delivered->problem[0])
                snprintf(
                        delivered->problem, sizeof(delivered->problem), "line %zu: %s", line, what);
        return -EBADMSG;
}

static bool is_hex(char c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool delivered_is_lsn(const char *text, size_t size)
{
        bool is_lsn = size == LSN_SIZE - 1;
        for (size_t i = 0; is_lsn && i < size; i++)
                is_lsn = i == 8 || i == 17 ? text[i] == ':' : is_hex(text[i]);
        return is_lsn;
}

bool delivered_hex(const char *text, size_t size, struct bytes *bytes)
{
        if (size % 2)
                return false;
        for (size_t i = 0; i < size; i += 2) {
                if (!is_hex(text[i]) || !is_hex(text[i + 1]))
                        return false;
                unsigned high = (unsigned)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
                unsigned low =
                        (unsigned)(text[i + 1] <= '9' ? text[i + 1] - '0' : text[i + 1] - 'a' + 10);
                bytes_append_u8(bytes, (uint8_t)(high << 4 | low));
        }
        return true;
}

static void append_character(struct bytes *text, uint32_t c)
{
        if (c < 0x80) {
                bytes_append_u8(text, (uint8_t)c);
                return;
        }
        unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        bytes_append_u8(text, (uint8_t)(0x780u >> more | c >> 6 * more));
        while (more--)
                bytes_append_u8(text, (uint8_t)(0x80 | (c >> 6 * more & 0x3f)));
}

/* As SQLite reads it: a surrogate takes what follows for its other half. true: it is odd. */
static bool decode_utf16(struct bytes *text, const uint8_t *at, size_t size, bool is_big)
{
        bool is_odd = size % 2;
        for (size_t i = 0; i + 1 < size; i += 2) {
                uint32_t c = (uint32_t)(at[i + !is_big] << 8 | at[i + is_big]);
                if (c >= 0xd800 && c < 0xe000 && i + 3 < size) {
                        i += 2;
                        uint32_t low = (uint32_t)(at[i + !is_big] << 8 | at[i + is_big]);
                        is_odd |= c >= 0xdc00 || low < 0xdc00 || low >= 0xe000;
                        c = (low & 0x3ff) + ((c & 0x3f) << 10) + (((c & 0x3c0) + 0x40) << 10);
                }
                is_odd |= c == 0 || (c >= 0xd800 && c < 0xe000);
                append_character(text, c);
        }
        return is_odd;
}

bool delivered_odd_text(const struct delivered *delivered, struct bytes *bytes)
{
        struct bytes text = {0};
        if (strcmp(delivered->encoding, "UTF-8") == 0)
                return !cell_is_plain(bytes->data, bytes->size);
        bool is_big = strcmp(delivered->encoding, "UTF-16be") == 0;
        bool is_odd = decode_utf16(&text, bytes->data, bytes->size, is_big);
        bytes_release(bytes);
        *bytes = text;
        return is_odd;
}

static const char *skip_digits(const char *at)
{
        while (*at >= '0' && *at <= '9')
                at++;
        return at;
}

/* JSON's grammar of numbers. */
static const char *skip_number(const char *at, bool *ret_is_real)
{
        *ret_is_real = false;
        at += *at == '-';
        const char *start = at;
        at = skip_digits(at);
        if (at == start || (*start == '0' && at > start + 1))
                return NULL;
        if (*at == '.') {
                start = ++at;
                at = skip_digits(at);
                if (at == start)
                        return NULL;
                *ret_is_real = true;
        }
        if (*at == 'e') {
                at++;
                at += *at == '-' || *at == '+';
                start = at;
                at = skip_digits(at);
                if (at == start)
                        return NULL;
                *ret_is_real = true;
        }
        return at;
}

bool delivered_number(const char *text, size_t size, struct cell *ret_cell)
{
        char copy[64];
        bool is_real;
        if (size == 0 || size >= sizeof(copy))
                return false;
        memcpy(copy, text, size);
        copy[size] = 0;
        const char *end = skip_number(copy, &is_real);
        if (end != copy + size)
                return false;
        errno = 0;
        if (is_real) {
                *ret_cell = (struct cell){.type = CELL_REAL, .real = strtod(copy, NULL)};
                return true;
        }
        *ret_cell = cell_integer(strtoll(copy, NULL, 10));
        return errno == 0;
}

static bool same_rows(const struct delivered *a, const struct delivered_row *left,
        const struct delivered *b, const struct delivered_row *right)
{
        return strcmp(left->lsn, right->lsn) == 0 && strcmp(left->sequence, right->sequence) == 0 &&
               left->operation == right->operation && left->mask_size == right->mask_size &&
               left->image_size == right->image_size &&
               memcmp(a->arena.data + left->mask_at, b->arena.data + right->mask_at,
                       left->mask_size) == 0 &&
               memcmp(a->arena.data + left->image_at, b->arena.data + right->image_at,
                       left->image_size) == 0;
}

int delivered_compare(struct delivered *a, const struct delivered *b)
{
        if (a->count != b->count)
                return delivered_refuse(a, a->count < b->count ? a->count : b->count,
                        "CSV and JSONL have different numbers of rows");
        for (size_t i = 0; i < a->count; i++)
                if (!same_rows(a, &a->rows[i], b, &b->rows[i]))
                        return delivered_refuse(a, i + 1, "CSV and JSONL differ in this row");
        if (a->count && !names_equal(&a->columns, &b->columns))
                return delivered_refuse(a, 0, "CSV and JSONL have different columns");
        return 0;
}
