/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "meaning/binding.h"
#include "schema_of.h"
#include "values.h"

#define V(...) ((const struct value[]){__VA_ARGS__})

/* A binding to table t of a schema that lives only in the binding. */
static struct binding bind_to(
        const char *sql, const char *columns, const unsigned *key, unsigned key_count)
{
        struct schema *schema = schema_of(sql);
        struct binding binding;
        char text[200], *names[20], *rest = text;
        unsigned count = 0;
        snprintf(text, sizeof(text), "%s", columns);
        for (char *name; (name = strsep(&rest, ","));)
                names[count++] = name;
        int r = binding_make(
                7, schema, schema_find_table(schema, "t"), names, count, key, key_count, &binding);
        cr_assert_eq(r, 0, "%s: %d", columns, r);
        schema_unref(schema);
        return binding;
}

static void expect_projection(const struct binding *binding, int64_t rowid,
        const struct value *record, size_t count, const char *want)
{
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        struct value values[20];
        binding_project(binding, rowid, record, count, values);
        append_values(&text, values, binding->column_count);
        cr_expect_str_eq(buf_string(&text), want, "%s, not %s", buf_string(&text), want);
}

/* ---- columns ---- */

Test(binding, columns_are_found_by_name_in_any_order_and_case)
{
        struct binding b = bind_to("CREATE TABLE t(a, B, \"c d\")", "C D,a,b", NULL, 0);
        cr_expect_eq(b.object_id, 7);
        cr_expect_eq(b.column_count, 3);
        expect_projection(&b, 1, V(v_integer(1), v_integer(2), v_integer(3)), 3, "3,1,2");
        binding_release(&b);
        binding_release(&b);
}

Test(binding, a_column_that_is_not_there_is_refused)
{
        struct schema *schema = schema_of("CREATE TABLE t(a, b)");
        struct binding binding;
        char *names[] = {"a", "c"};
        cr_expect_eq(binding_make(1, schema, schema_find_table(schema, "t"), names, 2, NULL, 0,
                             &binding),
                -ENOENT);
        schema_unref(schema);
}

Test(binding, the_rowid_stands_for_its_column)
{
        struct binding b =
                bind_to("CREATE TABLE t(a, id INTEGER PRIMARY KEY)", "a,id", (unsigned[]){2}, 1);
        cr_expect(b.is_rowid_identity);
        expect_projection(&b, -5, V(v_integer(1), v_null()), 2, "1,-5");
        expect_projection(&b, 9, V(v_integer(1)), 1, "1,9");
        binding_release(&b);
}

Test(binding, integers_of_a_real_column_are_reals)
{
        struct binding b = bind_to("CREATE TABLE t(a REAL, b NUMERIC, c)", "a,b,c", NULL, 0);
        expect_projection(&b, 1, V(v_integer(3), v_integer(3), v_integer(3)), 3, "3.0,3,3");
        expect_projection(&b, 1, V(v_text("3"), v_real(3), v_real(3)), 3, "'3',3.0,3.0");
        expect_projection(&b, 1, V(v_null(), v_null(), v_null()), 3, "NULL,NULL,NULL");
        expect_projection(&b, 1, V(v_blob("\3", 1)), 1, "x'03',NULL,NULL");
        binding_release(&b);
}

Test(binding, a_short_record_has_the_defaults)
{
        struct binding b = bind_to("CREATE TABLE t(a, b DEFAULT 5, c REAL DEFAULT 6, "
                                   "d TEXT DEFAULT 'x', e)",
                "a,b,c,d,e", NULL, 0);
        expect_projection(&b, 1, V(v_integer(1)), 1, "1,5,6.0,'x',NULL");
        expect_projection(&b, 1, V(v_integer(1), v_null()), 2, "1,NULL,6.0,'x',NULL");
        expect_projection(&b, 1, NULL, 0, "NULL,5,6.0,'x',NULL");
        expect_projection(&b, 1,
                V(v_integer(1), v_integer(2), v_integer(3), v_integer(4), v_integer(5)), 5,
                "1,2,3.0,4,5");
        binding_release(&b);
}

Test(binding, virtual_columns_take_no_place_in_the_record)
{
        struct binding b = bind_to(
                "CREATE TABLE t(a, v AS (a + 1), b, s AS (a * 2) STORED, c)", "a,v,b,s,c", NULL, 0);
        expect_projection(&b, 1, V(v_integer(1), v_integer(2), v_integer(3), v_integer(4)), 4,
                "1,NULL,2,3,4");
        binding_release(&b);
}

/* ---- identity ---- */

static void append_identity(const struct binding *binding, int64_t rowid,
        const struct value *values, struct buf *ret_identity)
{
        buf_reset(ret_identity);
        binding_append_identity(binding, rowid, values, ret_identity);
}

