/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "store_fixture.h"

static const char *const table = "CREATE TABLE orders(id INTEGER PRIMARY KEY, v)";

static char *name_of(struct store_fixture *f, int64_t object_id)
{
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT capture_instance FROM change_tables WHERE object_id = %d",
                (int)object_id);
        return store_fixture_text(f, sql);
}

/* Tries a name on a table; returns the message number, 0 where it was taken. */
static int number_of(struct store_fixture *f, const char *name, char **ret_name)
{
        struct problem problem = {.number = -1};
        int64_t object_id = 0;
        struct instances_request request = {.name = name, .supports_net = -1};
        int r = store_fixture_try(f, table, "orders", request, &problem, &object_id);
        if (r < 0)
                return problem.number;
        *ret_name = name_of(f, object_id);
        return 0;
}

static char *repeated(const char *text, unsigned count)
{
        _cleanup_(buf_release) struct buf buf = BUF_INIT;
        for (unsigned i = 0; i < count; i++)
                buf_append_string(&buf, text);
        return buf_steal(&buf);
}

Test(enable_name, given_names_are_kept_or_refused_with_sql_servers_number)
{
        _cleanup_free_ char *hundred = repeated("ü", 100), *more = repeated("ü", 101);
        const struct {
                const char *name;
                int number;
                const char *kept; /* where it differs */
        } cases[] = {
                {"orders", 0, NULL},
                {"a.b/c%d\\e", 0, NULL},
                {"quote\"and'apostrophe", 0, NULL},
                {"two\nlines", 0, NULL},
                {"-rf", 0, NULL},
                {"..", 0, NULL},
                {"trimmed   ", 0, "trimmed"},
                {"x]; DROP TABLE change_tables; --", 0, NULL},
                {hundred, 0, NULL},
                {more, 22927, NULL},
                {"", 22932, NULL},
                {"   ", 22932, NULL},
                {"ill\xff", 22932, NULL},
                {"sqlite_x", 22932, NULL},
                {"SQLite_x", 22932, NULL},
                {"README.txt", 22932, NULL},
                {"readme.TXT", 22932, NULL},
                {"validity.json", 22932, NULL},
                {"min_lsn", 22932, NULL},
                {"max_lsn", 22932, NULL},
                {"ddl_history.csv", 22932, NULL},
                {"ddl_history.jsonl", 22932, NULL},
                {"cdc", 22932, NULL},
                {"CDC", 22932, NULL},
                {"transactions", 22932, NULL},
        };
        static const enum text_encoding encodings[] = {TEXT_UTF8, TEXT_UTF16BE};
        for (size_t i = 0; i < 2 * COUNT(cases); i++) {
                struct store_fixture f;
                size_t n = i / 2;
                _cleanup_free_ char *name = NULL;
                store_fixture_open(&f, encodings[i % 2]);
                int number = number_of(&f, cases[n].name, &name);
                cr_expect_eq(number, cases[n].number, "'%s': %d", cases[n].name, number);
                if (number == 0)
                        cr_expect_str_eq(name, cases[n].kept ? cases[n].kept : cases[n].name);
                store_fixture_close(&f);
        }
}

Test(enable_name, names_are_used_up_without_regard_to_ascii_case)
{
        struct store_fixture f;
        char *name = NULL;
        store_fixture_open(&f, TEXT_UTF8);
        cr_assert_eq(number_of(&f, "Orders", &name), 0);
        free(name);
        cr_expect_eq(number_of(&f, "oRDERS", &name), 22926);
        cr_expect_eq(number_of(&f, "Orders ", &name), 22926);
        cr_expect_eq(number_of(&f, "orders2", &name), 0);
        free(name);
        store_fixture_close(&f);
}

Test(enable_name, the_default_is_main_and_the_table_cut_where_it_is_too_long)
{
        _cleanup_free_ char *fits = repeated("t", 95), *more = repeated("ü", 96);
        const char *const tables[] = {"orders", "", fits, more};
        const size_t lengths[] = {11, 5, 100, 100};
        for (size_t i = 0; i < COUNT(tables); i++) {
                struct store_fixture f;
                char sql[400], full[400];
                store_fixture_open(&f, TEXT_UTF8);
                snprintf(sql, sizeof sql, "CREATE TABLE \"%s\"(a)", tables[i]);
                snprintf(full, sizeof full, "main_%s", tables[i]);
                int64_t object_id = store_fixture_enable(&f, sql, tables[i], NULL);
                _cleanup_free_ char *name = name_of(&f, object_id);
                size_t characters = 0;
                for (const char *p = name; *p; p++)
                        characters += (*p & 0xc0) != 0x80;
                cr_expect_eq(characters, lengths[i], "%s", name);
                if (i < 3) {
                        cr_expect_str_eq(name, full);
                } else {
                        const char *tilde = strrchr(name, '~');
                        cr_assert_not_null(tilde);
                        cr_expect_eq(strlen(tilde), 17, "%s", name);
                        cr_expect_eq(strncmp(name, full, (size_t)(tilde - name)), 0);
                        cr_expect(text_is_utf8((const uint8_t *)name, strlen(name)));
                }
                store_fixture_close(&f);
        }
}
