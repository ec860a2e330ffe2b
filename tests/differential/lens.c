/* SPDX-License-Identifier: MIT
 *
 * lens: see lens.h.
 */
#include "lens.h"

#include <errno.h>
#include <strings.h>

void lens_release(struct lens *lens)
{
        free(lens->columns);
        free(lens->identity);
        *lens = (struct lens){0};
}

/* Places of names in a table's columns; the caller frees. NULL: one is missing. */
static int *find_positions(const struct names *names, const struct names *columns)
{
        int *positions = memory_grow(NULL, (names->count + 1) * sizeof(*positions));
        for (unsigned i = 0; i < names->count; i++) {
                /* Mostly they stand in the same order. */
                bool is_in_place =
                        i < columns->count && strcmp(names->items[i], columns->items[i]) == 0;
                positions[i] = is_in_place ? (int)i : names_find(columns, names->items[i]);
                if (positions[i] >= 0)
                        continue;
                free(positions);
                return NULL;
        }
        return positions;
}

int lens_make(struct lens *lens, const struct instance *instance, const struct names *columns)
{
        lens_release(lens);
        *lens = (struct lens){
                .columns = find_positions(&instance->columns, columns),
                .column_count = instance->columns.count,
                .identity = find_positions(&instance->identity, columns),
                .identity_count = instance->identity.count,
                .width = columns->count,
        };
        if (lens->columns && lens->identity)
                return 0;
        lens_release(lens);
        return -EBADMSG;
}

static int *copy_positions(const int *positions, unsigned count)
{
        int *copy = memory_grow(NULL, (count + 1) * sizeof(*copy));
        if (count)
                memcpy(copy, positions, count * sizeof(*copy));
        return copy;
}

static void lens_copy(const struct lens *lens, struct lens *ret_copy)
{
        *ret_copy = *lens;
        ret_copy->columns = copy_positions(lens->columns, lens->column_count);
        ret_copy->identity = copy_positions(lens->identity, lens->identity_count);
}

static void follow_positions(int *positions, unsigned count, const int *map)
{
        for (unsigned i = 0; map && i < count; i++)
                if (positions[i] >= 0)
                        positions[i] = map[positions[i]];
}

void lens_follow(const struct lens *lens, const struct shape_change *change, unsigned width,
        struct lens *ret_before, struct lens *ret_after)
{
        lens_copy(lens, ret_before);
        lens_copy(lens, ret_after);
        ret_after->width = width;
        follow_positions(ret_after->columns, lens->column_count, change->map);
        follow_positions(ret_after->identity, lens->identity_count, change->map);
        for (unsigned i = 0; i < lens->column_count; i++)
                if (ret_after->columns[i] < 0)
                        ret_before->columns[i] = COLUMN_GONE;
}

bool lens_loses(const struct lens *lens, const struct shape_change *change)
{
        for (unsigned i = 0; change->map && i < lens->column_count; i++)
                if (lens->columns[i] >= 0 && change->map[lens->columns[i]] < 0)
                        return true;
        return false;
}

void lens_project(const struct lens *lens, const struct model_row *row, struct bytes *image)
{
        static const struct cell gone = {.type = CELL_NULL};
        _cleanup_free_ struct cell *cells = memory_grow(NULL, (lens->width + 1) * sizeof(*cells));
        model_cells(row, cells, lens->width);
        for (unsigned i = 0; i < lens->column_count; i++)
                cell_append(image, lens->columns[i] < 0 ? &gone : &cells[lens->columns[i]]);
}

void lens_identity(const struct lens *lens, const struct model_row *row, struct bytes *identity)
{
        bool is_whole = true;
        for (unsigned i = 0; i < lens->identity_count; i++)
                is_whole = is_whole && lens->identity[i] >= 0;
        model_identity(identity, row, (const unsigned *)lens->identity,
                is_whole ? lens->identity_count : 0);
}
