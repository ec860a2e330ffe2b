/* SPDX-License-Identifier: MIT
 *
 * delivered_jsonl: a strict reader of the JSONL of change functions: one object a line, members
 * in order, no spaces asked for.
 *
 * Numbers exact, infinities as 9.0e+999; BLOB "\\x…"; ill-formed TEXT "\\X…"; TEXT that itself
 * begins with \x or \X as {"$text": "…"}.
 */
#include "delivered.h"

#include <errno.h>
#include <string.h>

struct json {
        struct delivered *delivered;
        const char *at;
        const char *end;
        size_t line;
        struct bytes text; /* of the last string */
};

static int refuse(const struct json *json, const char *what)
{
        return delivered_refuse(json->delivered, json->line, what);
}

static void skip_spaces(struct json *json)
{
        while (json->at < json->end && *json->at == ' ')
                json->at++;
}

static int expect(struct json *json, char wanted)
{
        char what[] = "expected ' '";
        skip_spaces(json);
        if (json->at < json->end && *json->at == wanted) {
                json->at++;
                return 0;
        }
        what[sizeof(what) - 3] = wanted;
        return refuse(json, what);
}

static bool is_next(struct json *json, char wanted)
{
        skip_spaces(json);
        return json->at < json->end && *json->at == wanted;
}

static void append_utf8(struct bytes *text, uint32_t code)
{
        static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
        unsigned length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        if (length == 1) {
                bytes_append_u8(text, (uint8_t)code);
                return;
        }
        bytes_append_u8(text, (uint8_t)(leads[length] | code >> 6 * (length - 1)));
        for (unsigned i = length - 1; i-- > 0;)
                bytes_append_u8(text, (uint8_t)(0x80 | ((code >> 6 * i) & 0x3f)));
}

static int read_code_unit(struct json *json, uint32_t *ret_code)
{
        uint32_t code = 0;
        for (unsigned i = 0; i < 4; i++, json->at++) {
                static const char digits[] = "0123456789abcdefABCDEF";
                const char *digit =
                        json->at < json->end && *json->at ? strchr(digits, *json->at) : NULL;
                if (!digit)
                        return refuse(json, "\\u wants four hex digits");
                unsigned value = (unsigned)(digit - digits);
                code = code << 4 | (value > 15 ? value - 6 : value);
        }
        *ret_code = code;
        return 0;
}

static int read_unicode(struct json *json)
{
        uint32_t code = 0, low = 0;
        int result = read_code_unit(json, &code);
        if (result == 0 && code >= 0xd800 && code < 0xdc00) {
                if (json->end - json->at < 2 || memcmp(json->at, "\\u", 2) != 0)
                        return refuse(json, "a surrogate stands alone");
                json->at += 2;
                result = read_code_unit(json, &low);
                if (result == 0 && (low < 0xdc00 || low > 0xdfff))
                        return refuse(json, "a surrogate pair is broken");
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        } else if (result == 0 && code >= 0xdc00 && code <= 0xdfff) {
                return refuse(json, "a surrogate stands alone");
        }
        if (result == 0)
                append_utf8(&json->text, code);
        return result;
}

static int read_escape(struct json *json)
{
        static const char names[] = "\"\\/bfnrt";
        static const char values[] = "\"\\/\b\f\n\r\t";
        char name = *json->at++;
        if (name == 'u')
                return read_unicode(json);
        const char *found = name ? strchr(names, name) : NULL;
        if (!found)
                return refuse(json, "an unknown escape");
        bytes_append_u8(&json->text, (uint8_t)values[found - names]);
        return 0;
}

static int read_string(struct json *json)
{
        int result = expect(json, '"');
        json->text.size = 0;
        while (result == 0) {
                const char *start = json->at;
                while (json->at < json->end && *json->at != '"' && *json->at != '\\' &&
                        (uint8_t)*json->at >= 0x20)
                        json->at++;
                bytes_append(&json->text, start, (size_t)(json->at - start));
                if (json->end - json->at < 2 || (uint8_t)*json->at < 0x20)
                        return refuse(json, "a string does not end, or a bare control character");
                if (*json->at++ == '"')
                        break;
                result = read_escape(json);
        }
        bytes_string(&json->text);
        if (result == 0 && !cell_is_utf8(json->text.data, json->text.size))
                return refuse(json, "a string is not UTF-8");
        return result;
}

static bool is_escaped_text(const struct bytes *text)
{
        return text->size >= 2 && text->data[0] == '\\' &&
               (text->data[1] == 'x' || text->data[1] == 'X');
}

static int append_text(struct json *json)
{
        struct cell cell = {.type = CELL_TEXT, .bytes = json->text.data, .size = json->text.size};
        cell_append(&json->delivered->arena, &cell);
        return 0;
}

static int read_string_value(struct json *json)
{
        int result = read_string(json);
        if (result < 0)
                return result;
        if (!is_escaped_text(&json->text))
                return append_text(json);
        _cleanup_bytes_ struct bytes bytes = {0};
        if (!delivered_hex((const char *)json->text.data + 2, json->text.size - 2, &bytes))
                return refuse(json, "these are no lower hex digits");
        bool is_text = json->text.data[1] == 'X';
        if (is_text && !delivered_odd_text(json->delivered, &bytes))
                return refuse(json, "well-formed TEXT is given as \\X");
        struct cell cell = {
                .type = is_text ? CELL_TEXT : CELL_BLOB, .bytes = bytes.data, .size = bytes.size};
        cell_append(&json->delivered->arena, &cell);
        return 0;
}

