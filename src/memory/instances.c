/* SPDX-License-Identifier: MIT
 *
 * instances: loads capture instances, and records what becomes of them.
 *
 * It refuses to know the rules of enabling, and what the source looks like now.
 */
#include "memory/instances.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/clock.h"
#include "ground/cleanup.h"
#include "memory/array.h"
#include "memory/sql.h"
#include "memory/state.h"

void instance_release(struct instance *instance)
{
        for (unsigned i = 0; i < instance->column_count; i++) {
                free(instance->columns[i].name);
                free(instance->columns[i].declared_type);
        }
        free(instance->columns);
        free(instance->key);
        free(instance->name);
        free(instance->directory);
        free(instance->change_table);
        free(instance->rowid_name);
        free(instance->source_table);
        free(instance->source_sql);
        free(instance->role);
        free(instance->index_name);
        free(instance->error);
        memset(instance, 0, sizeof *instance);
}

void instances_release(struct instances *instances)
{
        for (size_t i = 0; i < instances->count; i++)
                instance_release(&instances->items[i]);
        free(instances->items);
        memset(instances, 0, sizeof *instances);
}

static int read_strings(sqlite3_stmt *stmt, struct instance *instance)
{
        const struct {
                int column;
                char **text;
        } strings[] = {
                {2, &instance->name},
                {6, &instance->role},
                {7, &instance->index_name},
                {8, &instance->directory},
                {10, &instance->rowid_name},
                {13, &instance->error},
                {15, &instance->source_table},
                {16, &instance->source_sql},
        };
        for (size_t i = 0; i < COUNT(strings); i++) {
                int r = sql_column_string(stmt, strings[i].column, strings[i].text);
                if (r < 0)
                        return r;
        }
        if (asprintf(&instance->change_table, "%s_CT", instance->name) < 0) {
                instance->change_table = NULL;
                return -ENOMEM;
        }
        return 0;
}

static int read_instance(sqlite3_stmt *stmt, struct instance *instance)
{
        instance->object_id = sqlite3_column_int64(stmt, 0);
        instance->source_object_id = sqlite3_column_int64(stmt, 1);
        instance->has_start = sql_column_lsn(stmt, 3, &instance->start_lsn);
        instance->supports_net_changes = sqlite3_column_int(stmt, 4) != 0;
        instance->has_drop_pending = sqlite3_column_int(stmt, 5) != 0;
        instance->base_ino = (uint64_t)sqlite3_column_int64(stmt, 9);
        instance->create_time_ns = sqlite3_column_int64(stmt, 11);
        instance->changed_ns = sqlite3_column_int64(stmt, 12);
        instance->source_rowid = sqlite3_column_int64(stmt, 14);
        snprintf(instance->statement, sizeof instance->statement, "changetable %lld",
                (long long)instance->object_id);
        return read_strings(stmt, instance);
}

static int load_rows(struct store *store, struct instances *instances)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT t.object_id, t.source_object_id, t.capture_instance, t.start_lsn,"
                "  t.supports_net_changes, t.has_drop_pending, t.role_name, t.index_name,"
                "  t.directory, i.base_ino, i.rowid_name, i.create_time_ns, i.changed_ns, i.error,"
                "  i.schema_rowid, s.name, i.sql"
                " FROM change_tables t JOIN cdcfs_instances i USING(object_id)"
                "  JOIN cdcfs_source_tables s USING(source_object_id) ORDER BY t.object_id",
                &stmt);
        while (r >= 0 && (r = sql_next(stmt)) > 0) {
                struct instance *items =
                        array_room(instances->items, instances->count, sizeof *items);
                if (!items)
                        return -ENOMEM;
                instances->items = items;
                r = read_instance(stmt, &items[instances->count++]);
        }
        return r;
}

static int read_column(sqlite3_stmt *stmt, struct instance *instance)
{
        struct instance_column *columns =
                array_room(instance->columns, instance->column_count, sizeof *columns);
        if (!columns)
                return -ENOMEM;
        instance->columns = columns;
        struct instance_column *column = &columns[instance->column_count++];
        if (sqlite3_column_int64(stmt, 4) != instance->column_count)
                return -EBADMSG; /* ordinals are 1, 2, 3 … */
        int r = sql_column_string(stmt, 0, &column->name);
        if (r == 0)
                r = sql_column_string(stmt, 2, &column->declared_type);
        if (r < 0)
                return r;
        if (!column->name || !column->declared_type)
                return -EBADMSG;
        const char *affinity = (const char *)sqlite3_column_text(stmt, 5);
        column->column_id = (unsigned)sqlite3_column_int(stmt, 1);
        column->is_computed = sqlite3_column_int(stmt, 3) != 0;
        column->affinity = affinity ? affinity[0] : 'A';
        column->position =
                sqlite3_column_type(stmt, 6) == SQLITE_NULL ? -1 : sqlite3_column_int(stmt, 6);
        return 0;
}

static int load_columns(struct store *store, struct instance *instance)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT column_name, column_id, column_type, is_computed, column_ordinal,"
                "  cdcfs_affinity, cdcfs_position"
                " FROM captured_columns WHERE object_id = ? ORDER BY column_ordinal",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, instance->object_id);
        while (r >= 0 && (r = sql_next(stmt)) > 0)
                r = read_column(stmt, instance);
        return r;
}

