/* SPDX-License-Identifier: MIT
 *
 * actions_rebuild: the way of twelve steps to change a table that ALTER TABLE cannot: a new one
 * takes its rows, its indexes and at last its name.
 */
#include "actions.h"

#include <string.h>
#include "schema.h"

#define NEW_NAME "rebuilt"

/* What stands behind the name in CREATE TABLE. */
static const char *body_of(const char *sql)
{
        const char *at = sql + strlen("CREATE TABLE ");
        if (*at != '"')
                return strchr(at, '(');
        for (at++; *at; at++)
                if (*at == '"' && *++at != '"')
                        return at;
        return NULL;
}

/* The body with another type for one column, if its definition is found. */
static char *retyped_body(struct writer *writer, const struct table *table, const char *body)
{
        static const char *const types[] = {"INTEGER", "TEXT", "REAL", "BLOB"};
        const struct column *column =
                &table->columns[random_below(&writer->random, table->column_count)];
        _cleanup_sql_ char *old = sqlite3_mprintf("\"%w\" %s", column->name, column->declared_type);
        const char *at = strstr(body, old);
        if (!at || column->key || column->parent_table || column->is_generated ||
                !*column->declared_type)
                return sqlite3_mprintf("%s", body);
        return sqlite3_mprintf("%.*s\"%w\" %s%s", (int)(at - body), body, column->name,
                random_pick(&writer->random, types), at + strlen(old));
}

static char *other_body(struct writer *writer, const struct table *table, const char *body)
{
        unsigned choice = random_below(&writer->random, 10);
        if (choice < 4)
                return sqlite3_mprintf("%s", body);
        if (choice < 7)
                return retyped_body(writer, table, body);
        return sqlite3_mprintf("(fresh%u %s, %s", ++writer->shared->last_column,
                table->is_strict ? "ANY" : "TEXT DEFAULT 'fresh'", body + 1);
}

/* Rows may be left out, and rowids be others, where no column shows them. */
static char *copy_text(struct writer *writer, const struct table *table)
{
        _cleanup_sql_ char *columns = table_columns(table);
        bool has_rowids = !table->is_without_rowid && table->rowid_column < 0 &&
                          table->column_count < 1000 && random_percent(&writer->random, 50);
        const char *rowid = has_rowids ? "rowid, " : "";
        return sqlite3_mprintf("INSERT INTO " NEW_NAME "(%s%s) SELECT %s%s FROM \"%w\"%s%s", rowid,
                columns, rowid, columns, table->name,
                random_percent(&writer->random, 25) ? " WHERE pick(10) > 0" : "",
                random_percent(&writer->random, 30) ? " ORDER BY 1" : "");
}

static bool run_steps(
        struct writer *writer, const struct table *table, const char *text, struct names *indexes)
{
        char *body = other_body(writer, table, body_of(text));
        char *create = sqlite3_mprintf("CREATE TABLE " NEW_NAME "%s", body);
        sqlite3_free(body);
        bool is_well =
                perform_text(writer, create, NULL) > 0 &&
                perform_text(writer, copy_text(writer, table), NULL) > 0 &&
                perform_text(writer, sqlite3_mprintf("DROP TABLE \"%w\"", table->name), NULL) > 0 &&
                perform_text(writer,
                        sqlite3_mprintf("ALTER TABLE " NEW_NAME " RENAME TO \"%w\"", table->name),
                        NULL) > 0;
        for (unsigned i = 0; is_well && i < indexes->count; i++) {
                bool is_unique = strncmp(indexes->items[i], "CREATE UNIQUE", 13) == 0;
                if (is_unique || random_percent(&writer->random, 80))
                        is_well = perform(writer, indexes->items[i], NULL) > 0;
        }
        return is_well;
}

void rebuild_table(struct writer *writer, const struct table *table)
{
        struct names indexes = {0};
        _cleanup_sql_ char *text = schema_text(writer, table);
        const struct alteration *done = alterations_find(&writer->alterations, table->number);
        int64_t row = schema_row(writer, table);
        if (!text || !body_of(text) || table->is_referenced || schema_row_is_used_again(writer) ||
                (done && done->kind == ALTERATION_REPLACED))
                return;
        schema_indexes(writer, table, &indexes);
        perform(writer, "SAVEPOINT rebuild", NULL);
        bool is_well = run_steps(writer, table, text, &indexes);
        if (is_well)
                schema_note_dropped(writer, table, row);
        else if (writer_is_well(writer))
                perform(writer, "ROLLBACK TO rebuild", NULL);
        if (writer_is_well(writer))
                perform(writer, "RELEASE rebuild", NULL);
        names_release(&indexes);
}
