/* SPDX-License-Identifier: MIT
 *
 * actions_define: tables that come, go, or are replaced in the middle of the workload. What
 * alteration.h excludes is not done.
 */
#include "actions.h"

#include <stdio.h>
#include <string.h>
#include "naming.h"
#include "schema.h"

enum { LEAST_TABLES = 5 };

int64_t schema_row(struct writer *writer, const struct table *table)
{
        _cleanup_sql_ char *sql = sqlite3_mprintf(
                "SELECT rowid FROM sqlite_schema WHERE type = 'table' AND name = '%q'",
                table->name);
        return query_integer(writer->db, sql);
}

bool schema_row_is_used_again(struct writer *writer)
{
        return query_integer(writer->db, "SELECT max(rowid) FROM sqlite_schema") <
               writer->alterations.dropped_row;
}

void schema_note_dropped(struct writer *writer, const struct table *table, int64_t row)
{
        struct alterations *alterations = &writer->alterations;
        alterations_note_replaced(alterations, table->number);
        if (row > alterations->dropped_row)
                alterations->dropped_row = row;
}

/* Without the double quotes around the name that schema_table() wrote: t5 needs none. */
static char *with_bare_name(const char *sql, const char *name)
{
        static const char begin[] = "CREATE TABLE \"";
        return sqlite3_mprintf(
                "CREATE TABLE %s%s", name, sql + sizeof(begin) - 1 + strlen(name) + 1);
}

static void create_named(struct writer *writer, const char *name, unsigned number)
{
        bool is_bare = !name[strspn(name, "t0123456789")];
        _cleanup_sql_ char *sql = schema_table(&writer->random, name, NULL);
        bool is_alike = schema_row_is_used_again(writer);
        if (is_alike && !is_bare)
                return;
        if (is_bare && (is_alike || random_percent(&writer->random, 30))) {
                char *bare = with_bare_name(sql, name);
                sqlite3_free(sql);
                sql = bare;
        }
        if (perform(writer, sql, NULL) > 0)
                alterations_note_replaced(&writer->alterations, number);
}

void define_table(struct writer *writer, const struct table *table)
{
        unsigned number;
        _cleanup_sql_ char *name = naming_new_table(&writer->random, writer->shared, &number);
        if (!name)
                return;
        /* Sometimes its truth is kept, so that an instance can be enabled on it later. */
        if (random_percent(&writer->random, 50))
                writer->shared->is_watched[number] = true;
        create_named(writer, name, number);
}

static bool is_there(const struct writer *writer, unsigned number)
{
        for (unsigned i = 0; i < writer->catalog.table_count; i++)
                if (writer->catalog.tables[i].number == number)
                        return true;
        return false;
}

/* A table that was dropped in an earlier transaction comes again, as another one of its name. */
void define_again(struct writer *writer, const struct table *table)
{
        char name[16];
        unsigned last = writer->shared->last_table;
        unsigned start = random_below(&writer->random, last);
        for (unsigned i = 0; i < last; i++) {
                unsigned number = 1 + (start + i) % last;
                if (is_there(writer, number) || alterations_find(&writer->alterations, number) ||
                        !writer->shared->is_watched[number])
                        continue;
                snprintf(name, sizeof(name), "t%u", number);
                create_named(writer, name, number);
                return;
        }
}

void drop_table(struct writer *writer, const struct table *table)
{
        int64_t row = schema_row(writer, table);
        if (table->is_referenced || writer->catalog.table_count <= LEAST_TABLES)
                return;
        if (perform_text(writer, sqlite3_mprintf("DROP TABLE \"%w\"", table->name), NULL) > 0)
                schema_note_dropped(writer, table, row);
}

char *schema_text(struct writer *writer, const struct table *table)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(writer->db, "SELECT sql FROM sqlite_schema WHERE name = ?", -1,
                    &statement, NULL) != SQLITE_OK)
                return NULL;
        sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) != SQLITE_ROW)
                return NULL;
        return sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
}

void schema_indexes(struct writer *writer, const struct table *table, struct names *texts)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(writer->db,
                    "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?"
                    " AND sql IS NOT NULL ORDER BY rowid",
                    -1, &statement, NULL) != SQLITE_OK)
                return;
        sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
        while (sqlite3_step(statement) == SQLITE_ROW)
                names_add(texts, (const char *)sqlite3_column_text(statement, 0));
}

/* Some rows of before the transaction do not come again. */
static void insert_few(struct writer *writer, const char *name)
{
        writer->catalog.version = -1;
        writer->failure = catalog_refresh(writer->db, &writer->catalog);
        const struct table *table = catalog_find(&writer->catalog, name);
        for (unsigned i = random_below(&writer->random, 3); table && i && writer_is_well(writer);
                i--)
                insert_rows(writer, table);
}

/* The unique indexes may identify rows of an instance, and come again. */
static bool has_unique(const struct names *indexes)
{
        for (unsigned i = 0; i < indexes->count; i++)
                if (strncmp(indexes->items[i], "CREATE UNIQUE", 13) == 0)
                        return true;
        return false;
}

static void create_unique(struct writer *writer, const struct names *indexes)
{
        for (unsigned i = 0; i < indexes->count && writer_is_well(writer); i++)
                if (strncmp(indexes->items[i], "CREATE UNIQUE", 13) == 0)
                        perform(writer, indexes->items[i], NULL);
}

/* DROP and CREATE in one transaction: as it was, or as a table of another kind. If it gets its row
 * of sqlite_schema again, it must be as it was. */
static void create_another(
        struct writer *writer, const struct table *table, const struct names *indexes, int64_t row)
{
        _cleanup_sql_ char *name = sqlite3_mprintf("%s", table->name);
        _cleanup_sql_ char *text = schema_text(writer, table);
        if (perform_text(writer, sqlite3_mprintf("DROP TABLE \"%w\"", name), NULL) <= 0)
                return;
        bool is_same_row = query_integer(writer->db, "SELECT max(rowid) FROM sqlite_schema") < row;
        if (!is_same_row)
                schema_note_dropped(writer, table, row);
        if (!is_same_row && schema_row_is_used_again(writer))
                return; /* its indexes went as well: the next row is another table's */
        if (!is_same_row && !has_unique(indexes) && random_percent(&writer->random, 60)) {
                sqlite3_free(text);
                text = schema_table(&writer->random, name, NULL);
        }
        if (perform(writer, text, NULL) <= 0)
                return;
        create_unique(writer, indexes);
        insert_few(writer, name);
}

void drop_and_create(struct writer *writer, const struct table *table)
{
        struct names indexes = {0};
        const struct alteration *done = alterations_find(&writer->alterations, table->number);
        if (table->is_referenced || schema_row_is_used_again(writer) ||
                (done && done->kind == ALTERATION_REPLACED))
                return;
        schema_indexes(writer, table, &indexes);
        create_another(writer, table, &indexes, schema_row(writer, table));
        names_release(&indexes);
}
