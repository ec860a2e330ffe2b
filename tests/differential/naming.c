/* SPDX-License-Identifier: MIT
 *
 * naming: see naming.h.
 */
#include "naming.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "bytes.h"

enum { FIRST_KEYWORD = 300, MOST_NUMBERED = 280 };

static const char *const tails[] = {" odd", "\"quoted\"", ",comma", "é", "'s", ".dot", "[x]",
        "/slash", "\nline\nfeed", "\\back", "%41", " 日本", "\xf0\x9f\x98\x80", "`tick`", "--",
        ")(", "/*c*/", ";"};

static const char *const table_keywords[] = {"select", "ORDER", "group", "Table", "index", "values",
        "where", "from", "union", "transaction"};

static const char *const column_keywords[] = {"select", "ORDER", "group", "Table", "index",
        "values", "where", "from", "check", "primary", "default", "references", "unique"};

static const char *pick_tail(struct random *random, unsigned percent)
{
        return random_percent(random, percent) ? random_pick(random, tails) : "";
}

char *naming_new_table(struct random *random, struct shared *shared, unsigned *ret_number)
{
        if (random_percent(random, 6) && shared->last_keyword < COUNT(table_keywords)) {
                unsigned keyword = shared->last_keyword++;
                *ret_number = FIRST_KEYWORD + keyword;
                return sqlite3_mprintf("%s", table_keywords[keyword]);
        }
        if (shared->last_table >= MOST_NUMBERED)
                return NULL;
        *ret_number = ++shared->last_table;
        return sqlite3_mprintf("t%u%s", *ret_number, pick_tail(random, 20));
}

char *naming_other_table(struct random *random, unsigned number)
{
        return sqlite3_mprintf(
                "t%u%s%c", number, pick_tail(random, 70), 'a' + (char)random_below(random, 26));
}

unsigned naming_number(const char *table)
{
        unsigned number = 0;
        for (unsigned i = 0; i < COUNT(table_keywords); i++)
                if (strcasecmp(table, table_keywords[i]) == 0)
                        return FIRST_KEYWORD + i;
        return sscanf(table, "t%u", &number) == 1 && number < TABLES_MAX ? number : 0;
}

char *naming_column(struct random *random, const char *stem, unsigned number)
{
        bool is_keyword = number - 1 < COUNT(column_keywords) && random_percent(random, 8);
        return is_keyword ? sqlite3_mprintf("%s", column_keywords[number - 1])
                          : sqlite3_mprintf("%s%u%s", stem, number, pick_tail(random, 20));
}