static int compare_identities(const struct buf *a, const struct buf *b)
{
        size_t size = a->size < b->size ? a->size : b->size;
        int order = memcmp(a->data, b->data, size);
        return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* Keys of two columns in the order that they must have. */
static const struct {
        int64_t rowid;
        struct value values[2];
} ordered[] = {
        {-5, {{.type = VALUE_NULL}, {.type = VALUE_INTEGER, .integer = 9}}},
        {3, {{.type = VALUE_INTEGER, .integer = 9}, {.type = VALUE_NULL}}},
        {4, {{.type = VALUE_NULL}, {.type = VALUE_NULL}}},
        {99, {{.type = VALUE_INTEGER, .integer = INT64_MIN}, {.type = VALUE_INTEGER}}},
        {98, {{.type = VALUE_INTEGER, .integer = -1}, {.type = VALUE_INTEGER}}},
        {97, {{.type = VALUE_INTEGER, .integer = 0}, {.type = VALUE_INTEGER, .integer = -7}}},
        {96, {{.type = VALUE_INTEGER, .integer = 0}, {.type = VALUE_TEXT}}},
        {95, {{.type = VALUE_INTEGER, .integer = 1}, {.type = VALUE_INTEGER}}},
        {94, {{.type = VALUE_INTEGER, .integer = INT64_MAX}, {.type = VALUE_INTEGER}}},
        {93, {{.type = VALUE_REAL, .real = -1.5}, {.type = VALUE_INTEGER}}},
        {92, {{.type = VALUE_REAL, .real = 1}, {.type = VALUE_INTEGER}}},
        {91, {{.type = VALUE_TEXT}, {.type = VALUE_INTEGER}}},
        {90, {{.type = VALUE_TEXT, .size = 1, .bytes = (const uint8_t *)"a"},
                     {.type = VALUE_INTEGER, .integer = 5}}},
        {89, {{.type = VALUE_TEXT, .size = 2, .bytes = (const uint8_t *)"a\0"},
                     {.type = VALUE_INTEGER, .integer = 4}}},
        {88, {{.type = VALUE_TEXT, .size = 2, .bytes = (const uint8_t *)"ab"},
                     {.type = VALUE_INTEGER, .integer = 3}}},
        {87, {{.type = VALUE_BLOB}, {.type = VALUE_INTEGER}}},
        {86, {{.type = VALUE_BLOB, .size = 1, .bytes = (const uint8_t *)"a"},
                     {.type = VALUE_BLOB}}},
};

Test(binding, identities_order_as_keys_do_and_keys_with_a_null_by_rowid)
{
        struct binding b =
                bind_to("CREATE TABLE t(a, b, UNIQUE(a, b))", "a,b", (unsigned[]){1, 2}, 2);
        _cleanup_(buf_release) struct buf last = BUF_INIT, now = BUF_INIT, again = BUF_INIT;
        cr_expect(!b.is_rowid_identity);
        for (size_t i = 0; i < COUNT(ordered); i++) {
                append_identity(&b, ordered[i].rowid, ordered[i].values, &now);
                append_identity(&b, ordered[i].rowid, ordered[i].values, &again);
                cr_expect_eq(compare_identities(&now, &again), 0, "%zu", i);
                cr_expect(i == 0 || compare_identities(&last, &now) < 0, "%zu", i);
                buf_reset(&last);
                buf_append(&last, now.data, now.size);
        }
        binding_release(&b);
}

Test(binding, the_rowid_does_not_count_where_there_is_a_key)
{
        struct binding b = bind_to("CREATE TABLE t(a, b PRIMARY KEY)", "a,b", (unsigned[]){2}, 1);
        _cleanup_(buf_release) struct buf x = BUF_INIT, y = BUF_INIT;
        append_identity(&b, 1, V(v_integer(1), v_text("k")), &x);
        append_identity(&b, 2, V(v_integer(2), v_text("k")), &y);
        cr_expect_eq(compare_identities(&x, &y), 0);
        append_identity(&b, 1, V(v_integer(1), v_blob("k", 1)), &y);
        cr_expect_neq(compare_identities(&x, &y), 0, "storage classes differ");
        append_identity(&b, 1, V(v_text("k"), v_text("l")), &y);
        cr_expect_neq(compare_identities(&x, &y), 0, "other columns do not count");
        binding_release(&b);
}

Test(binding, without_a_key_the_rowid_alone_counts)
{
        static const int64_t rowids[] = {INT64_MIN, -1, 0, 1, 127, 128, INT64_MAX};
        struct binding b = bind_to("CREATE TABLE t(a, b)", "a,b", NULL, 0);
        _cleanup_(buf_release) struct buf last = BUF_INIT, now = BUF_INIT;
        cr_expect(b.is_rowid_identity);
        for (size_t i = 0; i < COUNT(rowids); i++) {
                append_identity(&b, rowids[i], V(v_integer(-(int64_t)i), v_null()), &now);
                cr_expect(i == 0 || compare_identities(&last, &now) < 0, "%zu", i);
                buf_reset(&last);
                buf_append(&last, now.data, now.size);
        }
        binding_release(&b);
}

Test(binding, keys_may_stand_in_any_order)
{
        struct binding b = bind_to(
                "CREATE TABLE t(a, b, c, PRIMARY KEY(c, a))", "a,b,c", (unsigned[]){3, 1}, 2);
        _cleanup_(buf_release) struct buf x = BUF_INIT, y = BUF_INIT;
        append_identity(&b, 1, V(v_integer(9), v_null(), v_integer(1)), &x);
        append_identity(&b, 2, V(v_integer(1), v_null(), v_integer(2)), &y);
        cr_expect_lt(compare_identities(&x, &y), 0, "c counts first");
        append_identity(&b, 3, V(v_integer(9), v_integer(5), v_integer(1)), &y);
        cr_expect_eq(compare_identities(&x, &y), 0, "b does not count");
        binding_release(&b);
}

Test(binding, the_rowid_may_be_one_column_of_a_key)
{
        struct binding b = bind_to("CREATE TABLE t(id INTEGER PRIMARY KEY, b, UNIQUE(b, id))",
                "id,b", (unsigned[]){2, 1}, 2);
        cr_expect(!b.is_rowid_identity);
        expect_projection(&b, 5, V(v_null(), v_text("x")), 2, "5,'x'");
        binding_release(&b);
}

/* ---- another version of the table ---- */

Test(binding, columns_that_are_added_change_nothing)
{
        struct binding before, b = bind_to("CREATE TABLE t(a, b DEFAULT 1)", "b,a", NULL, 0);
        struct schema *schema = schema_of("CREATE TABLE t(a, b DEFAULT 1, c REAL DEFAULT 7)");
        const struct schema_table *table = schema_find_table(schema, "t");
        cr_assert_eq(binding_renew(&b, schema, table, NULL, &before), 0);
        schema_unref(schema);
        expect_projection(&before, 1, V(v_integer(5)), 1, "1,5");
        expect_projection(&b, 1, V(v_integer(5)), 1, "1,5");
        expect_projection(&b, 1, V(v_integer(5), v_integer(6), v_integer(7)), 3, "6,5");
        cr_expect_eq(b.table, table);
        binding_release(&before);
        expect_projection(&b, 1, V(v_integer(5)), 1, "1,5");
        binding_release(&b);
}

Test(binding, columns_are_followed_to_their_new_place)
{
        struct binding before,
                b = bind_to("CREATE TABLE t(a, b, c REAL, d)", "a,b,c,d", (unsigned[]){1}, 1);
        struct schema *schema = schema_of("CREATE TABLE t(a, c REAL, x)");
        static const int map[] = {0, -1, 1, 2};
        const struct schema_table *table = schema_find_table(schema, "t");
        cr_assert_eq(binding_renew(&b, schema, table, map, &before), 0);
        expect_projection(&before, 1, V(v_integer(1), v_integer(2), v_integer(3), v_integer(4)), 4,
                "1,NULL,3.0,4");
        expect_projection(&b, 1, V(v_integer(1), v_integer(3), v_integer(4)), 3, "1,NULL,3.0,4");
        binding_release(&before);
        cr_assert_eq(binding_renew(&b, schema, table, NULL, NULL), 0);
        expect_projection(&b, 1, V(v_integer(1), v_integer(3), v_integer(4)), 3, "1,NULL,3.0,4");
        schema_unref(schema);
        binding_release(&b);
}

Test(binding, old_rows_keep_the_defaults_they_had)
{
        struct binding before, b = bind_to("CREATE TABLE t(a, b DEFAULT 1)", "a,b", NULL, 0);
        struct schema *schema = schema_of("CREATE TABLE t(a, b DEFAULT 2)");
        cr_assert_eq(binding_renew(&b, schema, schema_find_table(schema, "t"), NULL, &before), 0);
        schema_unref(schema);
        expect_projection(&before, 1, V(v_integer(5)), 1, "5,1");
        expect_projection(&b, 1, V(v_integer(5)), 1, "5,2");
        binding_release(&before);
        binding_release(&b);
}

Test(binding, a_key_column_that_is_gone_leaves_the_rowid)
{
        struct binding before,
                b = bind_to("CREATE TABLE t(a, b UNIQUE)", "a,b", (unsigned[]){2}, 1);
        struct schema *schema = schema_of("CREATE TABLE t(a)");
        static const int map[] = {0, -1};
        _cleanup_(buf_release) struct buf x = BUF_INIT, y = BUF_INIT;
        struct value values[2];
        cr_assert_eq(binding_renew(&b, schema, schema_find_table(schema, "t"), map, &before), 0);
        schema_unref(schema);
        binding_project(&before, 1, V(v_integer(1), v_text("k")), 2, values);
        append_identity(&before, 8, values, &x);
        binding_project(&b, 1, V(v_integer(2)), 1, values);
        append_identity(&b, 8, values, &y);
        cr_expect_eq(compare_identities(&x, &y), 0);
        binding_release(&before);
        binding_release(&b);
}
