/* SPDX-License-Identifier: MIT
 *
 * columns: see the header. The alignment is the longest common subsequence of the names: at most
 * 2000 columns, so at most four million steps, and only at a schema change.
 */
#include "meaning/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"

static int make_map(const struct schema_table *old, int **ret_map)
{
        int *map = malloc((old->column_count + 1) * sizeof(*map));
        *ret_map = NULL;
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

static void bind_run(
        int *map, unsigned old_begin, unsigned old_end, unsigned new_begin, unsigned new_end)
{
        if (old_end - old_begin != new_end - new_begin)
                return;
        for (unsigned i = old_begin; i < old_end; i++)
                map[i] = (int)(new_begin + i - old_begin);
}

/* Between two columns that kept their names: a run replaced by one of equal length was renamed,
 * but for a column that has another type too, which RENAME does not give. */
static void bind_renamed(const struct alignment *a, int *map, unsigned old_begin, unsigned old_end,
        unsigned new_begin, unsigned new_end)
{
        bind_run(map, old_begin, old_end, new_begin, new_end);
        for (unsigned i = old_begin; i < old_end; i++)
                if (map[i] >= 0 && strcmp(a->old->columns[i].declared_type,
                                           a->new->columns[map[i]].declared_type) != 0)
                        map[i] = COLUMNS_GONE;
}

static void follow(const struct alignment *a, int *map)
{
        unsigned i = 0, k = 0, old_begin = 0, new_begin = 0;
        while (i < a->old->column_count && k < a->new->column_count) {
                if (is_same_name(a, i, k)) {
                        bind_renamed(a, map, old_begin, i, new_begin, k);
                        map[i] = (int)k;
                        old_begin = ++i;
                        new_begin = ++k;
                } else if (*length_at(a, i + 1, k) >= *length_at(a, i, k + 1)) {
                        i++;
                } else {
                        k++;
                }
        }
        bind_renamed(a, map, old_begin, a->old->column_count, new_begin, a->new->column_count);
}

static int align_by_name(const struct schema_table *old, const struct schema_table *new, int *map)
{
        struct alignment a = {.old = old, .new = new, .width = new->column_count + 1};
        a.lengths = calloc((size_t)(old->column_count + 1) * a.width, sizeof(*a.lengths));
        if (!a.lengths)
                return -ENOMEM;
        measure(&a);
        follow(&a, map);
        free(a.lengths);
        return 0;
}

/* What a map says happened. */
struct story {
        unsigned statements; /* that ALTER TABLE would need */
        unsigned retyped;    /* no ALTER TABLE does that */
        bool is_appended;    /* what came stands behind what stayed */
        bool is_new_name;    /* what came has a name that was not there */
};

/* What stands behind a name RENAME leaves as it is. */
static bool is_redefined(const struct schema_column *a, const struct schema_column *b)
{
        const struct value *x = &a->default_value, *y = &b->default_value;
        bool has_both = x->type != VALUE_NULL && y->type != VALUE_NULL;
        return strcmp(a->declared_type, b->declared_type) != 0 ||
               a->has_default != b->has_default || a->is_not_null != b->is_not_null ||
               a->is_generated != b->is_generated || (has_both && !value_equal(x, y));
}

static struct story tell_story(
        const struct schema_table *old, const struct schema_table *new, const int *map)
{
        struct story s = {.is_appended = true};
        unsigned kept = 0;
        for (unsigned i = 0; i < old->column_count; i++) {
                if (map[i] < 0) {
                        s.statements += 2; /* the lists are equally long: another one came */
                        continue;
                }
                const struct schema_column *a = &old->columns[i], *b = &new->columns[map[i]];
                s.statements += !text_equal_name(a->name, b->name);
                s.retyped += is_redefined(a, b);
                s.is_appended &= map[i] == (int)kept++;
        }
        for (unsigned k = kept; k < new->column_count; k++)
                s.is_new_name |= schema_find_column(old, new->columns[k].name) < 0;
        return s;
}

/* Two lists of equal length, and the rows were written: were columns dropped and added? */
static bool is_drop_and_add(
        const struct schema_table *old, const struct schema_table *new, const int *map)
{
        _cleanup_free_ int *in_place = NULL;
        if (make_map(old, &in_place) < 0)
                return false;
        bind_run(in_place, 0, old->column_count, 0, new->column_count);
        struct story renamed = tell_story(old, new, in_place), dropped = tell_story(old, new, map);
        if (!dropped.is_appended || dropped.retyped > 0)
                return false;
        return renamed.retyped > 0 || dropped.statements < renamed.statements ||
               (dropped.statements == renamed.statements && dropped.is_new_name);
}

/* Columns were only added, and maybe renamed: DROP COLUMN would have written the rows. */
static bool is_grown_in_place(
        const struct schema_table *old, const struct schema_table *new, bool is_written)
{
        if (is_written || new->column_count <= old->column_count)
                return false;
        for (unsigned i = 0; i < old->column_count; i++)
                if (is_redefined(&old->columns[i], &new->columns[i]))
                        return false;
        return true;
}

int columns_align(const struct schema_table *old, const struct schema_table *new, bool is_written,
        int **ret_map)
{
        bool is_equal = old->column_count == new->column_count;
        bool is_grown = is_grown_in_place(old, new, is_written);
        int r = make_map(old, ret_map);
        if (r == 0 && !is_grown && (!is_equal || is_written))
                r = align_by_name(old, new, *ret_map);
        if (r < 0) {
                free(steal(*ret_map));
                return r;
        }
        if (is_grown || (is_equal && !(is_written && is_drop_and_add(old, new, *ret_map))))
                bind_run(*ret_map, 0, old->column_count, 0, old->column_count);
        return 0;
}
