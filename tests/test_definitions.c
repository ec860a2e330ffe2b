/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "ground/cleanup.h"
#include "meaning/definitions.h"

Test(definitions, the_first_definition_ends_at_its_comma)
{
        static const struct {
                const char *text;
                const char *rest; /* behind the definition */
        } cases[] = {
                {"", ""},
                {"a", ""},
                {"a, b", ", b"},
                {",b", ",b"},
                {"a DEFAULT (1, 2), b", ", b"},
                {"a CHECK(a IN (1, (2), 3)), b", ", b"},
                {"a DEFAULT ',', b", ", b"},
                {"a DEFAULT 'it''s, ', b", ", b"},
                {"\"a, b\" INT, c", ", c"},
                {"\"a\"\", b\", c", ", c"},
                {"[a, b], c", ", c"},
                {"`a, b`, c", ", c"},
                {"a DEFAULT ')', b", ", b"},
                {"a DEFAULT '(', b", ", b"},
                {"a /* , ( ' */, b", ", b"},
                {"a -- , ( '\n, b", ", b"},
                {"a -- , to the end", ""},
                {"a /* , to the end", ""},
                {"a 'never ends, b", ""},
                {"a DEFAULT - -1, b", ", b"},
                {"a - b, c", ", c"},
                {"a / b, c", ", c"},
                {"a DEFAULT '--', b", ", b"},
                {"a (1 -- )\n), b", ", b"},
                {"a (never closed, b", ""},
                {"\xc3\xa4, b", ", b"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                size_t size = strlen(cases[i].text);
                size_t got = definitions_size(cases[i].text, size);
                cr_assert_leq(got, size, "%s", cases[i].text);
                cr_expect_str_eq(cases[i].text + got, cases[i].rest, "%s", cases[i].text);
        }
}

Test(definitions, nothing_beyond_the_size_is_looked_at)
{
        static const char text[] = "a '/-b/*-";
        for (size_t size = 0; size < sizeof(text); size++) {
                char *exact = malloc(size + !size);
                memcpy(exact, text, size);
                cr_expect_leq(definitions_size(exact, size), size);
                free(exact);
        }
}

Test(definitions, what_was_inserted_is_found)
{
        static const struct {
                const char *old, *new;
                unsigned count;
                const char *want; /* NULL = not enclosed */
        } cases[] = {
                {"t(a)", "t(a, b)", 1, ", b"},
                {"t(a)", "t(a, b, c)", 2, ", b, c"},
                {"t(a)", "t(a, b, c)", 1, NULL},
                {"t(a)", "t(a, b)", 2, NULL},
                {"t(a, UNIQUE(a))", "t(a, b, UNIQUE(a))", 1, ", b"},
                {"t(a, UNIQUE(a))", "t(a, UNIQ, UNIQUE(a))", 1, ", UNIQ"},
                {"t(a,UNIQUE(a))", "t(a, b,UNIQUE(a))", 1, ", b"},
                {"t(a, a1)", "t(a, a1, a1x)", 1, ", a1x"},
                {"t(a)", "t(a, b DEFAULT ',')", 1, ", b DEFAULT ','"},
                {"t(a)", "t(a, b CHECK(b > 0))", 1, ", b CHECK(b > 0)"},
                {"t(a)", "t(a)", 0, ""},
                {"t(a)", "t(b)", 0, NULL},
                {"t(a)", "t(a ", 0, NULL},
                {"t(a, b)", "t(a)", 0, NULL},
                {"t(a)", "u(a, b)", 1, NULL},
                {"t(a)", "t(a b)", 1, NULL},
                {"", ", b", 1, ", b"},
                {"", "", 0, ""},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                size_t size = 0;
                const char *found =
                        definitions_inserted(cases[i].old, cases[i].new, cases[i].count, &size);
                cr_expect_eq(found != NULL, cases[i].want != NULL, "%s to %s", cases[i].old,
                        cases[i].new);
                if (found && cases[i].want)
                        cr_expect(size == strlen(cases[i].want) &&
                                          memcmp(found, cases[i].want, size) == 0,
                                "%s to %s: %.*s", cases[i].old, cases[i].new, (int)size, found);
        }
}
