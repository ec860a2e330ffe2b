/* SPDX-License-Identifier: MIT
 *
 * cell: see cell.h.
 */
#include "cell.h"

#include <string.h>

void cell_append(struct bytes *row, const struct cell *cell)
{
        bytes_append_u8(row, (uint8_t)cell->type);
        if (cell->type == CELL_INTEGER)
                bytes_append(row, &cell->integer, sizeof(cell->integer));
        else if (cell->type == CELL_REAL)
                bytes_append(row, &cell->real, sizeof(cell->real));
        else if (cell->type != CELL_NULL)
                bytes_append_blob(row, cell->bytes, cell->size);
}

bool cell_read(struct reader *reader, struct cell *ret_cell)
{
        if (reader->at >= reader->end)
                return false;
        struct cell cell = {.type = (enum cell_type)read_u8(reader)};
        uint64_t bits = 0;
        switch (cell.type) {
        case CELL_NULL:
                break;
        case CELL_INTEGER:
        case CELL_REAL:
                bits = read_u64(reader);
                memcpy(cell.type == CELL_REAL ? (void *)&cell.real : (void *)&cell.integer, &bits,
                        sizeof(bits));
                break;
        case CELL_TEXT:
        case CELL_BLOB:
                cell.bytes = read_blob(reader, &cell.size);
                break;
        default:
                reader->is_broken = true;
        }
        *ret_cell = cell;
        return !reader->is_broken;
}

struct cell cell_of_value(sqlite3_value *value)
{
        struct cell cell = {.type = CELL_NULL};
        switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER:
                return cell_integer(sqlite3_value_int64(value));
        case SQLITE_FLOAT:
                return (struct cell){.type = CELL_REAL, .real = sqlite3_value_double(value)};
        case SQLITE_TEXT:
                cell.type = CELL_TEXT;
                cell.bytes = sqlite3_value_text(value);
                break;
        case SQLITE_BLOB:
                cell.type = CELL_BLOB;
                cell.bytes = sqlite3_value_blob(value);
                break;
        default:
                return cell;
        }
        cell.size = (size_t)sqlite3_value_bytes(value);
        return cell;
}

struct cell cell_of_column(sqlite3_stmt *statement, int column)
{
        return cell_of_value(sqlite3_column_value(statement, column));
}

void cell_append_columns(struct bytes *row, sqlite3_stmt *statement, int first)
{
        int count = sqlite3_column_count(statement);
        for (int i = first; i < count; i++) {
                struct cell cell = cell_of_column(statement, i);
                cell_append(row, &cell);
        }
}

int cell_bind(sqlite3_stmt *statement, int parameter, const struct cell *cell)
{
        switch (cell->type) {
        case CELL_INTEGER:
                return sqlite3_bind_int64(statement, parameter, cell->integer);
        case CELL_REAL:
                return sqlite3_bind_double(statement, parameter, cell->real);
        case CELL_TEXT:
                return sqlite3_bind_text64(statement, parameter,
                        cell->size ? (const char *)cell->bytes : "", cell->size, SQLITE_STATIC,
                        SQLITE_UTF8);
        case CELL_BLOB:
                if (!cell->size)
                        return sqlite3_bind_zeroblob(statement, parameter, 0);
                return sqlite3_bind_blob64(
                        statement, parameter, cell->bytes, cell->size, SQLITE_STATIC);
        default:
                return sqlite3_bind_null(statement, parameter);
        }
}

static void print_bytes(FILE *file, const struct cell *cell, size_t shown)
{
        bool is_text = cell->type == CELL_TEXT;
        for (size_t i = 0; i < shown; i++) {
                uint8_t byte = cell->bytes[i];
                is_text = is_text && byte >= ' ' && byte < 0x7f && byte != '\'';
        }
        if (is_text) {
                fprintf(file, "'%.*s'", (int)shown, (const char *)cell->bytes);
                return;
        }
        fputs(cell->type == CELL_TEXT ? "CAST(x'" : "x'", file);
        for (size_t i = 0; i < shown; i++)
                fprintf(file, "%02x", cell->bytes[i]);
        fputs(cell->type == CELL_TEXT ? "' AS TEXT)" : "'", file);
}

void cell_print(FILE *file, const struct cell *cell)
{
        enum { SHOWN = 40 };
        size_t shown = cell->size < SHOWN ? cell->size : SHOWN;
        switch (cell->type) {
        case CELL_NULL:
                fputs("NULL", file);
                return;
        case CELL_INTEGER:
                fprintf(file, "%lld", (long long)cell->integer);
                return;
        case CELL_REAL:
                fprintf(file, "%#.17g", cell->real);
                return;
        default:
                print_bytes(file, cell, shown);
                if (shown < cell->size)
                        fprintf(file, "…(%zu bytes, hash %016llx)", cell->size,
                                (unsigned long long)bytes_hash(cell->bytes, cell->size));
        }
}

void row_print(FILE *file, const void *image, size_t size)
{
        struct reader reader = {image, (const uint8_t *)image + size, false};
        struct cell cell;
        fputc('(', file);
        for (unsigned i = 0; cell_read(&reader, &cell); i++) {
                fputs(i ? ", " : "", file);
                cell_print(file, &cell);
        }
        fputc(')', file);
}

/* Length of the well-formed sequence at `at`, or 0. */
static size_t utf8_sequence(const uint8_t *at, size_t left)
{
        static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
        size_t length = at[0] < 0x80         ? 1
                        : at[0] >> 5 == 0x06 ? 2
                        : at[0] >> 4 == 0x0e ? 3
                        : at[0] >> 3 == 0x1e ? 4
                                             : 0;
        if (length < 2 || length > left)
                return length == 1 ? 1 : 0;
        uint32_t code = at[0] & (0x7fu >> length);
        for (size_t i = 1; i < length; i++) {
                if (at[i] >> 6 != 2)
                        return 0;
                code = code << 6 | (at[i] & 0x3f);
        }
        bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
        return code < smallest[length] || code > 0x10ffff || is_surrogate ? 0 : length;
}

bool cell_is_utf8(const uint8_t *bytes, size_t size)
{
        for (size_t i = 0; i < size;) {
                size_t length = utf8_sequence(bytes + i, size - i);
                if (!length)
                        return false;
                i += length;
        }
        return true;
}

bool cell_is_plain(const uint8_t *bytes, size_t size)
{
        return !size || (cell_is_utf8(bytes, size) && !memchr(bytes, 0, size));
}
