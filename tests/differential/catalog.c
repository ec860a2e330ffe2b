/* SPDX-License-Identifier: MIT
 *
 * catalog: see catalog.h.
 */
#include "catalog.h"

#include <errno.h>
#include <string.h>
#include "naming.h"

static void table_release(struct table *table)
{
        for (unsigned i = 0; i < table->column_count; i++) {
                free(table->columns[i].name);
                free(table->columns[i].declared_type);
                free(table->columns[i].parent_table);
                free(table->columns[i].parent_column);
        }
        free(table->columns);
        free(table->name);
}

void catalog_release(struct catalog *catalog)
{
        for (unsigned i = 0; i < catalog->table_count; i++)
                table_release(&catalog->tables[i]);
        free(catalog->tables);
        *catalog = (struct catalog){0};
}

int64_t query_integer(sqlite3 *db, const char *sql)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return 0;
        return sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
}

/* What values a column mostly gets: a guess by its declared type, no rule of SQLite's. */
static enum value_bias bias_of_type(const char *type)
{
        static const struct {
                const char *part;
                enum value_bias bias;
        } parts[] = {{"INT", VALUE_INTEGER}, {"BOOL", VALUE_INTEGER}, {"REAL", VALUE_REAL},
                {"DOUB", VALUE_REAL}, {"NUM", VALUE_REAL}, {"DEC", VALUE_REAL},
                {"CHAR", VALUE_TEXT}, {"TEXT", VALUE_TEXT}, {"BLOB", VALUE_BLOB}};
        for (unsigned i = 0; i < COUNT(parts); i++)
                if (strcasestr(type, parts[i].part))
                        return parts[i].bias;
        return VALUE_ANY;
}

static const char *column_text(sqlite3_stmt *statement, int column)
{
        const char *text = (const char *)sqlite3_column_text(statement, column);
        return text ? text : "";
}

static int read_columns(sqlite3 *db, struct table *table)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        static const char sql[] =
                "SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk, hidden"
                " FROM pragma_table_xinfo(?1) WHERE hidden <> 1";
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return -EIO;
        sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
        while (sqlite3_step(statement) == SQLITE_ROW) {
                table->columns = memory_grow(
                        table->columns, (table->column_count + 1) * sizeof(*table->columns));
                struct column *column = &table->columns[table->column_count++];
                *column = (struct column){
                        .name = memory_text(column_text(statement, 0)),
                        .declared_type = memory_text(column_text(statement, 1)),
                        .is_not_null = sqlite3_column_int(statement, 2),
                        .has_default = sqlite3_column_int(statement, 3),
                        .key = (unsigned)sqlite3_column_int(statement, 4),
                        .is_generated = sqlite3_column_int(statement, 5) > 1,
                        .is_virtual = sqlite3_column_int(statement, 5) == 2,
                };
                column->bias = bias_of_type(column->declared_type);
                table->key_count += column->key ? 1 : 0;
        }
        return table->column_count ? 0 : -EIO;
}

const struct column *catalog_column(const struct table *table, const char *name)
{
        for (unsigned i = 0; i < table->column_count; i++)
                if (strcmp(table->columns[i].name, name) == 0)
                        return &table->columns[i];
        return NULL;
}

static int read_parents(sqlite3 *db, struct table *table)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        static const char sql[] =
                "SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?1)";
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return -EIO;
        sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
        while (sqlite3_step(statement) == SQLITE_ROW) {
                struct column *column =
                        (struct column *)catalog_column(table, column_text(statement, 0));
                if (!column || column->parent_table)
                        continue;
                column->parent_table = memory_text(column_text(statement, 1));
                column->parent_column = memory_text(column_text(statement, 2));
        }
        return 0;
}

/* The key of a table is the rowid if its type is exactly INTEGER and SQLite gives it no index
 * (INTEGER PRIMARY KEY DESC has one). */
static int find_rowid_column(sqlite3 *db, const struct table *table)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        static const char sql[] = "SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk'";
        if (table->key_count != 1 || sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return -1;
        sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW)
                return -1;
        for (unsigned i = 0; i < table->column_count; i++)
                if (table->columns[i].key)
                        return (int)i;
        return -1;
}

