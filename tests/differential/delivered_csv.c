/* SPDX-License-Identifier: MIT
 *
 * delivered_csv: a strict reader of the CSV of change functions.
 *
 * NULL = nothing; TEXT always quoted; INTEGER bare; REAL bare with `.` or `e`, Infinity;
 * BLOB bare \x and lower hex; TEXT that is ill-formed or holds NUL bare \X and lower hex.
 */
#include "delivered.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct csv {
        struct delivered *delivered;
        const char *at;
        const char *end;
        size_t line;
};

/* One field as it stands: quoted ones are unquoted into the buffer. */
struct field {
        bool is_quoted;
        struct bytes text;
};

static void field_release(struct field *field)
{
        bytes_release(&field->text);
}

static int refuse(const struct csv *csv, const char *what)
{
        return delivered_refuse(csv->delivered, csv->line, what);
}

static int read_quoted(struct csv *csv, struct field *field)
{
        csv->at++;
        for (;;) {
                const char *quote = memchr(csv->at, '"', (size_t)(csv->end - csv->at));
                if (!quote)
                        return refuse(csv, "a quote does not end");
                bytes_append(&field->text, csv->at, (size_t)(quote - csv->at));
                csv->at = quote + 1;
                if (csv->at >= csv->end || *csv->at != '"')
                        return 0;
                bytes_append_u8(&field->text, '"');
                csv->at++;
        }
}

/* Reads a field and what ends it: 1 a comma, 0 the end of the line, or -EBADMSG. */
static int read_field(struct csv *csv, struct field *field)
{
        field->text.size = 0;
        field->is_quoted = csv->at < csv->end && *csv->at == '"';
        if (field->is_quoted) {
                int result = read_quoted(csv, field);
                if (result < 0)
                        return result;
        }
        const char *start = csv->at;
        while (csv->at < csv->end && *csv->at != ',' && *csv->at != '\n')
                csv->at++;
        if (field->is_quoted && csv->at > start)
                return refuse(csv, "text behind a closing quote");
        if (!field->is_quoted)
                bytes_append(&field->text, start, (size_t)(csv->at - start));
        if (csv->at >= csv->end)
                return refuse(csv, "the last line does not end in LF");
        return *csv->at++ == ',';
}

static int read_header(struct csv *csv)
{
        static const char *const metadata[] = {
                "__$start_lsn", "__$seqval", "__$operation", "__$update_mask"};
        __attribute__((cleanup(field_release))) struct field field = {0};
        int more = 1;
        for (unsigned i = 0; more > 0; i++) {
                more = read_field(csv, &field);
                if (more < 0)
                        return more;
                const char *name = bytes_string(&field.text);
                if (i >= COUNT(metadata))
                        names_add(&csv->delivered->columns, name);
                else if (strcmp(name, metadata[i]) != 0)
                        return refuse(csv, "the header does not begin with the metadata columns");
        }
        csv->line++;
        return csv->delivered->columns.count ? 0 : refuse(csv, "the header has no columns");
}

/* \x or \X and hex: the bytes stand in `bytes`. */
static int read_hex_value(
        const struct csv *csv, const struct field *field, struct bytes *bytes, struct cell *cell)
{
        const char *text = (const char *)field->text.data;
        if (text[1] != 'x' && text[1] != 'X')
                return refuse(csv, "a bare value begins with a backslash");
        if (!delivered_hex(text + 2, field->text.size - 2, bytes))
                return refuse(csv, "these are no lower hex digits");
        bool is_text = text[1] == 'X';
        if (is_text && !delivered_odd_text(csv->delivered, bytes))
                return refuse(csv, "well-formed TEXT is given as \\X");
        *cell = (struct cell){
                .type = is_text ? CELL_TEXT : CELL_BLOB, .bytes = bytes->data, .size = bytes->size};
        return 0;
}

static int read_bare_value(
        const struct csv *csv, const struct field *field, struct bytes *bytes, struct cell *cell)
{
        const char *text = (const char *)field->text.data;
        size_t size = field->text.size;
        if (size == 0)
                *cell = (struct cell){.type = CELL_NULL};
        else if (text[0] == '\\' && size >= 2)
                return read_hex_value(csv, field, bytes, cell);
        else if (size == 8 && memcmp(text, "Infinity", 8) == 0)
                *cell = (struct cell){.type = CELL_REAL, .real = INFINITY};
        else if (size == 9 && memcmp(text, "-Infinity", 9) == 0)
                *cell = (struct cell){.type = CELL_REAL, .real = -INFINITY};
        else if (!delivered_number(text, size, cell))
                return refuse(csv, "a bare value is no number");
        return 0;
}

static int read_value(const struct csv *csv, const struct field *field)
{
        _cleanup_bytes_ struct bytes bytes = {0};
        struct cell cell = {.type = CELL_TEXT, .bytes = field->text.data, .size = field->text.size};
        int result = 0;
        if (!field->is_quoted)
                result = read_bare_value(csv, field, &bytes, &cell);
        else if (!cell_is_plain(cell.bytes, cell.size))
                return refuse(csv, "quoted TEXT is ill-formed or holds NUL");
        if (result == 0)
                cell_append(&csv->delivered->arena, &cell);
        return result;
}

static int read_mask(const struct csv *csv, const struct field *field, struct delivered_row *row)
{
        struct bytes *arena = &csv->delivered->arena;
        const char *text = (const char *)field->text.data;
        row->mask_at = arena->size;
        if (field->text.size < 2 || memcmp(text, "\\x", 2) != 0 ||
                !delivered_hex(text + 2, field->text.size - 2, arena))
                return refuse(csv, "the mask is not \\x and lower hex");
        row->mask_size = arena->size - row->mask_at;
        return 0;
}

/* The first four columns. */
static int read_metadata(
        const struct csv *csv, const struct field *field, unsigned index, struct delivered_row *row)
{
        const char *text = (const char *)field->text.data;
        if (field->is_quoted)
                return refuse(csv, "metadata is quoted");
        if (index == 3)
                return read_mask(csv, field, row);
        if (index == 2) {
                if (field->text.size != 1 || text[0] < '1' || text[0] > '4')
                        return refuse(csv, "the operation is not 1 to 4");
                row->operation = (unsigned)(text[0] - '0');
                return 0;
        }
        if (!delivered_is_lsn(text, field->text.size))
                return refuse(csv, "not an LSN of 8:8:4 lower hex digits");
        memcpy(index == 0 ? row->lsn : row->sequence, text, LSN_SIZE - 1);
        return 0;
}

static int read_row(struct csv *csv, struct field *field)
{
        struct delivered_row *row = delivered_append(csv->delivered);
        unsigned width = csv->delivered->columns.count + 4;
        int result = 0;
        int more = 1;
        for (unsigned i = 0; result == 0 && i < width; i++) {
                if (!more)
                        return refuse(csv, "too few fields");
                more = read_field(csv, field);
                if (more < 0)
                        return more;
                if (i == 4)
                        row->image_at = csv->delivered->arena.size;
                result = i < 4 ? read_metadata(csv, field, i, row) : read_value(csv, field);
        }
        row->image_size = csv->delivered->arena.size - row->image_at;
        csv->line++;
        return result == 0 && more ? refuse(csv, "too many fields") : result;
}

int delivered_parse_csv(struct delivered *delivered, const char *text, size_t size)
{
        struct csv csv = {delivered, text, text + size, 1};
        __attribute__((cleanup(field_release))) struct field field = {0};
        int result = read_header(&csv);
        while (result == 0 && csv.at < csv.end)
                result = read_row(&csv, &field);
        return result;
}
