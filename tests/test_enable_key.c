/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "store_fixture.h"

struct key_case {
        const char *sql;
        const char *index;
        int supports_net;
        int number;      /* of the refusal, or 0 */
        const char *key; /* columns in key order, "NULL" for none */
        const char *index_name;
        int net;
};

static void expect_case(const struct key_case *c)
{
        struct store_fixture f;
        struct problem problem = {0};
        int64_t object_id = 0;
        struct instances_request request = {.index = c->index, .supports_net = c->supports_net};
        store_fixture_open(&f, TEXT_UTF8);
        int r = store_fixture_try(&f, c->sql, "t", request, &problem, &object_id);
        cr_expect_eq(r < 0 ? problem.number : 0, c->number, "%s, %s: %d %s", c->sql, c->index,
                problem.number, problem.message);
        if (r == 0) {
                _cleanup_free_ char *key = store_fixture_text(&f,
                        "SELECT group_concat(column_name) FROM"
                        " (SELECT column_name FROM index_columns ORDER BY index_ordinal)");
                _cleanup_free_ char *name =
                        store_fixture_text(&f, "SELECT index_name FROM change_tables");
                cr_expect_str_eq(key, c->key, "%s, %s: %s", c->sql, c->index, key);
                cr_expect_str_eq(name, c->index_name, "%s, %s: %s", c->sql, c->index, name);
                cr_expect_eq(
                        store_fixture_integer(&f, "SELECT supports_net_changes FROM change_tables"),
                        c->net, "%s, %s", c->sql, c->index);
        }
        store_fixture_close(&f);
}

Test(enable_key, the_declared_key_identifies_rows)
{
        static const struct key_case cases[] = {
                {"CREATE TABLE t(a INTEGER PRIMARY KEY, b)", NULL, -1, 0, "a", "PRIMARY KEY", 1},
                {"CREATE TABLE t(a, b PRIMARY KEY)", NULL, -1, 0, "b", "sqlite_autoindex_t_1", 1},
                {"CREATE TABLE t(a UNIQUE, b, c, PRIMARY KEY(c, a))", NULL, -1, 0, "c,a",
                        "sqlite_autoindex_t_2", 1},
                {"CREATE TABLE t(a, b, PRIMARY KEY(b, a)) WITHOUT ROWID", NULL, -1, 0, "b,a",
                        "sqlite_autoindex_t_1", 1},
                {"CREATE TABLE t(a PRIMARY KEY)", NULL, 0, 0, "a", "sqlite_autoindex_t_1", 0},
                {"CREATE TABLE t(a, b)", NULL, -1, 0, "NULL", "NULL", 0},
                {"CREATE TABLE t(a UNIQUE NOT NULL, b)", NULL, -1, 0, "NULL", "NULL", 0},
                {"CREATE TABLE t(a, b)", NULL, 1, 22939, NULL, NULL, 0},
        };
        for (size_t i = 0; i < COUNT(cases); i++)
                expect_case(&cases[i]);
}

#define INDEXED                                                                                    \
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL, b NOT NULL, n, v AS (a) NOT NULL,"     \
        "  s AS (a) STORED NOT NULL);"                                                             \
        "CREATE TABLE other(a NOT NULL);"                                                          \
        "CREATE UNIQUE INDEX ba ON t(b, a);"                                                       \
        "CREATE UNIQUE INDEX by_id ON t(id, a);"                                                   \
        "CREATE INDEX plain ON t(a);"                                                              \
        "CREATE UNIQUE INDEX part ON t(a) WHERE b > 1;"                                            \
        "CREATE UNIQUE INDEX expression ON t(a + 1);"                                              \
        "CREATE UNIQUE INDEX nullable ON t(a, n);"                                                 \
        "CREATE UNIQUE INDEX virtual ON t(v);"                                                     \
        "CREATE UNIQUE INDEX stored ON t(s);"                                                      \
        "CREATE UNIQUE INDEX foreign_one ON other(a)"

Test(enable_key, a_chosen_index_replaces_it_if_it_can_identify_rows)
{
        static const struct key_case cases[] = {
                {INDEXED, "ba", -1, 0, "b,a", "ba", 1},
                {INDEXED, "BA", 0, 0, "b,a", "ba", 0},
                {INDEXED, "by_id", -1, 0, "id,a", "by_id", 1}, /* id can hold no NULL */
                {INDEXED, "stored", -1, 0, "s", "stored", 1},
                {INDEXED, "plain", -1, 22929, NULL, NULL, 0},
                {INDEXED, "part", -1, 22929, NULL, NULL, 0},
                {INDEXED, "expression", -1, 22929, NULL, NULL, 0},
                {INDEXED, "virtual", -1, 22929, NULL, NULL, 0},
                {INDEXED, "nullable", -1, 22838, NULL, NULL, 0},
                {INDEXED, "foreign_one", -1, 22928, NULL, NULL, 0},
                {INDEXED, "nothing", -1, 22928, NULL, NULL, 0},
                {INDEXED, "", -1, 22928, NULL, NULL, 0},
                {"CREATE TABLE t(a PRIMARY KEY, b)", "sqlite_autoindex_t_1", -1, 22838, NULL, NULL,
                        0},
                {"CREATE TABLE t(a, b, PRIMARY KEY(a)) WITHOUT ROWID;"
                 "CREATE UNIQUE INDEX i ON t(a)",
                        "i", -1, 0, "a", "i", 1},
        };
        for (size_t i = 0; i < COUNT(cases); i++)
                expect_case(&cases[i]);
}

Test(enable_key, net_changes_take_at_most_fourteen_key_columns)
{
        static const struct {
                int columns, supports_net, number;
        } cases[] = {{14, -1, 0}, {14, 1, 0}, {15, 0, 0}, {15, 1, 22865}, {15, -1, 22865}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_(buf_release) struct buf sql = BUF_INIT, key = BUF_INIT;
                for (int c = 1; c <= cases[i].columns; c++)
                        buf_append_format(&key, "%sk%d", c > 1 ? "," : "", c);
                const char *list = buf_string(&key);
                buf_append_format(&sql, "CREATE TABLE t(%s, v, PRIMARY KEY(%s))", list, list);
                expect_case(&(struct key_case){.sql = buf_string(&sql),
                        .supports_net = cases[i].supports_net,
                        .number = cases[i].number,
                        .key = list,
                        .index_name = "sqlite_autoindex_t_1",
                        .net = cases[i].supports_net != 0});
        }
}

Test(enable_key, a_list_must_hold_the_key_even_if_net_changes_are_not_asked_for)
{
        struct store_fixture f;
        struct problem problem = {0};
        int64_t object_id = 0;
        struct instances_request request = {.columns = "v", .supports_net = 0};
        store_fixture_open(&f, TEXT_UTF8);
        cr_expect_eq(store_fixture_try(&f, "CREATE TABLE t(a PRIMARY KEY, v)", "t", request,
                             &problem, &object_id),
                -EINVAL);
        cr_expect_eq(problem.number, 22943);
        cr_expect(strstr(problem.message, "'a'"), "%s", problem.message);
        store_fixture_close(&f);
}
