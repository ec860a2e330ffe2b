/* SPDX-License-Identifier: MIT
 *
 * instance: see instance.h.
 */
#include "instance.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CAPTURED = 1990 };

static void instance_release(struct instance *instance)
{
        free(instance->name);
        free(instance->table);
        free(instance->index);
        names_release(&instance->columns);
        names_release(&instance->identity);
}

void instances_release(struct instances *instances)
{
        for (unsigned i = 0; i < instances->count; i++)
                instance_release(&instances->items[i]);
        free(instances->items);
        *instances = (struct instances){0};
}

/* All columns, or (is_subset) the key and some others. */
static void choose_columns(
        struct instance *instance, const struct table *table, struct random *random, bool is_subset)
{
        for (unsigned i = 0; i < table->column_count; i++) {
                const struct column *column = &table->columns[i];
                bool is_needed = column->key || names_find(&instance->identity, column->name) >= 0;
                bool is_last = i + 1 == table->column_count && !instance->columns.count;
                if (!is_subset || is_needed || is_last || random_percent(random, 50))
                        names_add(&instance->columns, column->name);
        }
        instance->is_listed = is_subset;
}

static void choose_identity(struct instance *instance, const struct table *table)
{
        _cleanup_free_ unsigned *key = memory_grow(NULL, (table->key_count + 1) * sizeof(*key));
        table_key(table, key);
        for (unsigned i = 0; i < table->key_count; i++)
                names_add(&instance->identity, table->columns[key[i]].name);
}

/* A table without key may have a unique index over columns that are not NULL: --index. */
static int choose_index(sqlite3 *db, struct instance *instance, const struct table *table)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        static const char sql[] =
                "SELECT i.name, c.name FROM pragma_index_list(?1) AS i,"
                " pragma_index_info(i.name) AS c WHERE i.\"unique\" AND NOT i.partial"
                " AND i.origin = 'c' AND NOT EXISTS(SELECT 1 FROM pragma_index_info(i.name) AS x"
                " LEFT JOIN pragma_table_info(?1) AS t USING(cid) WHERE t.\"notnull\" IS NOT 1)"
                " ORDER BY i.name, c.seqno";
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return -EIO;
        sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
        while (sqlite3_step(statement) == SQLITE_ROW) {
                const char *index = (const char *)sqlite3_column_text(statement, 0);
                if (!instance->index)
                        instance->index = memory_text(index);
                if (strcmp(instance->index, index) == 0)
                        names_add(&instance->identity,
                                (const char *)sqlite3_column_text(statement, 1));
        }
        return 0;
}

static struct instance *instances_append(struct instances *instances, const struct table *table)
{
        instances->items =
                memory_grow(instances->items, (instances->count + 1) * sizeof(*instances->items));
        struct instance *instance = &instances->items[instances->count++];
        *instance = (struct instance){.table = memory_text(table->name), .number = table->number};
        return instance;
}

/* The default name main_<table>, or one of its own. */
static void choose_name(struct instances *instances, struct instance *instance, bool is_named)
{
        char name[PATH_SIZE];
        if (is_named)
                snprintf(name, sizeof(name), "instance %u", instances->count);
        else
                snprintf(name, sizeof(name), "main_%s", instance->table);
        instance->name = memory_text(name);
        instance->is_named = is_named;
}

static int choose_one(sqlite3 *db, struct random *random, struct instances *instances,
        const struct table *table, bool is_named)
{
        struct instance *instance = instances_append(instances, table);
        bool is_marker = table->number == 0;
        bool is_subset =
                !is_marker && (random_percent(random, 30) || table->column_count > MOST_CAPTURED);
        choose_name(instances, instance, is_named || (!is_marker && random_percent(random, 25)));
        choose_identity(instance, table);
        int result = 0;
        if (!table->key_count && random_percent(random, 70))
                result = choose_index(db, instance, table);
        choose_columns(instance, table, random, is_subset);
        return result;
}

int instances_choose(sqlite3 *db, struct random *random, struct shared *shared, bool leaves_some,
        struct instances *ret_instances)
{
        __attribute__((cleanup(catalog_release))) struct catalog catalog = {0};
        struct instances instances = {0};
        int result = catalog_refresh(db, &catalog);
        for (unsigned i = 0; i < catalog.table_count && result == 0; i++) {
                const struct table *table = &catalog.tables[i];
                unsigned choice = random_below(random, 100);
                if (table->number && choice < 15)
                        continue; /* nobody captures it */
                shared->is_watched[table->number] = true;
                if (table->number && leaves_some && choice < 45)
                        continue; /* watched, for a late instance */
                result = choose_one(db, random, &instances, table, false);
                if (result == 0 && table->number && choice > 85)
                        result = choose_one(db, random, &instances, table, true);
        }
        if (result < 0)
                instances_release(&instances);
        else
                *ret_instances = instances;
        return result;
}

static unsigned count_of_table(const struct instances *instances, unsigned number)
{
        unsigned count = 0;
        for (unsigned i = 0; i < instances->count; i++)
                count += instances->items[i].number == number;
        return count;
}

struct instance *instances_choose_late(sqlite3 *db, struct random *random,
        const struct shared *shared, struct instances *instances)
{
        __attribute__((cleanup(catalog_release))) struct catalog catalog = {0};
        if (catalog_refresh(db, &catalog) < 0)
                return NULL;
        uint64_t last = (uint64_t)query_integer(db, "SELECT max(id) FROM " MARKER_TABLE);
        unsigned start = random_below(random, catalog.table_count);
        for (unsigned i = 0; i < catalog.table_count; i++) {
                const struct table *table = &catalog.tables[(start + i) % catalog.table_count];
                if (!table->number || !shared->is_watched[table->number] ||
                        count_of_table(instances, table->number) > 1)
                        continue;
                struct instance *instance = instances_append(instances, table);
                choose_name(instances, instance, true);
                choose_identity(instance, table);
                choose_columns(instance, table, random,
                        random_percent(random, 30) || table->column_count > MOST_CAPTURED);
                /* Columns may be added meanwhile: the list must not depend on the moment. */
                instance->is_listed = true;
                instance->is_late = true;
                instance->chosen_after = last;
                return instance;
        }
        return NULL;
}

/* The names, each in double quotes, with commas. */
static const char *column_list(const struct names *names, struct bytes *list)
{
        for (unsigned i = 0; i < names->count; i++) {
                bytes_append_format(list, "%s\"", i ? "," : "");
                for (const char *at = names->items[i]; *at; at++) {
                        bytes_append(list, "\"", *at == '"');
                        bytes_append_u8(list, (uint8_t)*at);
                }
                bytes_append_u8(list, '"');
        }
        return bytes_string(list);
}

int instance_enable(
        struct instance *instance, const struct programs *programs, const struct settings *settings)
{
        _cleanup_bytes_ struct bytes list = {0};
        const char *arguments[16] = {"enable-table", settings->database, instance->table};
        unsigned count = 3;
        if (instance->is_named) {
                arguments[count++] = "--capture-instance";
                arguments[count++] = instance->name;
        }
        if (instance->is_listed) {
                arguments[count++] = "--captured-columns";
                arguments[count++] = column_list(&instance->columns, &list);
        }
        if (instance->index) {
                arguments[count++] = "--index";
                arguments[count++] = instance->index;
        }
        int result = cdcctl_run(programs, settings, arguments, NULL, NULL);
        instance->is_enabled = result == 0;
        return result;
}
