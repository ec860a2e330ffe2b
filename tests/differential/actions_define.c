/* SPDX-License-Identifier: MIT
 *
 * actions_define: changes of the schema in the middle of the workload.
 */
#include "actions.h"

#include "naming.h"
#include "schema.h"

enum { LEAST_TABLES = 5 };

void define_table(struct writer *writer, const struct table *table)
{
        unsigned number;
        _cleanup_sql_ char *name = naming_new_table(&writer->random, writer->shared, &number);
        if (!name)
                return;
        /* Sometimes its truth is kept, so that an instance can be enabled on it later. */
        if (random_percent(&writer->random, 50))
                writer->shared->is_watched[number] = true;
        perform_text(writer, schema_table(&writer->random, name, NULL), NULL);
}

void define_column(struct writer *writer, const struct table *table)
{
        _cleanup_sql_ char *definition =
                schema_added_column(&writer->random, writer->shared, table);
        perform_text(writer,
                sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN %s", table->name, definition), NULL);
}

void define_index(struct writer *writer, const struct table *table)
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

void drop_table(struct writer *writer, const struct table *table)
{
        if (table->is_referenced || writer->catalog.table_count <= LEAST_TABLES)
                return;
        perform_text(writer, sqlite3_mprintf("DROP TABLE \"%w\"", table->name), NULL);
}
