/* SPDX-License-Identifier: MIT
 *
 * schema: see schema.h. Tables are named t1, t2, … with odd tails now and then; the number is
 * what the processes of a round know a table by.
 */
#include "schema.h"

#include <string.h>

struct table_kind {
        const char *name; /* for people */
        unsigned weight;
        const char *key;        /* columns that make the key, or NULL */
        const char *constraint; /* table constraints, or NULL */
        const char *options;    /* behind the closing parenthesis */
        unsigned least_columns, most_columns;
};

static const struct table_kind kinds[] = {
        {"integer key", 20, "id INTEGER PRIMARY KEY", NULL, "", 1, 6},
        {"autoincrement", 6, "id INTEGER PRIMARY KEY AUTOINCREMENT", NULL, "", 1, 5},
        {"integer key as a constraint", 4, "a TEXT, id INTEGER", "PRIMARY KEY(id DESC)", "", 1, 4},
        {"text key", 12, "k TEXT NOT NULL PRIMARY KEY", NULL, "", 1, 6},
        {"int key", 8, "k INT NOT NULL PRIMARY KEY", NULL, "", 1, 6},
        {"two keys", 12, "a TEXT NOT NULL, b INT NOT NULL", "PRIMARY KEY(b, a)", "", 1, 5},
        {"no key", 14, NULL, NULL, "", 2, 6},
        {"unique index as key", 6, "u INT NOT NULL, w TEXT NOT NULL", NULL, "", 1, 4},
        {"text key or NULL", 6, "k TEXT PRIMARY KEY", NULL, "", 1, 4},
        {"two keys or NULL", 5, "a, b TEXT", "PRIMARY KEY(a, b)", "", 1, 4},
        {"real key", 3, "k REAL NOT NULL PRIMARY KEY", NULL, "", 1, 4},
        {"any key", 3, "k NOT NULL PRIMARY KEY", NULL, "", 1, 4},
        {"key without case", 3, "k TEXT COLLATE NOCASE NOT NULL PRIMARY KEY", NULL, "", 1, 4},
        {"descending key", 3, "id INTEGER PRIMARY KEY DESC", NULL, "", 1, 4},
        {"wide", 4, "id INTEGER PRIMARY KEY", NULL, "", 40, 300},
        {"strict", 4, "id INTEGER PRIMARY KEY", NULL, " STRICT", 2, 6},
};

static const char *const free_types[] = {"INTEGER", "INT", "REAL", "REAL", "DOUBLE", "NUMERIC",
        "DECIMAL(10,2)", "TEXT", "TEXT", "VARCHAR(20)", "BLOB", "", "", "BOOLEAN"};
static const char *const strict_types[] = {"INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"};
/* No integer that a double cannot hold: SQLite 3.40 does not find the index entry of such a default
 * in an added REAL column again, and calls the database malformed. */
static const char *const defaults[] = {"0", "-5", "3.5", "'text'", "''", "x'00ff'", "NULL",
        "140737488355328", "1e3", "'1e3'", "'3.0'", "9e999"};
static const char *const odd_tails[] = {" odd", "\"quoted\"", ",comma", "é", "'s", ".dot", "[x]"};

/* A name that needs quoting now and then; the caller frees with sqlite3_free. */
static char *odd_name(struct random *random, const char *stem, unsigned number)
{
        const char *tail = random_percent(random, 15) ? random_pick(random, odd_tails) : "";
        return sqlite3_mprintf("%s%u%s", stem, number, tail);
}

static void add_column_options(sqlite3_str *sql, struct random *random, bool is_strict)
{
        bool has_default = !is_strict && random_percent(random, 30);
        const char *value = random_pick(random, defaults);
        if (has_default)
                sqlite3_str_appendf(sql, " DEFAULT %s", value);
        if (has_default && strcmp(value, "NULL") != 0 && random_percent(random, 40))
                sqlite3_str_appendall(sql, " NOT NULL");
        if (random_percent(random, 8))
                sqlite3_str_appendall(sql, " UNIQUE");
        if (random_percent(random, 8))
                sqlite3_str_appendall(sql, " COLLATE NOCASE");
}

