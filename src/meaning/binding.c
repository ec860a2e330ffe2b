/* SPDX-License-Identifier: MIT
 *
 * binding: see the header. Rules of values: file format §2.1 and "Datatypes In SQLite" (REAL
 * columns may store integers; a short record has the column's default).
 */
#include "meaning/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"

enum { IDENTITY_KEY = 1, IDENTITY_ROWID = 0 };

static struct binding_column bind_column(const struct schema_table *table, int position)
{
        if (position < 0)
                return (struct binding_column){.position = -1, .storage = -1};
        const struct schema_column *source = &table->columns[position];
        return (struct binding_column){
                .position = position,
                .storage = source->storage,
                .is_rowid = table->rowid_column == position,
                .is_real = source->affinity == 'E',
                .has_default = source->has_default,
                .default_value = source->default_value,
        };
}

static bool is_rowid_identity(const struct binding *binding)
{
        return !binding->table->is_without_rowid &&
               (binding->key_count == 0 ||
                       (binding->key_count == 1 && binding->columns[binding->key[0]].is_rowid));
}

int binding_make_at(int64_t object_id, struct schema *schema, const struct schema_table *table,
        const int *positions, unsigned count, const unsigned *key, unsigned key_count,
        struct binding *ret_binding)
{
        struct binding b = {.object_id = object_id, .table = table, .column_count = count};
        b.columns = calloc(count ? count : 1, sizeof(*b.columns));
        b.key = calloc(key_count ? key_count : 1, sizeof(*b.key));
        if (!b.columns || !b.key) {
                binding_release(&b);
                return -ENOMEM;
        }
        for (unsigned i = 0; i < count; i++)
                b.columns[i] = bind_column(table, positions[i]);
        for (unsigned i = 0; i < key_count; i++)
                b.key[b.key_count++] = key[i] - 1;
        b.is_rowid_identity = is_rowid_identity(&b);
        b.schema = schema_ref(schema);
        *ret_binding = b;
        return 0;
}

int binding_make(int64_t object_id, struct schema *schema, const struct schema_table *table,
        char *const *names, unsigned count, const unsigned *key, unsigned key_count,
        struct binding *ret_binding)
{
        _cleanup_free_ int *positions = calloc(count ? count : 1, sizeof(*positions));
        if (!positions)
                return -ENOMEM;
        for (unsigned i = 0; i < count; i++) {
                positions[i] = schema_find_column(table, names[i]);
                if (positions[i] < 0)
                        return -ENOENT;
        }
        return binding_make_at(
                object_id, schema, table, positions, count, key, key_count, ret_binding);
}

static int copy_before(
        const struct binding *old, const struct binding *new, struct binding *ret_before)
{
        struct binding before = *old;
        before.columns = calloc(old->column_count + 1, sizeof(*before.columns));
        before.key = calloc(old->key_count + 1, sizeof(*before.key));
        before.schema = NULL;
        if (!before.columns || !before.key) {
                binding_release(&before);
                return -ENOMEM;
        }
        for (unsigned i = 0; i < old->column_count; i++)
                before.columns[i] = new->columns[i].position < 0 ? bind_column(old->table, -1)
                                                                 : old->columns[i];
        for (unsigned i = 0; i < old->key_count; i++)
                before.key[i] = old->key[i];
        before.schema = schema_ref(old->schema);
        *ret_before = before;
        return 0;
}

int binding_renew(struct binding *binding, struct schema *schema, const struct schema_table *table,
        const int *map, struct binding *ret_before)
{
        struct binding new = *binding;
        new.columns = calloc(binding->column_count + 1, sizeof(*new.columns));
        if (!new.columns)
                return -ENOMEM;
        new.table = table;
        for (unsigned i = 0; i < binding->column_count; i++) {
                int position = binding->columns[i].position;
                if (position >= 0 && map)
                        position = map[position];
                new.columns[i] = bind_column(table, position);
        }
        new.is_rowid_identity = is_rowid_identity(&new);
        int r = ret_before ? copy_before(binding, &new, ret_before) : 0;
        if (r < 0) {
                free(new.columns);
                return r;
        }
        new.schema = schema_ref(schema);
        schema_unref(binding->schema);
        free(binding->columns);
        *binding = new;
        return 0;
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

bool binding_is_keyed(const struct binding *binding, const struct value *values)
{
        for (unsigned i = 0; i < binding->key_count; i++)
                if (values[binding->key[i]].type == VALUE_NULL)
                        return false;
        return binding->key_count > 0;
}

void binding_append_identity(const struct binding *binding, int64_t rowid,
        const struct value *values, struct buf *identity)
{
        if (!binding_is_keyed(binding, values)) {
                struct value v = {.type = VALUE_INTEGER, .integer = rowid};
                buf_append_byte(identity, IDENTITY_ROWID);
                value_append_key(identity, &v);
                return;
        }
        buf_append_byte(identity, IDENTITY_KEY);
        for (unsigned i = 0; i < binding->key_count; i++)
                value_append_key(identity, &values[binding->key[i]]);
}
