/* SPDX-License-Identifier: MIT
 *
 * enable: makes capture instances. The choices are made in enable_columns.c, enable_key.c
 * and enable_name.c; here they become rows. It refuses to know whether capture runs.
 */
#include "memory/enable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/cleanup.h"
#include "memory/changetable.h"
#include "memory/enable_private.h"
#include "memory/jobs.h"
#include "memory/sql.h"
#include "memory/state.h"

static int check_table(const struct schema_table *table, struct problem *problem)
{
        static const char *const kinds[] = {
                [SCHEMA_VIEW] = "is a view",
                [SCHEMA_VIRTUAL] = "is a virtual table",
                [SCHEMA_SHADOW] = "holds the data of a virtual table",
                [SCHEMA_INTERNAL] = "is one of SQLite's own tables",
        };
        if (table->kind != SCHEMA_TABLE)
                return problem_set(problem, EINVAL, 0,
                        "'%s' %s, and only ordinary tables can be captured", table->name,
                        kinds[table->kind]);
        if (!table->is_parsed)
                return problem_set(problem, EINVAL, 0,
                        "this version of SQLite cannot parse the table '%s'", table->name);
        return 0;
}

/* The name through which the rowid of the change table can be reached: one that no captured
 * column has. */
static int choose_rowid_name(const struct schema_table *table, const struct enable_columns *columns,
        struct problem *problem, const char **ret_name)
{
        static const char *const names[] = {"_rowid_", "rowid", "oid"};
        for (size_t i = 0; i < COUNT(names); i++) {
                bool is_taken = false;
                for (unsigned j = 0; j < columns->count; j++)
                        is_taken |= text_equal_name(
                                table->columns[columns->positions[j]].name, names[i]);
                if (!is_taken) {
                        *ret_name = names[i];
                        return 0;
                }
        }
        return problem_set(problem, EINVAL, 0,
                "the table '%s' has columns called _rowid_, rowid and oid: leave one of them out "
                "with --captured-columns",
                table->name);
}

static int choose_role(const char *given, struct problem *problem, char **ret_role)
{
        size_t size = given ? strlen(given) : 0;
        while (size > 0 && given[size - 1] == ' ')
                size--;
        if (given && size == 0)
                return problem_set(problem, EINVAL, 22907,
                        "the role is empty: leave --role out for an instance without one");
        *ret_role = given ? strndup(given, size) : NULL;
        return given && !*ret_role ? -ENOMEM : 0;
}

static int fill_columns(const struct schema_table *table, const struct enable_columns *columns,
        struct instance *instance)
{
        instance->columns = calloc(columns->count + 1, sizeof *instance->columns);
        if (!instance->columns)
                return -ENOMEM;
        instance->column_count = columns->count;
        for (unsigned i = 0; i < columns->count; i++) {
                const struct schema_column *source = &table->columns[columns->positions[i]];
                struct instance_column *column = &instance->columns[i];
                column->name = strdup(source->name);
                column->declared_type = strdup(source->declared_type);
                column->affinity = source->affinity;
                column->is_computed = source->is_generated;
                column->column_id = columns->positions[i] + 1;
                column->position = (int)columns->positions[i];
                if (!column->name || !column->declared_type)
                        return -ENOMEM;
        }
        return 0;
}

static int fill_key(const struct enable_key *key, struct instance *instance)
{
        instance->index_name = key->index_name ? strdup(key->index_name) : NULL;
        instance->key = calloc(key->columns.count + 1, sizeof *instance->key);
        if (!instance->key || (key->index_name && !instance->index_name))
                return -ENOMEM;
        for (unsigned i = 0; i < key->columns.count; i++) {
                unsigned ordinal = 1;
                while (instance->columns[ordinal - 1].column_id != key->columns.positions[i] + 1)
                        ordinal++;
                instance->key[instance->key_count++] = ordinal;
        }
        return 0;
}

