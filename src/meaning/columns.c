/* SPDX-License-Identifier: MIT
 *
 * columns: see the header. The alignment is the longest common subsequence of the names: at most
 * 2000 columns, so at most four million steps, and only at a schema change.
 */
#include "meaning/columns.h"

#include <errno.h>
#include <stdlib.h>

#include "ground/cleanup.h"

static int make_map(const struct schema_table *old, int **ret_map)
{
        int *map = malloc((old->column_count + 1) * sizeof(*map));
        if (!map)
                return -ENOMEM;
        for (unsigned i = 0; i < old->column_count; i++)
                map[i] = COLUMNS_GONE;
        *ret_map = map;
        return 0;
}

int columns_match(const struct schema_table *old, const struct schema_table *new, int **ret_map)
{
        int r = make_map(old, ret_map);
        for (unsigned i = 0; r == 0 && i < old->column_count; i++)
                (*ret_map)[i] = schema_find_column(new, old->columns[i].name);
        return r;
}

struct alignment {
        const struct schema_table *old, *new;
        unsigned short *lengths; /* of the common subsequence of the tails, row by row */
        unsigned width;
};

static bool is_same_name(const struct alignment *a, unsigned i, unsigned k)
{
        return text_equal_name(a->old->columns[i].name, a->new->columns[k].name);
}

static unsigned short *length_at(const struct alignment *a, unsigned i, unsigned k)
{
        return &a->lengths[(size_t)i * a->width + k];
}

static void measure(struct alignment *a)
{
        for (unsigned i = a->old->column_count; i-- > 0;) {
                for (unsigned k = a->new->column_count; k-- > 0;) {
                        unsigned short below = *length_at(a, i + 1, k);
                        unsigned short beside = *length_at(a, i, k + 1);
                        if (is_same_name(a, i, k))
                                *length_at(a, i, k) = *length_at(a, i + 1, k + 1) + 1;
                        else
                                *length_at(a, i, k) = below > beside ? below : beside;
                }
        }
}

/* Between two columns that kept their names: a run replaced by one of equal length was renamed. */
static void bind_run(
        int *map, unsigned old_begin, unsigned old_end, unsigned new_begin, unsigned new_end)
{
        if (old_end - old_begin != new_end - new_begin)
                return;
        for (unsigned i = old_begin; i < old_end; i++)
                map[i] = (int)(new_begin + i - old_begin);
}

static void follow(const struct alignment *a, int *map)
{
        unsigned i = 0, k = 0, old_begin = 0, new_begin = 0;
        while (i < a->old->column_count && k < a->new->column_count) {
                if (is_same_name(a, i, k)) {
                        bind_run(map, old_begin, i, new_begin, k);
                        map[i] = (int)k;
                        old_begin = ++i;
                        new_begin = ++k;
                } else if (*length_at(a, i + 1, k) >= *length_at(a, i, k + 1)) {
                        i++;
                } else {
                        k++;
                }
        }
        bind_run(map, old_begin, a->old->column_count, new_begin, a->new->column_count);
}

int columns_align(const struct schema_table *old, const struct schema_table *new, int **ret_map)
{
        struct alignment a = {.old = old, .new = new, .width = new->column_count + 1};
        int r = make_map(old, ret_map);
        if (r < 0)
                return r;
        if (old->column_count == new->column_count) {
                bind_run(*ret_map, 0, old->column_count, 0, new->column_count);
                return 0;
        }
        a.lengths = calloc((size_t)(old->column_count + 1) * a.width, sizeof(*a.lengths));
        if (!a.lengths) {
                free(steal(*ret_map));
                return -ENOMEM;
        }
        measure(&a);
        follow(&a, *ret_map);
        free(a.lengths);
        return 0;
}
