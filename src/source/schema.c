/* SPDX-License-Identifier: MIT
 *
 * schema: rows of sqlite_schema to tables, columns, keys and indexes; and looking them up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "source/schema_private.h"

static int add_table(
        sqlite3 *db, const struct schema_rows *rows, const struct schema_row *row, struct schema *s)
{
        struct schema_table *table = schema_add(&s->tables, &s->table_count, sizeof(*table));
        if (!table || !(table->name = strdup(row->name)) || !(table->sql = strdup(row->sql)))
                return -ENOMEM;
        table->rowid = row->rowid;
        table->root = row->root;
        table->kind = schema_kind_of(rows, row);
        table->rowid_column = -1;
        if (table->kind != SCHEMA_TABLE && table->kind != SCHEMA_SHADOW)
                return 0;
        int r = schema_scratch_load(db, rows, row);
        if (r == 0)
                r = schema_read_table(db, table);
        if (r == 0)
                r = schema_read_indexes(db, rows, table, s);
        table->is_parsed = r == 0;
        schema_scratch_empty(db);
        return r == -ENOMEM ? r : 0;
}

int schema_build(
        const struct schema_rows *rows, enum text_encoding encoding, struct schema **ret_schema)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        int r = schema_scratch_open(encoding, rows->count, &db);
        if (r < 0)
                return r;
        struct schema *schema = calloc(1, sizeof(*schema));
        if (!schema)
                return -ENOMEM;
        schema->references = 1;
        for (size_t i = 0; r == 0 && i < rows->count; i++) {
                const struct schema_row *row = &rows->rows[i];
                bool is_table = schema_is_complete(row) && row->sql &&
                                (strcmp(row->type, "table") == 0 || strcmp(row->type, "view") == 0);
                if (is_table)
                        r = add_table(db, rows, row, schema);
        }
        if (r < 0) {
                schema_unref(schema);
                return r;
        }
        *ret_schema = schema;
        return 0;
}

struct schema *schema_ref(struct schema *schema)
{
        schema->references++;
        return schema;
}

static void table_release(struct schema_table *table)
{
        for (unsigned i = 0; i < table->column_count; i++) {
                struct schema_column *c = &table->columns[i];
                free(c->name);
                free(c->declared_type);
                if (c->default_value.type == VALUE_TEXT || c->default_value.type == VALUE_BLOB)
                        free((void *)c->default_value.bytes);
        }
        for (unsigned i = 0; i < table->parent_count; i++)
                free(table->parents[i]);
        free(table->parents);
        free(table->columns);
        free(table->key);
        free(table->name);
        free(table->sql);
}

void schema_unref(struct schema *schema)
{
        if (!schema || --schema->references > 0)
                return;
        for (size_t i = 0; i < schema->table_count; i++)
                table_release(&schema->tables[i]);
        for (size_t i = 0; i < schema->index_count; i++) {
                free(schema->indexes[i].name);
                free(schema->indexes[i].table_name);
                free(schema->indexes[i].sql);
                free(schema->indexes[i].columns);
        }
        free(schema->tables);
        free(schema->indexes);
        free(schema);
}

const struct schema_table *schema_find_table(const struct schema *schema, const char *name)
{
        for (size_t i = 0; i < schema->table_count; i++)
                if (text_equal_name(schema->tables[i].name, name))
                        return &schema->tables[i];
        return NULL;
}

const struct schema_table *schema_find_rowid(const struct schema *schema, int64_t rowid)
{
        for (size_t i = 0; i < schema->table_count; i++)
                if (schema->tables[i].rowid == rowid)
                        return &schema->tables[i];
        return NULL;
}

const struct schema_index *schema_find_index(const struct schema *schema, const char *name)
{
        for (size_t i = 0; i < schema->index_count; i++)
                if (text_equal_name(schema->indexes[i].name, name))
                        return &schema->indexes[i];
        return NULL;
}

int schema_find_column(const struct schema_table *table, const char *name)
{
        for (unsigned i = 0; i < table->column_count; i++)
                if (text_equal_name(table->columns[i].name, name))
                        return (int)i;
        return -1;
}
