/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "meaning/columns.h"
#include "schema_of.h"

enum how { IN_PLACE, WRITTEN, BY_NAME };

/* The map as text, "0 2 -". */
static void map_text(const char *old, const char *new, enum how how, char *ret_text)
{
        char sql[400];
        int *map = NULL;
        snprintf(sql, sizeof(sql), "CREATE TABLE t(%s)", old);
        struct schema *a = schema_of(sql);
        snprintf(sql, sizeof(sql), "CREATE TABLE t(%s)", new);
        struct schema *b = schema_of(sql);
        const struct schema_table *before = schema_find_table(a, "t");
        const struct schema_table *after = schema_find_table(b, "t");
        int r = how == BY_NAME ? columns_match(before, after, &map)
                               : columns_align(before, after, how == WRITTEN, &map);
        cr_assert_eq(r, 0);
        for (unsigned i = 0; i < before->column_count; i++)
                ret_text += map[i] == COLUMNS_GONE
                                    ? sprintf(ret_text, "%s-", i > 0 ? " " : "")
                                    : sprintf(ret_text, "%s%d", i > 0 ? " " : "", map[i]);
        free(map);
        schema_unref(a);
        schema_unref(b);
}

static const struct {
        const char *old, *new;
        const char *aligned, *matched;
} cases[] = {
        {"a,b,c", "a,b,c", "0 1 2", "0 1 2"},
        {"a,b,c", "A,B,C", "0 1 2", "0 1 2"},
        {"a,b,c", "a,b,c,d", "0 1 2", "0 1 2"},
        {"a,b,c", "a,b,c,d,e,f", "0 1 2", "0 1 2"},
        {"a,b,c", "b,c", "- 0 1", "- 0 1"},
        {"a,b,c", "a,c", "0 - 1", "0 - 1"},
        {"a,b,c", "a,b", "0 1 -", "0 1 -"},
        {"a,b,c", "b", "- 0 -", "- 0 -"},
        {"a,b,c", "a,x,c", "0 1 2", "0 - 2"},
        {"a,b,c", "x,y,z", "0 1 2", "- - -"},
        {"a,b,c", "c,a,b", "0 1 2", "1 2 0"},
        {"a,b,c", "a,x,c,d", "0 1 2", "0 - 2"},
        {"a,b,c", "x,b,c,d", "0 1 2", "- 1 2"},
        {"a,b,c,d", "a,x,d", "0 - - 2", "0 - - 2"},
        {"a,b,c,d", "a,x,c", "0 1 2 -", "0 - 2 -"},
        {"a,b,c,d,e", "a,c,x,e", "0 - 1 2 3", "0 - 1 - 3"},
        {"a,b,c", "a,c,d", "0 1 2", "0 - 1"},
        {"a,b TEXT,c", "a,x INT,c,d", "0 - 2", "0 - 2"},
        {"a,b TEXT,c", "a,x TEXT,c,d", "0 1 2", "0 - 2"},
        {"a,b TEXT", "a,x INT", "0 1", "0 -"},
        {"a", "b", "0", "-"},
        {"a", "b,c", "0", "-"},
        {"a,b", "a,c,d", "0 1", "0 -"},
        {"a,b,c", "b,a,c,d", "0 1 2", "1 0 2"},
        {"a,b,c", "x,y,z,d,e", "0 1 2", "- - -"},
        {"a,b TEXT", "a,c INT,d", "0 -", "0 -"},
        {"a,b DEFAULT 1", "a,c DEFAULT 2,d", "0 -", "0 -"},
        {"a,b", "c", "- -", "- -"},
        {"id,v", "id,v,w", "0 1", "0 1"},
        {"a,b,c,d,e,f,g,h", "a,c,e,g", "0 - 1 - 2 - 3 -", "0 - 1 - 2 - 3 -"},
        {"\"x y\",\"a\"\"b\"", "\"a\"\"b\"", "- 0", "- 0"},
};

