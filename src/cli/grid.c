/* SPDX-License-Identifier: MIT
 *
 * grid: a table on a terminal.
 *
 * The first rows are kept until their widths are known, the others are printed as they come. A
 * character is taken to be one column wide: this is a convenience, not a layout engine.
 */
#include "grid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_SAMPLE = 200, CELL_WIDTH = 60, CELL_SIZE = 4 * CELL_WIDTH + 8 };

struct grid {
        FILE *file;
        unsigned columns;
        unsigned *widths;
        char **cells; /* of the sample, row by row */
        size_t rows;
};

/* Bytes of the character at p: 1 for what is no UTF-8, which is then escaped. */
static size_t character_size(const unsigned char *p, size_t left)
{
        size_t size = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 1;
        if (size > left)
                return 1;
        for (size_t i = 1; i < size; i++) {
                if ((p[i] & 0xc0) != 0x80)
                        return 1;
        }
        return size;
}

/* Cuts after CELL_WIDTH characters, with `…` for the rest. */
static void format_text(const unsigned char *bytes, size_t size, char *cell)
{
        unsigned width = 0;
        for (size_t at = 0; at < size;) {
                size_t step = character_size(bytes + at, size - at);
                bool is_escaped = step == 1 && (bytes[at] < 0x20 || bytes[at] >= 0x7f);
                width += is_escaped ? 4 : 1;
                if (width >= CELL_WIDTH && at + step < size) {
                        strcpy(cell, "…");
                        return;
                }
                if (is_escaped)
                        cell += sprintf(cell, "\\x%02x", bytes[at]);
                else
                        cell = mempcpy(cell, bytes + at, step);
                at += step;
        }
        *cell = 0;
}

static void format_blob(const unsigned char *bytes, size_t size, char *cell)
{
        cell = stpcpy(cell, "\\x");
        for (size_t i = 0; i < size; i++) {
                if (2 * i >= CELL_WIDTH - 4) {
                        strcpy(cell, "…");
                        return;
                }
                cell += sprintf(cell, "%02x", bytes[i]);
        }
}

/* As the formats write it, but with no more digits than one can look at. */
static void format_real(double real, char cell[CELL_SIZE])
{
        snprintf(cell, CELL_SIZE, "%.15g", real);
        if (isfinite(real) && !strpbrk(cell, ".e"))
                strcat(cell, ".0");
}

static void format_cell(const struct cdc_value *value, char cell[CELL_SIZE])
{
        switch (value->type) {
        case CDC_NULL:
                strcpy(cell, "NULL");
                break;
        case CDC_INTEGER:
                snprintf(cell, CELL_SIZE, "%lld", (long long)value->integer);
                break;
        case CDC_REAL:
                format_real(value->real, cell);
                break;
        case CDC_TEXT:
                format_text(value->bytes, value->size, cell);
                break;
        case CDC_BLOB:
                format_blob(value->bytes, value->size, cell);
                break;
        }
}

static unsigned cell_width(const char *cell)
{
        unsigned width = 0;
        for (; *cell; cell++)
                width += (*cell & 0xc0) != 0x80;
        return width;
}

static void print_cell(const struct grid *grid, unsigned column, const char *cell)
{
        bool is_last = column + 1 == grid->columns;
        unsigned width = cell_width(cell);
        unsigned wanted = grid->widths[column];
        int padding = width < wanted && !is_last ? (int)(wanted - width) : 0;
        fprintf(grid->file, "%s%*s%s", cell, padding, "", is_last ? "\n" : "  ");
}

static void format_name(const struct cdc_rows *rows, unsigned column, char cell[CELL_SIZE])
{
        const char *name = cdc_rows_name(rows, column);
        format_text((const unsigned char *)name, strlen(name), cell);
}

static void print_head(const struct grid *grid, const struct cdc_rows *rows)
{
        char cell[CELL_SIZE];
        for (unsigned i = 0; i < grid->columns; i++) {
                format_name(rows, i, cell);
                print_cell(grid, i, cell);
        }
        for (unsigned i = 0; i < grid->columns; i++) {
                for (unsigned dash = 0; dash < grid->widths[i]; dash++)
                        fputc('-', grid->file);
                fputs(i + 1 == grid->columns ? "\n" : "  ", grid->file);
        }
}

/* Keeps one row of the sample. */
static int keep_row(struct grid *grid, struct cdc_rows *rows)
{
        char cell[CELL_SIZE];
        for (unsigned i = 0; i < grid->columns; i++) {
                struct cdc_value value;
                cdc_rows_value(rows, i, &value);
                format_cell(&value, cell);
                unsigned width = cell_width(cell);
                if (width > grid->widths[i])
                        grid->widths[i] = width;
                char *copy = strdup(cell);
                if (!copy)
                        return -ENOMEM;
                grid->cells[grid->rows * grid->columns + i] = copy;
        }
        grid->rows++;
        return 0;
}

static int print_rest(const struct grid *grid, struct cdc_rows *rows)
{
        char cell[CELL_SIZE];
        int r;
        while ((r = cdc_rows_next(rows)) > 0) {
                for (unsigned i = 0; i < grid->columns; i++) {
                        struct cdc_value value;
                        cdc_rows_value(rows, i, &value);
                        format_cell(&value, cell);
                        print_cell(grid, i, cell);
                }
        }
        return r;
}

static int print_all(struct grid *grid, struct cdc_rows *rows)
{
        char cell[CELL_SIZE];
        int r = 1;
        for (unsigned i = 0; i < grid->columns; i++) {
                format_name(rows, i, cell);
                grid->widths[i] = cell_width(cell);
        }
        while (grid->rows < GRID_SAMPLE && (r = cdc_rows_next(rows)) > 0) {
                r = keep_row(grid, rows);
                if (r < 0)
                        return r;
                r = 1;
        }
        if (r < 0)
                return r;
        print_head(grid, rows);
        for (size_t i = 0; i < grid->rows * grid->columns; i++)
                print_cell(grid, (unsigned)(i % grid->columns), grid->cells[i]);
        return r > 0 ? print_rest(grid, rows) : 0;
}

static void grid_release(struct grid *grid)
{
        size_t cells = grid->cells ? (size_t)GRID_SAMPLE * grid->columns : 0;
        for (size_t i = 0; i < cells; i++)
                free(grid->cells[i]);
        free(grid->cells);
        free(grid->widths);
}

int grid_print(struct cdc_rows *rows, FILE *file)
{
        struct grid grid __attribute__((cleanup(grid_release))) = {
                .file = file, .columns = cdc_rows_columns(rows)};
        grid.widths = calloc(grid.columns, sizeof(*grid.widths));
        grid.cells = calloc((size_t)GRID_SAMPLE * grid.columns, sizeof(*grid.cells));
        if (!grid.widths || !grid.cells)
                return -ENOMEM;
        return print_all(&grid, rows);
}
