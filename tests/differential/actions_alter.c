/* SPDX-License-Identifier: MIT
 *
 * actions_alter: ALTER TABLE, and the indexes of a table. What alteration.h excludes is not done.
 */
#include "actions.h"

#include <string.h>
#include "naming.h"
#include "schema.h"

void add_column(struct writer *writer, const struct table *table)
{
        if (!alterations_allow(&writer->alterations, table, ALTERATION_ADDED))
                return;
        _cleanup_sql_ char *definition =
                schema_added_column(&writer->random, writer->shared, table);
        char *sql = sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN %s", table->name, definition);
        if (perform_text(writer, sql, NULL) > 0)
                alterations_note_added(&writer->alterations, table, definition);
}

/* Refused if the column is part of a key, an index, a computed column; but not if a trigger of
 * another table writes to it, as those write to the log table. */
void drop_column(struct writer *writer, const struct table *table)
{
        unsigned column = random_below(&writer->random, table->column_count);
        if (table->number == LOG_TABLE ||
                !alterations_allow(&writer->alterations, table, ALTERATION_DROPPED))
                return;
        char *sql = sqlite3_mprintf(
                "ALTER TABLE \"%w\" DROP COLUMN \"%w\"", table->name, table->columns[column].name);
        if (perform_text(writer, sql, NULL) > 0)
                alterations_note_dropped(&writer->alterations, table, column);
}

static int rename_one(
        struct writer *writer, const struct table *table, const char *from, const char *to)
{
        return perform_text(writer,
                sqlite3_mprintf(
                        "ALTER TABLE \"%w\" RENAME COLUMN \"%w\" TO \"%w\"", table->name, from, to),
                NULL);
}

static bool is_added(const struct column *column)
{
        return strncmp(column->name, "added", 5) == 0;
}

/* An added column stays known as one by its name (catalog.c). */
static char *fresh_name(struct writer *writer, const struct column *column)
{
        return naming_column(&writer->random, is_added(column) ? "added" : "renamed",
                100 + ++writer->shared->last_column);
}

/* Not if other tables' texts change with it: see rename_table(). */
void rename_column(struct writer *writer, const struct table *table)
{
        const struct column *column =
                &table->columns[random_below(&writer->random, table->column_count)];
        if (!alterations_allow(&writer->alterations, table, ALTERATION_RENAMED) ||
                (column->key && table->is_referenced))
                return;
        _cleanup_sql_ char *name = fresh_name(writer, column);
        if (rename_one(writer, table, column->name, name) > 0)
                alterations_note_renamed(&writer->alterations, table);
}

/* Two columns trade names: columns are bound by position. Not with late instances: those are chosen
 * by names some time before they are enabled by names, and nobody knows which of the two it is. */
void swap_column_names(struct writer *writer, const struct table *table)
{
        unsigned first = random_below(&writer->random, table->column_count);
        unsigned second = random_below(&writer->random, table->column_count);
        const struct column *a = &table->columns[first], *b = &table->columns[second];
        bool has_key = a->key || b->key;
        if (first == second || is_added(a) != is_added(b) || (has_key && table->is_referenced) ||
                writer->settings->kind->has_late_instances ||
                !alterations_allow(&writer->alterations, table, ALTERATION_RENAMED))
                return;
        _cleanup_sql_ char *between = fresh_name(writer, a);
        if (rename_one(writer, table, a->name, between) <= 0)
                return;
        alterations_note_renamed(&writer->alterations, table);
        if (rename_one(writer, table, b->name, a->name) > 0)
                rename_one(writer, table, between, b->name);
}

/* A table that others refer to changes their texts, too: it is the last change of the schema, so
 * that what happened to those is told by that alone. */
void rename_table(struct writer *writer, const struct table *table)
{
        const struct alteration *done = alterations_find(&writer->alterations, table->number);
        if ((done && done->kind == ALTERATION_REPLACED) ||
                (table->is_referenced && writer->alterations.count > 0))
                return;
        _cleanup_sql_ char *name = naming_other_table(&writer->random, table->number);
        if (perform_text(writer,
                    sqlite3_mprintf("ALTER TABLE \"%w\" RENAME TO \"%w\"", table->name, name),
                    NULL) > 0)
                writer->alterations.is_closed = table->is_referenced;
}

void create_index(struct writer *writer, const struct table *table)
{
        perform_text(writer, schema_index(&writer->random, writer->shared, table), NULL);
}

/* Not a unique one: it may identify the rows of an instance. */
void drop_index(struct writer *writer, const struct table *table)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(writer->db,
                    "SELECT name FROM sqlite_schema WHERE type = 'index'"
                    " AND sql LIKE 'CREATE INDEX%' LIMIT 1 OFFSET ?",
                    -1, &statement, NULL) != SQLITE_OK)
                return;
        sqlite3_bind_int(statement, 1, (int)random_below(&writer->random, 6));
        if (sqlite3_step(statement) != SQLITE_ROW)
                return;
        char *sql = sqlite3_mprintf("DROP INDEX \"%w\"", sqlite3_column_text(statement, 0));
        sqlite3_reset(statement);
        perform_text(writer, sql, NULL);
}