static int fill_names(
        const char *rowid_name, const struct schema_table *table, struct instance *instance)
{
        _cleanup_(buf_release) struct buf directory = BUF_INIT;
        text_append_directory(&directory, instance->name);
        instance->directory = buf_steal(&directory);
        instance->rowid_name = strdup(rowid_name);
        instance->source_table = strdup(table->name);
        instance->source_sql = strdup(table->sql ? table->sql : "");
        instance->source_rowid = table->rowid;
        if (asprintf(&instance->change_table, "%s_CT", instance->name) < 0)
                instance->change_table = NULL;
        return instance->directory && instance->rowid_name && instance->source_table &&
                               instance->source_sql && instance->change_table
                       ? 0
                       : -ENOMEM;
}

/* Every choice of the request, as the instance it makes. */
static int choose(struct store *store, const struct instances_request *request,
        struct problem *problem, struct instance *instance)
{
        _cleanup_(enable_columns_release) struct enable_columns columns = {0};
        _cleanup_(enable_key_release) struct enable_key key = {0};
        const char *rowid_name = NULL;
        int r = check_table(request->table, problem);
        if (r == 0)
                r = choose_role(request->role, problem, &instance->role);
        if (r == 0)
                r = enable_choose_name(store, request, problem, &instance->name);
        if (r == 0)
                r = enable_choose_columns(request, problem, &columns);
        if (r == 0)
                r = enable_choose_key(request, &columns, problem, &key);
        if (r == 0)
                r = enable_choose_net(request, &key, problem, &instance->supports_net_changes);
        if (r == 0)
                r = choose_rowid_name(request->table, &columns, problem, &rowid_name);
        if (r == 0)
                r = fill_columns(request->table, &columns, instance);
        if (r == 0)
                r = fill_key(&key, instance);
        if (r == 0)
                r = fill_names(rowid_name, request->table, instance);
        instance->create_time_ns = request->now_ns;
        return r;
}

/* The number under which the table's instances go together: that of a live table with this
 * identity, or a new one. */
static int take_source_table(struct store *store, struct instance *instance)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT source_object_id FROM cdcfs_source_tables"
                " WHERE schema_rowid = ? AND name = ? AND NOT is_dropped",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, instance->source_rowid);
        r = sql_bind_text(stmt, 2, instance->source_table);
        if (r == 0)
                r = sql_next(stmt);
        if (r > 0)
                instance->source_object_id = sqlite3_column_int64(stmt, 0);
        sql_done(stmt);
        if (r != 0)
                return r < 0 ? r : 0;
        r = store_statement(
                store, "INSERT INTO cdcfs_source_tables(schema_rowid, name) VALUES(?, ?)", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, instance->source_rowid);
        r = sql_bind_text(stmt, 2, instance->source_table);
        if (r == 0)
                r = sql_run(stmt);
        instance->source_object_id = sqlite3_last_insert_rowid(store_db(store));
        return r;
}

static int count_rows(struct store *store, const char *sql, int64_t parameter, int64_t *ret_count)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, sql, &stmt);
        if (r < 0)
                return r;
        if (sqlite3_bind_parameter_count(stmt) > 0)
                sqlite3_bind_int64(stmt, 1, parameter);
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        *ret_count = sqlite3_column_int64(stmt, 0);
        sql_done(stmt);
        return 0;
}

static int check_instance_count(
        struct store *store, const struct instance *instance, struct problem *problem)
{
        int64_t count = 0;
        int r = count_rows(store, "SELECT count(*) FROM change_tables WHERE source_object_id = ?",
                instance->source_object_id, &count);
        if (r == 0 && count >= ENABLE_PER_TABLE)
                return problem_set(problem, EINVAL, 22962,
                        "the table '%s' has %d capture instances already, and more are not "
                        "possible: disable one of them first",
                        instance->source_table, ENABLE_PER_TABLE);
        return r;
}

static int insert_change_tables(struct store *store, struct instance *instance)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "INSERT INTO change_tables(source_object_id, capture_instance,"
                "  supports_net_changes, role_name, index_name, create_date, directory)"
                " VALUES(?, ?, ?, ?, ?, ?, ?)",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, instance->source_object_id);
        sqlite3_bind_int(stmt, 3, instance->supports_net_changes);
        r = sql_bind_text(stmt, 2, instance->name);
        if (r == 0)
                r = sql_bind_text(stmt, 4, instance->role);
        if (r == 0)
                r = sql_bind_text(stmt, 5, instance->index_name);
        if (r == 0)
                r = sql_bind_time(stmt, 6, instance->create_time_ns);
        if (r == 0)
                r = sql_bind_text(stmt, 7, instance->directory);
        if (r == 0)
                r = sql_run(stmt);
        instance->object_id = sqlite3_last_insert_rowid(store_db(store));
        return r;
}

