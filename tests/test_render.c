/* SPDX-License-Identifier: MIT
 *
 * render: the table of formats, and renderers over results of any width.
 */
#include "faces/render.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ground/cleanup.h"

enum { WIDE = 1990 };

Test(render, lists_the_formats_in_order)
{
        static const char *const names[] = {"csv", "jsonl", "debezium", "qlik"};
        static const char *const suffixes[] = {".csv", ".jsonl", ".jsonl", ".csv"};
        cr_assert_eq(render_count(), COUNT(names));
        for (unsigned i = 0; i < COUNT(names); i++) {
                const struct renderer *renderer = render_at(i);
                cr_expect_eq(renderer->kind, RENDER_ALL);
                cr_expect_str_eq(renderer->name, names[i]);
                cr_expect_str_eq(renderer->folder, names[i]);
                cr_expect_str_eq(renderer->suffix, suffixes[i]);
                cr_expect_eq(render_find(names[i]), renderer, "%s", names[i]);
                cr_expect_eq(render_find_version(names[i], renderer->version), renderer);
        }
        cr_expect_null(render_find("xml"));
        cr_expect_null(render_find_version("csv", 0));
        cr_expect_null(render_find_version("csv", 999));
}

/* What shows net changes shows all changes too, with the same bytes for the same values. */
Test(render, has_net_formats_that_are_formats_of_all_changes)
{
        static const char *const names[] = {"csv", "jsonl"};
        cr_assert_eq(render_file_formats(), render_count() + COUNT(names));
        for (unsigned i = 0; i < COUNT(names); i++) {
                const struct renderer *all = render_find(names[i]);
                const struct renderer *net = render_at(render_count() + i);
                cr_expect_eq(net->kind, RENDER_NET);
                cr_expect_str_eq(net->folder, all->folder);
                cr_expect_str_eq(net->suffix, all->suffix);
                cr_expect_eq(strncmp(net->name, "net-", 4), 0);
                cr_expect_str_eq(net->name + 4, all->name);
                cr_expect_eq(net->row, all->row);
                cr_expect_eq(render_find(net->name), net);
        }
        cr_expect_null(render_at(render_file_formats()));
}

Test(render, shows_one_format_of_a_suffix_while_it_grows)
{
        for (unsigned i = 0; i < render_file_formats(); i++) {
                const struct renderer *renderer = render_at(i);
                bool is_plain = renderer->kind == RENDER_ALL && !renderer->has_commits;
                cr_expect_eq(renderer->is_live, is_plain, "%s", renderer->name);
        }
}

Test(render, takes_lists_of_folders_as_sets)
{
        enum { CSV = 1, JSONL = 2, DEBEZIUM = 4, QLIK = 8, NET_CSV = 16, NET_JSONL = 32 };
        static const struct {
                const char *list;
                uint32_t formats; /* 0: refused */
        } cases[] = {
                {"csv:jsonl:debezium:qlik", CSV | JSONL | DEBEZIUM | QLIK | NET_CSV | NET_JSONL},
                {"csv", CSV | NET_CSV},
                {"qlik:csv", CSV | QLIK | NET_CSV},
                {"debezium", DEBEZIUM},
                {"jsonl:jsonl", JSONL | NET_JSONL},
                {"", 0},
                {":", 0},
                {"csv:", 0},
                {":csv", 0},
                {"csv::qlik", 0},
                {"CSV", 0},
                {"net-csv", 0},
                {"csv,jsonl", 0},
                {"csvx", 0},
                {"cs", 0},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                uint32_t formats = 0;
                int r = render_parse_formats(cases[i].list, &formats);
                cr_expect_eq(r, cases[i].formats ? 0 : -EINVAL, "%s", cases[i].list);
                cr_expect_eq(formats, cases[i].formats, "%s", cases[i].list);
        }
}

Test(render, holds_version_one_of_each_format)
{
        for (unsigned i = 0; i < render_file_formats(); i++)
                cr_expect_not_null(
                        render_find_version(render_at(i)->name, 1), "%s", render_at(i)->name);
}

static void fill_wide(struct result_shape *shape)
{
        shape->encoding = TEXT_UTF8;
        for (unsigned i = 1; i <= WIDE; i++) {
                char name[16];
                snprintf(name, sizeof name, "c%u", i);
                cr_assert_eq(result_add_column(shape, name, RESULT_VALUE), 0);
        }
}

Test(render, takes_as_many_columns_as_a_change_table_has)
{
        _cleanup_(result_release_shape) struct result_shape shape = {0};
        static struct value values[WIDE];
        fill_wide(&shape);
        for (unsigned i = 0; i < WIDE; i++)
                values[i] = (struct value){.type = VALUE_INTEGER, .integer = i};
        for (unsigned format = 0; format < 2; format++) { /* csv, jsonl: of any columns */
                _cleanup_(render_release) struct render render = {0};
                _cleanup_(buf_release) struct buf buf = BUF_INIT;
                cr_assert_eq(render_init(&render, render_at(format), &shape), 0);
                render_header(&render, &buf);
                render_row(&render, values, &buf);
                cr_assert_eq(buf_error(&buf), 0);
                const char *text = buf_string(&buf);
                const char *end =
                        format == 0 ? ",1988,1989\n" : ",\"c1989\":1988,\"c1990\":1989}\n";
                const char *start = format == 0 ? "c1,c2,c3," : "{\"c1\":0,\"c2\":1,";
                cr_expect_eq(strncmp(text, start, strlen(start)), 0, "%.40s", text);
                cr_expect_str_eq(text + buf.size - strlen(end), end);
        }
}

Test(render, counts_odd_text)
{
        static const struct {
                const char *name;
                enum value_type type;
                const char *bytes;
                uint32_t size;
                bool is_odd;
        } cases[] = {
                {"text", VALUE_TEXT, "abc", 3, false},
                {"empty", VALUE_TEXT, "", 0, false},
                {"NUL", VALUE_TEXT, "a\0b", 3, true},
                {"ill-formed", VALUE_TEXT, "\xc3(", 2, true},
                {"ill-formed blob", VALUE_BLOB, "\xc3(", 2, false},
                {"null", VALUE_NULL, NULL, 0, false},
        };
        for (unsigned i = 0; i < COUNT(cases); i++) {
                struct value value = {
                        cases[i].type, cases[i].size, {.bytes = (const uint8_t *)cases[i].bytes}};
                cr_expect_eq(render_is_odd_text(&value, TEXT_UTF8), cases[i].is_odd, "%s",
                        cases[i].name);
        }
}