static int read_wrapped_text(struct json *json)
{
        int result = expect(json, '{');
        if (result == 0)
                result = read_string(json);
        if (result == 0 && strcmp((const char *)json->text.data, "$text") != 0)
                return refuse(json, "an object that is not {\"$text\": …}");
        if (result == 0)
                result = expect(json, ':');
        if (result == 0)
                result = read_string(json);
        if (result == 0 && !is_escaped_text(&json->text))
                return refuse(json, "{\"$text\"} around TEXT that does not need it");
        if (result == 0)
                result = append_text(json);
        return result < 0 ? result : expect(json, '}');
}

static int read_number_or_null(struct json *json)
{
        const char *start = json->at;
        while (json->at < json->end && !strchr(",} \n", *json->at))
                json->at++;
        size_t size = (size_t)(json->at - start);
        struct cell cell = {.type = CELL_NULL};
        if (!(size == 4 && memcmp(start, "null", 4) == 0) && !delivered_number(start, size, &cell))
                return refuse(json, "a value is no number");
        cell_append(&json->delivered->arena, &cell);
        return 0;
}

static int read_value(struct json *json)
{
        if (is_next(json, '"'))
                return read_string_value(json);
        if (is_next(json, '{'))
                return read_wrapped_text(json);
        return read_number_or_null(json);
}

/* `"name":` of a metadata member. */
static int read_name(struct json *json, const char *wanted)
{
        int result = read_string(json);
        if (result == 0 && strcmp((const char *)json->text.data, wanted) != 0)
                return refuse(json, "the metadata members are not in order");
        return result < 0 ? result : expect(json, ':');
}

static int read_lsn(struct json *json, const char *name, char *ret_lsn)
{
        int result = read_name(json, name);
        if (result == 0)
                result = read_string(json);
        if (result < 0)
                return result;
        if (!delivered_is_lsn((const char *)json->text.data, json->text.size))
                return refuse(json, "not an LSN of 8:8:4 lower hex digits");
        memcpy(ret_lsn, json->text.data, LSN_SIZE - 1);
        return expect(json, ',');
}

static int read_operation(struct json *json, struct delivered_row *row)
{
        int result = read_name(json, "__$operation");
        skip_spaces(json);
        if (result < 0)
                return result;
        if (json->at >= json->end || *json->at < '1' || *json->at > '4')
                return refuse(json, "the operation is not 1 to 4");
        row->operation = (unsigned)(*json->at++ - '0');
        return expect(json, ',');
}

static int read_mask(struct json *json, struct delivered_row *row)
{
        struct bytes *arena = &json->delivered->arena;
        int result = read_name(json, "__$update_mask");
        if (result == 0)
                result = read_string(json);
        if (result < 0)
                return result;
        row->mask_at = arena->size;
        const char *text = (const char *)json->text.data;
        if (json->text.size < 2 || memcmp(text, "\\x", 2) != 0 ||
                !delivered_hex(text + 2, json->text.size - 2, arena))
                return refuse(json, "the mask is not \\x and lower hex");
        row->mask_size = arena->size - row->mask_at;
        return 0;
}

/* Members behind the metadata; the first row's names are the columns. */
static int read_columns(struct json *json, bool is_first)
{
        struct names *columns = &json->delivered->columns;
        unsigned index = 0;
        while (is_next(json, ',')) {
                json->at++;
                int result = read_string(json);
                if (result < 0)
                        return result;
                const char *name = (const char *)json->text.data;
                if (is_first)
                        names_add(columns, name);
                else if (index >= columns->count || strcmp(name, columns->items[index]) != 0)
                        return refuse(json, "the columns are not those of the first row");
                index++;
                result = expect(json, ':');
                if (result == 0)
                        result = read_value(json);
                if (result < 0)
                        return result;
        }
        return index == columns->count ? 0 : refuse(json, "a column is missing");
}

static int read_row(struct json *json)
{
        bool is_first = json->delivered->count == 0;
        struct delivered_row *row = delivered_append(json->delivered);
        int result = expect(json, '{');
        if (result == 0)
                result = read_lsn(json, "__$start_lsn", row->lsn);
        if (result == 0)
                result = read_lsn(json, "__$seqval", row->sequence);
        if (result == 0)
                result = read_operation(json, row);
        if (result == 0)
                result = read_mask(json, row);
        row->image_at = json->delivered->arena.size;
        if (result == 0)
                result = read_columns(json, is_first);
        row->image_size = json->delivered->arena.size - row->image_at;
        if (result == 0)
                result = expect(json, '}');
        if (result == 0)
                result = expect(json, '\n');
        json->line++;
        return result;
}

int delivered_parse_jsonl(struct delivered *delivered, const char *text, size_t size)
{
        struct json json = {delivered, text, text + size, 1, {0}};
        int result = 0;
        while (result == 0 && json.at < json.end)
                result = read_row(&json);
        bytes_release(&json.text);
        return result;
}