Test(columns, each_column_goes_where_alter_table_put_it)
{
        for (size_t i = 0; i < COUNT(cases); i++) {
                char text[200] = "";
                map_text(cases[i].old, cases[i].new, IN_PLACE, text);
                cr_expect_str_eq(
                        text, cases[i].aligned, "%s to %s: %s", cases[i].old, cases[i].new, text);
        }
}

Test(columns, a_rebuilt_table_is_bound_by_name)
{
        for (size_t i = 0; i < COUNT(cases); i++) {
                char text[200] = "";
                map_text(cases[i].old, cases[i].new, BY_NAME, text);
                cr_expect_str_eq(
                        text, cases[i].matched, "%s to %s: %s", cases[i].old, cases[i].new, text);
        }
}

/* Lists of equal length, and the rows were written, as DROP COLUMN writes them. */
static const struct {
        const char *old, *new;
        const char *map;
} written[] = {
        {"a,b,c,d", "a,c,d,e", "0 - 1 2"},
        {"a,b,c,d", "a,c,d,b", "0 - 1 2"},
        {"a,b,c,d", "b,c,d,e", "- 0 1 2"},
        {"a,b,c,d,e", "a,d,e,x,y", "0 - - 1 2"},
        {"a,b,c", "a,c,d", "0 - 1"},
        {"a,b", "b,c", "- 0"},
        {"a,b INT", "b INT,a", "- 0"},
        {"a INT,b", "b INT,a", "0 1"},
        {"a INT,b INT", "b INT,a TEXT", "- 0"},
        {"a INT,b TEXT", "a INT,c TEXT", "0 1"},
        {"a,b,c", "a,b,d", "0 1 2"},
        {"a,b,c TEXT", "a,b,d INT", "0 1 -"},
        {"a,b TEXT,c", "a,c,b INT", "0 - 1"},
        {"a,b TEXT", "a,b INT", "0 1"},
        {"a,b,c", "a,x,c", "0 1 2"},
        {"a,b,c", "x,y,z", "0 1 2"},
        {"a,b", "b,a", "0 1"},
        {"x,a,b DEFAULT 1", "x,b DEFAULT 1,a", "0 - 1"},
        {"x,a,b DEFAULT 1", "x,b DEFAULT 1,a DEFAULT 2", "0 - 1"},
        {"x,a DEFAULT 2,b DEFAULT 1", "x,b DEFAULT 2,a DEFAULT 1", "0 1 2"},
        {"x,a NOT NULL,b", "x,b,a NOT NULL", "0 - 1"},
        {"a,b,c", "c,a,b", "0 1 2"},
        {"a,b,c", "a,b,c", "0 1 2"},
        {"a,b,c", "a,b,c,d", "0 1 2"},
        {"a,b,c", "a,x,c,d", "0 1 2"},
        {"a,b", "a,c,d", "0 -"},
        {"a,b,c", "a,c", "0 - 1"},
};

Test(columns, columns_dropped_and_added_together_are_told_from_renamed_ones)
{
        for (size_t i = 0; i < COUNT(written); i++) {
                char text[200] = "";
                map_text(written[i].old, written[i].new, WRITTEN, text);
                cr_expect_str_eq(
                        text, written[i].map, "%s to %s: %s", written[i].old, written[i].new, text);
        }
}

static struct schema *wide(unsigned first, unsigned count)
{
        _cleanup_(buf_release) struct buf sql = BUF_INIT;
        buf_append_format(&sql, "CREATE TABLE t(c%u", first);
        for (unsigned i = 1; i < count; i++)
                buf_append_format(&sql, ",c%u", first + i);
        buf_append_string(&sql, ")");
        return schema_of(buf_string(&sql));
}

Test(columns, tables_of_two_thousand_columns_are_aligned)
{
        struct schema *a = wide(0, 2000), *b = wide(1, 1999);
        int *map = NULL;
        cr_assert_eq(
                columns_align(schema_find_table(a, "t"), schema_find_table(b, "t"), true, &map), 0);
        cr_expect_eq(map[0], COLUMNS_GONE);
        for (int i = 1; i < 2000; i++)
                cr_assert_eq(map[i], i - 1);
        free(map);
        schema_unref(a);
        schema_unref(b);
}
