/* SPDX-License-Identifier: MIT
 *
 * schema: see schema.h.
 */
#include "schema.h"

#include <string.h>
#include "naming.h"

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
        {"as wide as can be", 1, "id INTEGER PRIMARY KEY", NULL, "", 1000, 1980},
        {"strict", 5, "id INTEGER PRIMARY KEY", NULL, " STRICT", 2, 6},
        {"strict, two keys", 2, "a TEXT, b INT NOT NULL", "PRIMARY KEY(b, a)", " STRICT", 1, 4},
        {"keys behind", 3, "x, a TEXT NOT NULL, y REAL, b INT NOT NULL", "PRIMARY KEY(b, a)", "", 0,
                3},
        {"no rowid", 7, "k TEXT NOT NULL PRIMARY KEY", NULL, " WITHOUT ROWID", 1, 6},
        {"no rowid, integer", 5, "id INTEGER PRIMARY KEY", NULL, " WITHOUT ROWID", 0, 5},
        {"no rowid, two keys", 7, "a TEXT, b INT", "PRIMARY KEY(b DESC, a)", " WITHOUT ROWID", 1,
                5},
        {"no rowid, keys behind", 5, "x, a, y REAL, b BLOB, z TEXT", "PRIMARY KEY(b, a DESC)",
                " WITHOUT ROWID", 0, 4},
        {"no rowid, without case", 5, "a TEXT, b TEXT COLLATE NOCASE",
                "PRIMARY KEY(b, a COLLATE RTRIM DESC)", " WITHOUT ROWID", 1, 4},
        {"no rowid, a column twice", 2, "a TEXT, b INT", "PRIMARY KEY(a, b, a COLLATE NOCASE)",
                " WITHOUT ROWID", 1, 3},
        {"no rowid, real key", 3, "k REAL PRIMARY KEY DESC", NULL, " WITHOUT ROWID", 1, 4},
        {"no rowid, strict", 3, "a ANY, b INT", "PRIMARY KEY(a, b)", " STRICT, WITHOUT ROWID", 1,
                4},
        {"no rowid, wide", 2, "k INT PRIMARY KEY", NULL, " WITHOUT ROWID", 40, 200},
};

static const char *const free_types[] = {"INTEGER", "INT", "REAL", "REAL", "DOUBLE", "NUMERIC",
        "DECIMAL(10,2)", "TEXT", "TEXT", "VARCHAR(20)", "BLOB", "", "", "BOOLEAN"};
static const char *const strict_types[] = {"INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"};
/* No integer that a double cannot hold: SQLite 3.40 does not find the index entry of such a default
 * in an added REAL column again, and calls the database malformed. */
static const char *const defaults[] = {"0", "-5", "3.5", "'text'", "''", "x'00ff'", "NULL",
        "140737488355328", "1e3", "'1e3'", "'3.0'", "9e999"};
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

/* Columns that are computed from one that stands before them. */
static void add_generated_columns(
        sqlite3_str *sql, struct random *random, const char *source, bool is_strict)
{
        static const char *const expressions[] = {"typeof(\"%w\")", "substr(\"%w\", 1, 10)",
                "coalesce(\"%w\", 'none')", "length(\"%w\")", "\"%w\" IS NULL",
                "\"%w\" || '-computed'", "\"%w\""};
        unsigned count = random_between(random, 1, 2);
        for (unsigned i = 1; i <= count; i++) {
                _cleanup_sql_ char *expression =
                        sqlite3_mprintf(random_pick(random, expressions), source);
                sqlite3_str_appendf(sql, ", g%u %s%s AS (%s) %s", i,
                        is_strict ? "ANY" : random_pick(random, free_types),
                        random_percent(random, 30) ? " GENERATED ALWAYS" : "", expression,
                        random_percent(random, 50) ? "STORED" : "VIRTUAL");
        }
}

static void add_columns(sqlite3_str *sql, struct random *random, const struct table_kind *kind,
        unsigned count, bool is_strict)
{
        unsigned computed = random_percent(random, 20) && count > 0 && count < 10
                                    ? random_between(random, 1, count)
                                    : 0;
        for (unsigned i = 1; i <= count; i++) {
                _cleanup_sql_ char *column = naming_column(random, "c", i);
                sqlite3_str_appendf(sql, "%s\"%w\" %s", i > 1 || kind->key ? ", " : "", column,
                        is_strict ? random_pick(random, strict_types)
                                  : random_pick(random, free_types));
                if (count < 10)
                        add_column_options(sql, random, is_strict);
                if (i == computed)
                        add_generated_columns(sql, random, column, is_strict);
        }
}

static char *make_table(struct random *random, const char *name, const struct table_kind *kind,
        const struct catalog *parents)
{
        bool is_strict = strstr(kind->options, "STRICT") != NULL;
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "CREATE TABLE \"%w\"(%s", name, kind->key ? kind->key : "");
        unsigned count = random_between(random, kind->least_columns, kind->most_columns);
        add_columns(sql, random, kind, count, is_strict);
        if (parents && !is_strict && random_percent(random, 45))
                add_parent_column(sql, random, parents);
        if (kind->constraint)
                sqlite3_str_appendf(sql, ", %s", kind->constraint);
        sqlite3_str_appendf(sql, ")%s", kind->options);
        return sqlite3_str_finish(sql);
}

char *schema_table(struct random *random, const char *name, const struct catalog *parents)
{
        return make_table(random, name, &kinds[random_row(random, kinds)], parents);
}

char *schema_added_column(struct random *random, struct shared *shared, const struct table *table)
{
        _cleanup_sql_ char *name = naming_column(random, "added", 100 + ++shared->last_column);
        sqlite3_str *sql = sqlite3_str_new(NULL);
        const char *type = table->is_strict ? "ANY" : random_pick(random, free_types);
        sqlite3_str_appendf(sql, "\"%w\"%s%s", name, *type ? " " : "", type);
        int computed =
                random_percent(random, 12) ? (int)random_below(random, table->column_count) : -1;
        if (computed >= 0 && !table->columns[computed].is_generated) {
                sqlite3_str_appendf(sql, " AS (typeof(\"%w\"))", table->columns[computed].name);
                return sqlite3_str_finish(sql);
        }
        if (random_percent(random, 70)) {
                const char *value = random_pick(random, defaults);
                bool is_not_null = strcmp(value, "NULL") != 0 && random_percent(random, 30);
                sqlite3_str_appendf(sql, " DEFAULT %s%s", value, is_not_null ? " NOT NULL" : "");
        }
        return sqlite3_str_finish(sql);
}

/* SQLite up to 3.40 keeps values of a VIRTUAL column in its indexes before they are converted to
 * the column's type, and then finds its own index broken. */
static bool has_virtual(const struct table *table, unsigned first, unsigned count)
{
        for (unsigned i = first; i < first + count && i < table->column_count; i++)
                if (table->columns[i].is_virtual)
                        return true;
        return false;
}

char *schema_index(struct random *random, struct shared *shared, const struct table *table)
{
        unsigned first = random_below(random, table->column_count);
        unsigned count = random_between(random, 1, 2);
        while (has_virtual(table, first, count) && first > 0)
                first = random_below(random, first);
        if (has_virtual(table, first, count))
                count = 1;
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