static int insert_instance(struct store *store, struct instance *instance)
{
        sqlite3_stmt *stmt = NULL;
        int r = state_take_inos(store, INSTANCE_INO_COUNT, &instance->base_ino);
        if (r == 0)
                r = store_statement(store,
                        "INSERT INTO cdcfs_instances(object_id, base_ino, schema_rowid, sql,"
                        "  rowid_name, create_time_ns, changed_ns, table_name)"
                        " VALUES(?, ?, ?, ?, ?, ?6, ?6, ?7)",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, instance->object_id);
        sqlite3_bind_int64(stmt, 2, (int64_t)instance->base_ino);
        sqlite3_bind_int64(stmt, 3, instance->source_rowid);
        sqlite3_bind_int64(stmt, 6, instance->create_time_ns);
        r = sql_bind_text(stmt, 4, instance->source_sql);
        if (r == 0)
                r = sql_bind_text(stmt, 5, instance->rowid_name);
        if (r == 0)
                r = sql_bind_text(stmt, 7, instance->source_table);
        return r < 0 ? r : sql_run(stmt);
}

static int insert_column(struct store *store, int64_t object_id, unsigned ordinal,
        const struct instance_column *column)
{
        sqlite3_stmt *stmt = NULL;
        char affinity[2] = {column->affinity, '\0'};
        int r = store_statement(
                store, "INSERT INTO captured_columns VALUES(?, ?, ?, ?, ?, ?, ?, ?)", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 3, column->column_id);
        sqlite3_bind_int64(stmt, 5, ordinal);
        sqlite3_bind_int(stmt, 6, column->is_computed);
        sqlite3_bind_int(stmt, 8, column->position);
        r = sql_bind_text(stmt, 2, column->name);
        if (r == 0)
                r = sql_bind_text(stmt, 4, column->declared_type);
        if (r == 0)
                r = sql_bind_text(stmt, 7, affinity);
        return r < 0 ? r : sql_run(stmt);
}

static int insert_key_column(struct store *store, int64_t object_id, unsigned index_ordinal,
        const struct instance_column *column)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, "INSERT INTO index_columns VALUES(?, ?, ?, ?)", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 3, index_ordinal);
        sqlite3_bind_int64(stmt, 4, column->column_id);
        r = sql_bind_text(stmt, 2, column->name);
        return r < 0 ? r : sql_run(stmt);
}

static int insert_columns(struct store *store, const struct instance *instance)
{
        int r = 0;
        for (unsigned i = 0; r == 0 && i < instance->column_count; i++)
                r = insert_column(store, instance->object_id, i + 1, &instance->columns[i]);
        for (unsigned i = 0; r == 0 && i < instance->key_count; i++)
                r = insert_key_column(store, instance->object_id, i + 1,
                        &instance->columns[instance->key[i] - 1]);
        return r;
}

int instances_enable(struct store *store, const struct instances_request *request,
        struct problem *problem, int64_t *ret_object_id)
{
        _cleanup_(instance_release) struct instance instance = {0};
        int64_t others = 0;
        int r = choose(store, request, problem, &instance);
        if (r == 0)
                r = take_source_table(store, &instance);
        if (r == 0)
                r = check_instance_count(store, &instance, problem);
        if (r == 0)
                r = count_rows(store, "SELECT count(*) FROM change_tables", 0, &others);
        if (r == 0)
                r = insert_change_tables(store, &instance);
        if (r == 0)
                r = insert_instance(store, &instance);
        if (r == 0)
                r = insert_columns(store, &instance);
        if (r == 0)
                r = changetable_create(store, &instance);
        if (r == 0 && others == 0)
                r = jobs_add_defaults(store);
        if (r == 0)
                r = state_bump_catalog(store);
        if (r == 0)
                *ret_object_id = instance.object_id;
        return r;
}