static int load_key(struct store *store, struct instance *instance)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT c.column_ordinal FROM index_columns x"
                " JOIN captured_columns c USING(object_id, column_id)"
                " WHERE x.object_id = ? ORDER BY x.index_ordinal",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, instance->object_id);
        while (r >= 0 && (r = sql_next(stmt)) > 0) {
                unsigned *key = array_room(instance->key, instance->key_count, sizeof *key);
                if (!key)
                        return -ENOMEM;
                unsigned ordinal = (unsigned)sqlite3_column_int(stmt, 0);
                instance->key = key;
                key[instance->key_count++] = ordinal;
                if (ordinal < 1 || ordinal > instance->column_count)
                        return -EBADMSG;
        }
        return r;
}

int instances_load(struct store *store, struct instances *ret_instances)
{
        struct instances instances = {0};
        int r = load_rows(store, &instances);
        for (size_t i = 0; r >= 0 && i < instances.count; i++) {
                r = load_columns(store, &instances.items[i]);
                if (r >= 0)
                        r = load_key(store, &instances.items[i]);
        }
        if (r < 0) {
                instances_release(&instances);
                return r;
        }
        *ret_instances = instances;
        return 0;
}

const struct instance *instances_find(const struct instances *instances, const char *name)
{
        for (size_t i = 0; i < instances->count; i++) {
                if (strcmp(instances->items[i].name, name) == 0)
                        return &instances->items[i];
        }
        return NULL;
}

const struct instance *instances_find_object(const struct instances *instances, int64_t object_id)
{
        for (size_t i = 0; i < instances->count; i++) {
                if (instances->items[i].object_id == object_id)
                        return &instances->items[i];
        }
        return NULL;
}

/* Runs an UPDATE of one instance and tells the readers of the catalog. */
static int run_update(struct store *store, sqlite3_stmt *stmt)
{
        int r = sql_run(stmt);
        if (r == 0 && sqlite3_changes(store_db(store)) == 0)
                r = -ENOENT;
        return r < 0 ? r : state_bump_catalog(store);
}

static int update_with_lsn(
        struct store *store, const char *sql, int64_t object_id, struct lsn start_lsn)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, sql, &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_bind_lsn(stmt, 2, start_lsn);
        return r < 0 ? r : run_update(store, stmt);
}

int instances_recognise(struct store *store, int64_t object_id, struct lsn start_lsn)
{
        sqlite3_stmt *stmt = NULL;
        int r = update_with_lsn(store,
                "UPDATE change_tables SET start_lsn = ?2 WHERE object_id = ?1", object_id,
                start_lsn);
        if (r == 0)
                r = store_statement(
                        store, "UPDATE cdcfs_state SET min_lsn = coalesce(min_lsn, ?)", &stmt);
        if (r == 0)
                r = sql_bind_lsn(stmt, 1, start_lsn);
        return r < 0 ? r : sql_run(stmt);
}

int instances_set_start(struct store *store, int64_t object_id, struct lsn start_lsn)
{
        return update_with_lsn(store,
                "UPDATE change_tables SET start_lsn = max(start_lsn, ?2) WHERE object_id = ?1",
                object_id, start_lsn);
}

int instances_set_dropped(struct store *store, int64_t object_id)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_source_tables SET is_dropped = 1 WHERE source_object_id ="
                "  (SELECT source_object_id FROM change_tables WHERE object_id = ?)",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_run(stmt);
        if (r == 0)
                r = store_statement(store,
                        "UPDATE change_tables SET has_drop_pending = 1 WHERE object_id = ?", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        return run_update(store, stmt);
}

int instances_set_error(struct store *store, int64_t object_id, const char *error)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(
                store, "UPDATE cdcfs_instances SET error = ?2 WHERE object_id = ?1", &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        r = sql_bind_text(stmt, 2, error);
        return r < 0 ? r : run_update(store, stmt);
}

static int bind_columns(struct store *store, const struct instance *instance, const int *positions)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE captured_columns SET cdcfs_position = ?3"
                " WHERE object_id = ?1 AND column_ordinal = ?2",
                &stmt);
        for (unsigned i = 0; r == 0 && i < instance->column_count; i++) {
                sqlite3_bind_int64(stmt, 1, instance->object_id);
                sqlite3_bind_int64(stmt, 2, i + 1);
                if (positions[i] >= 0)
                        sqlite3_bind_int(stmt, 3, positions[i]);
                r = sql_run(stmt);
        }
        return r;
}

static int bind_table(
        struct store *store, int64_t source_object_id, const char *table, int64_t schema_rowid)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE cdcfs_source_tables SET schema_rowid = ?2, name = ?3"
                " WHERE source_object_id = ?1",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, source_object_id);
        sqlite3_bind_int64(stmt, 2, schema_rowid);
        r = sql_bind_text(stmt, 3, table);
        return r < 0 ? r : sql_run(stmt);
}

int instances_bind(struct store *store, const struct instance *instance, const char *table,
        int64_t schema_rowid, const char *sql, const int *positions)
{
        sqlite3_stmt *stmt = NULL;
        int r = bind_columns(store, instance, positions);
        if (r == 0)
                r = bind_table(store, instance->source_object_id, table, schema_rowid);
        if (r == 0)
                r = store_statement(store,
                        "UPDATE cdcfs_instances SET schema_rowid = ?2, sql = ?3"
                        " WHERE object_id = ?1",
                        &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, instance->object_id);
        sqlite3_bind_int64(stmt, 2, schema_rowid);
        r = sql_bind_text(stmt, 3, sql);
        return r < 0 ? r : run_update(store, stmt);
}

int instances_set_type(struct store *store, int64_t object_id, unsigned ordinal, const char *type)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "UPDATE captured_columns SET column_type = ?3"
                " WHERE object_id = ?1 AND column_ordinal = ?2",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, object_id);
        sqlite3_bind_int64(stmt, 2, ordinal);
        r = sql_bind_text(stmt, 3, type);
        return r < 0 ? r : run_update(store, stmt);
}