/* The session extension compares keys with the collation of the column and takes no rows with a
 * NULL in the key; of a row written before an ADD COLUMN it shows NULL for the default; it does not
 * know generated columns. Where that would matter the table is recorded by its content. */
static enum truth_kind truth_of(sqlite3 *db, const struct table *table)
{
        if (!table->key_count)
                return TRUTH_DUMP;
        for (unsigned i = 0; i < table->column_count; i++) {
                const struct column *column = &table->columns[i];
                const char *collation = "BINARY";
                if (column->is_generated ||
                        (strncmp(column->name, "added", 5) == 0 && column->has_default))
                        return TRUTH_DUMP;
                if (!column->key)
                        continue;
                sqlite3_table_column_metadata(
                        db, "main", table->name, column->name, NULL, &collation, NULL, NULL, NULL);
                bool is_plain = column->bias == VALUE_INTEGER || column->bias == VALUE_TEXT;
                bool is_null = !column->is_not_null && table->rowid_column != (int)i;
                if (!is_plain || is_null || strcmp(collation, "BINARY") != 0)
                        return TRUTH_DUMP;
        }
        return TRUTH_SESSION;
}

static bool is_referenced(sqlite3 *db, const char *name)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        static const char sql[] =
                "SELECT 1 FROM sqlite_schema AS s, pragma_foreign_key_list(s.name) AS f"
                " WHERE s.type = 'table' AND f.\"table\" = ?1 COLLATE NOCASE UNION ALL"
                " SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name <> ?1"
                " AND instr(sql, '\"' || replace(?1, '\"', '\"\"') || '\"')";
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return true;
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        return sqlite3_step(statement) != SQLITE_DONE;
}

static int table_read(sqlite3 *db, struct table *table)
{
        int result = read_columns(db, table);
        if (result == 0)
                result = read_parents(db, table);
        if (result < 0)
                return result;
        table->number = naming_number(table->name);
        table->rowid_column = find_rowid_column(db, table);
        table->is_referenced = is_referenced(db, table->name);
        table->truth = truth_of(db, table);
        return 0;
}

static int catalog_load(sqlite3 *db, struct catalog *catalog)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        static const char sql[] =
                "SELECT l.name, l.wr, l.strict, EXISTS(SELECT 1 FROM sqlite_schema AS g"
                " WHERE g.type = 'trigger' AND g.tbl_name = l.name)"
                " FROM pragma_table_list AS l WHERE l.schema = 'main' AND l.type = 'table'"
                " AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
                " ORDER BY l.name <> '" MARKER_TABLE "', l.name";
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return -EIO;
        int result = 0;
        while (result == 0 && sqlite3_step(statement) == SQLITE_ROW) {
                catalog->tables = memory_grow(
                        catalog->tables, (catalog->table_count + 1) * sizeof(*catalog->tables));
                struct table *table = &catalog->tables[catalog->table_count++];
                *table = (struct table){
                        .name = memory_text(column_text(statement, 0)),
                        .is_without_rowid = sqlite3_column_int(statement, 1),
                        .is_strict = sqlite3_column_int(statement, 2),
                        .has_triggers = sqlite3_column_int(statement, 3),
                };
                result = table_read(db, table);
        }
        return result;
}

int catalog_refresh(sqlite3 *db, struct catalog *catalog)
{
        int version = (int)query_integer(db, "PRAGMA schema_version");
        if (catalog->version == version && catalog->tables)
                return 0;
        catalog_release(catalog);
        catalog->version = version;
        return catalog_load(db, catalog);
}

const struct table *catalog_find(const struct catalog *catalog, const char *name)
{
        for (unsigned i = 0; i < catalog->table_count; i++)
                if (strcmp(catalog->tables[i].name, name) == 0)
                        return &catalog->tables[i];
        return NULL;
}

void table_key(const struct table *table, unsigned *ret_columns)
{
        for (unsigned i = 0; i < table->column_count; i++)
                if (table->columns[i].key)
                        ret_columns[table->columns[i].key - 1] = i;
}
