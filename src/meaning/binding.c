/* SPDX-License-Identifier: MIT
 *
 * binding: see the header. Rules of values: file format §2.1 and "Datatypes In SQLite" (REAL
 * columns may store integers; a short record has the column's default).
 */
#include "meaning/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IDENTITY_KEY = 1, IDENTITY_ROWID = 0 };

static void bind_column(
        struct binding_column *column, const struct schema_table *table, unsigned position)
{
        const struct schema_column *source = &table->columns[position];
        *column = (struct binding_column){
                .position = position,
                .storage = source->storage,
                .is_rowid = table->rowid_column == (int)position,
                .is_real = source->affinity == 'E',
                .has_default = source->has_default,
                .default_value = source->default_value,
        };
}

static bool is_rowid_identity(const struct binding *binding)
{
        return binding->key_count == 0 ||
               (binding->key_count == 1 && binding->columns[binding->key[0]].is_rowid);
}

int binding_make(int64_t object_id, struct schema *schema, const struct schema_table *table,
        char *const *names, unsigned count, const unsigned *key, unsigned key_count,
        struct binding *ret_binding)
{
        struct binding b = {.object_id = object_id, .table = table, .column_count = count};
        b.columns = calloc(count ? count : 1, sizeof(*b.columns));
        b.key = calloc(key_count ? key_count : 1, sizeof(*b.key));
        if (!b.columns || !b.key) {
                binding_release(&b);
                return -ENOMEM;
        }
        for (unsigned i = 0; i < count; i++) {
                int position = schema_find_column(table, names[i]);
                if (position < 0) {
                        binding_release(&b);
                        return -ENOENT;
                }
                bind_column(&b.columns[i], table, (unsigned)position);
        }
        for (unsigned i = 0; i < key_count; i++)
                b.key[b.key_count++] = key[i] - 1;
        b.is_rowid_identity = is_rowid_identity(&b);
        b.schema = schema_ref(schema);
        *ret_binding = b;
        return 0;
}

void binding_renew(struct binding *binding, struct schema *schema, const struct schema_table *table)
{
        for (unsigned i = 0; i < binding->column_count; i++)
                bind_column(&binding->columns[i], table, binding->columns[i].position);
        binding->table = table;
        schema_ref(schema);
        schema_unref(binding->schema);
        binding->schema = schema;
        binding->is_rowid_identity = is_rowid_identity(binding);
}

void binding_release(struct binding *binding)
{
        free(binding->columns);
        free(binding->key);
        schema_unref(binding->schema);
        *binding = (struct binding){0};
}

static struct value project_column(const struct binding_column *column, int64_t rowid,
        const struct value *record, size_t count)
{
        struct value v = {.type = VALUE_NULL};
        if (column->is_rowid)
                return (struct value){.type = VALUE_INTEGER, .integer = rowid};
        if (column->storage < 0)
                return v;
        if ((size_t)column->storage < count)
                v = record[column->storage];
        else if (column->has_default)
                v = column->default_value;
        if (column->is_real && v.type == VALUE_INTEGER)
                v = (struct value){.type = VALUE_REAL, .real = (double)v.integer};
        return v;
}

void binding_project(const struct binding *binding, int64_t rowid, const struct value *record,
        size_t count, struct value *ret_values)
{
        for (unsigned i = 0; i < binding->column_count; i++)
                ret_values[i] = project_column(&binding->columns[i], rowid, record, count);
}

void binding_append_identity(const struct binding *binding, int64_t rowid,
        const struct value *values, struct buf *identity)
{
        bool is_keyed = !binding->is_rowid_identity;
        for (unsigned i = 0; is_keyed && i < binding->key_count; i++)
                is_keyed = values[binding->key[i]].type != VALUE_NULL;
        if (!is_keyed) {
                struct value v = {.type = VALUE_INTEGER, .integer = rowid};
                buf_append_byte(identity, IDENTITY_ROWID);
                value_append_key(identity, &v);
                return;
        }
        buf_append_byte(identity, IDENTITY_KEY);
        for (unsigned i = 0; i < binding->key_count; i++)
                value_append_key(identity, &values[binding->key[i]]);
}