/* A column that refers to a table made before, if one has a key that can be referred to. */
static void add_parent_column(
        sqlite3_str *sql, struct random *random, const struct catalog *catalog)
{
        static const char *const actions[] = {"CASCADE", "CASCADE", "SET NULL", "NO ACTION"};
        if (catalog->table_count < 2)
                return;
        const struct table *parent =
                &catalog->tables[random_between(random, 1, catalog->table_count - 1)];
        if (parent->key_count != 1 || parent->truth != TRUTH_SESSION)
                return;
        unsigned key = 0;
        table_key(parent, &key);
        sqlite3_str_appendf(sql, ", parent %s REFERENCES \"%w\"(\"%w\") ON DELETE %s ON UPDATE %s",
                parent->columns[key].declared_type, parent->name, parent->columns[key].name,
                random_pick(random, actions), random_pick(random, actions));
        if (random_percent(random, 25))
                sqlite3_str_appendall(sql, " DEFERRABLE INITIALLY DEFERRED");
}

/* parents: what a foreign key may refer to, or NULL. */
static char *make_table(struct random *random, struct shared *shared, const struct table_kind *kind,
        const struct catalog *parents)
{
        bool is_strict = strstr(kind->options, "STRICT") != NULL;
        _cleanup_sql_ char *name = odd_name(random, "t", ++shared->last_table);
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "CREATE TABLE \"%w\"(%s", name, kind->key ? kind->key : "");
        unsigned count = random_between(random, kind->least_columns, kind->most_columns);
        for (unsigned i = 1; i <= count; i++) {
                _cleanup_sql_ char *column = odd_name(random, "c", i);
                sqlite3_str_appendf(sql, "%s\"%w\" %s", i > 1 || kind->key ? ", " : "", column,
                        is_strict ? random_pick(random, strict_types)
                                  : random_pick(random, free_types));
                if (count < 10)
                        add_column_options(sql, random, is_strict);
        }
        if (parents && !is_strict && random_percent(random, 45))
                add_parent_column(sql, random, parents);
        if (kind->constraint)
                sqlite3_str_appendf(sql, ", %s", kind->constraint);
        sqlite3_str_appendf(sql, ")%s", kind->options);
        return sqlite3_str_finish(sql);
}

char *schema_table(struct random *random, struct shared *shared, const struct catalog *parents)
{
        return make_table(random, shared, &kinds[random_row(random, kinds)], parents);
}

char *schema_added_column(struct random *random, struct shared *shared, const struct table *table)
{
        _cleanup_sql_ char *name = odd_name(random, "added", ++shared->last_column);
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "ALTER TABLE \"%w\" ADD COLUMN \"%w\" %s", table->name, name,
                table->is_strict ? "ANY" : random_pick(random, free_types));
        if (random_percent(random, 70)) {
                const char *value = random_pick(random, defaults);
                bool is_not_null = strcmp(value, "NULL") != 0 && random_percent(random, 30);
                sqlite3_str_appendf(sql, " DEFAULT %s%s", value, is_not_null ? " NOT NULL" : "");
        }
        return sqlite3_str_finish(sql);
}

char *schema_index(struct random *random, struct shared *shared, const struct table *table)
{
        unsigned first = random_below(random, table->column_count);
        unsigned count = random_between(random, 1, 2);
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "CREATE %sINDEX i%u ON \"%w\"(",
                random_percent(random, 30) ? "UNIQUE " : "", ++shared->last_index, table->name);
        for (unsigned i = 0; i < count && first + i < table->column_count; i++) {
                const char *name = table->columns[first + i].name;
                sqlite3_str_appendall(sql, i ? ", " : "");
                if (random_percent(random, 10))
                        sqlite3_str_appendf(sql, "coalesce(\"%w\", 0)", name);
                else
                        sqlite3_str_appendf(
                                sql, "\"%w\"%s", name, random_percent(random, 20) ? " DESC" : "");
        }
        sqlite3_str_appendall(sql, ")");
        if (random_percent(random, 12))
                sqlite3_str_appendf(sql, " WHERE \"%w\" IS NOT NULL", table->columns[first].name);
        return sqlite3_str_finish(sql);
}
