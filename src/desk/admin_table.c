/* SPDX-License-Identifier: MIT
 *
 * admin_table: enable and disable tables.
 *
 * Finds which table of the source is meant, makes or drops instances in one transaction of the
 * store, and waits until the agent knows it, if there is one. The rules of an instance are not
 * here but in memory/enable.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cdc.h"
#include "desk/call.h"
#include "desk/hint.h"
#include "desk/role.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "memory/enable.h"
#include "memory/sql.h"
#include "source/check.h"
#include "source/look.h"

enum {
        REFRESH_LIMIT_MS = 60000,
        NUMBER_NO_TABLE = 22931,
        NUMBER_NOT_OF_TABLE = 22960,
        NUMBER_NOT_ENABLED = 22985,
        NUMBER_MISSING = 22963,
        NUMBER_FILEGROUP = 22973,
        NUMBER_OWN_TABLE = 22974,
        NUMBER_PARTITION_SWITCH = 22857,
};

/* What a call works on. */
struct desk {
        struct call_paths paths;
        struct store *store;
        struct look look;
        int64_t first_id; /* of the instances that this call has made; 0: none */
        cdc_notice notice;
        void *context;
        struct problem *problem;
};

static void desk_release(struct desk *desk)
{
        store_close(desk->store);
        schema_unref(desk->look.schema);
        call_paths_release(&desk->paths);
}

__attribute__((format(printf, 2, 3))) static void tell(
        const struct desk *desk, const char *format, ...)
{
        char line[sizeof(desk->problem->message)];
        va_list arguments;
        if (!desk->notice)
                return;
        va_start(arguments, format);
        vsnprintf(line, sizeof(line), format, arguments);
        va_end(arguments);
        desk->notice(desk->context, 0, line);
}

/* The source can be captured, and its schema is read. */
static int open_source(struct desk *desk)
{
        _cleanup_(check_release) struct check check = {0};
        int r = check_source(desk->paths.source, &check, desk->problem);
        if (r == 0 && check_is_wal(&check, NULL) < 0)
                r = hint_refuse_journal(&desk->paths, desk->problem);
        if (r == 0)
                r = look_at_schema(check.path, &desk->look, desk->problem);
        return r;
}

/* Instances have changed: durable, and known to the agent. 0 also where none runs;
 * *ret_has_agent tells. */
static int settle(struct desk *desk, bool *ret_has_agent)
{
        int r = store_sync(desk->store, desk->problem);
        if (r < 0)
                return r;
        r = call_agent(desk->store, desk->paths.source, "refresh", REFRESH_LIMIT_MS, desk->problem);
        *ret_has_agent = r != -ESRCH;
        if (r == -ESRCH)
                return 0;
        if (r == -ETIMEDOUT)
                return problem_set(desk->problem, ETIMEDOUT, 0,
                        "the agent of %s has not answered for %d s; the store is changed, and the "
                        "agent will see it when it goes on",
                        desk->paths.source, REFRESH_LIMIT_MS / 1000);
        return r;
}

static int enable_one(struct desk *desk, const struct schema_table *table,
        const struct cdc_table_options *options, struct problem *problem)
{
        int64_t object_id;
        struct instances_request request = {
                .schema = desk->look.schema,
                .table = table,
                .name = options->capture_instance,
                .columns = options->captured_columns,
                .index = options->index,
                .role = options->role,
                .supports_net = options->supports_net_changes,
                .now_ns = clock_wall(NULL),
        };
        bool has_role = options->role && options->role[0];
        int r = has_role ? role_check(desk->paths.source, options->role, problem) : 0;
        if (r == 0 && has_role)
                r = role_close_store(desk->paths.store, problem);
        if (r == 0)
                r = store_begin(desk->store);
        if (r < 0)
                return r;
        r = instances_enable(desk->store, &request, problem, &object_id);
        if (r == 0)
                r = store_commit(desk->store);
        if (r < 0)
                store_rollback(desk->store);
        if (r == 0 && desk->first_id == 0)
                desk->first_id = object_id;
        return r;
}

/* The agent has answered: does it capture what this call has made? */
static int check_captured(const struct desk *desk)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(desk->store,
                "SELECT capture_instance, error FROM change_tables "
                "JOIN cdcfs_instances USING(object_id) "
                "WHERE object_id >= ? AND (start_lsn IS NULL OR error IS NOT NULL) "
                "ORDER BY error IS NULL, object_id LIMIT 1",
                &stmt);
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, desk->first_id);
        r = sql_next(stmt);
        if (r <= 0)
                return r;
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        const char *error = (const char *)sqlite3_column_text(stmt, 1);
        if (error)
                return problem_set(
                        desk->problem, EIO, 0, "%s is enabled, but not captured: %s", name, error);
        tell(desk, "%s is pending: the capture job is stopped", name);
        return 0;
}

static int finish_enable(struct desk *desk)
{
        bool has_agent;
        _cleanup_(buf_release) struct buf agents = BUF_INIT;
        int r = settle(desk, &has_agent);
        if (r == 0 && has_agent)
                return check_captured(desk);
        hint_agents(&agents, &desk->paths);
        if (r == 0)
                tell(desk, "pending until an agent captures it: run %s", buf_string(&agents));
        return r;
}

/* A database without a table has no encoding yet, and may have got another one since the store was
 * made. */
static int check_encoding(const struct desk *desk)
{
        if (store_encoding(desk->store) == desk->look.encoding)
                return 0;
        _cleanup_(buf_release) struct buf disable = BUF_INIT, enable = BUF_INIT;
        hint_command(&disable, &desk->paths, "disable-db");
        hint_command(&enable, &desk->paths, "enable-db");
        return problem_set(desk->problem, ENOTSUP, 0,
                "%s got another text encoding after enable-db: run %s, then %s again",
                desk->paths.source, buf_string(&disable), buf_string(&enable));
}

/* For enabling: the source first, since without one nothing else matters. */
static int open_both(struct desk *desk)
{
        int r = open_source(desk);
        if (r == 0)
                r = call_open_store(&desk->paths, STORE_WRITE, desk->problem, &desk->store);
        return r < 0 ? r : check_encoding(desk);
}

static int refuse_missing(const struct desk *desk, const char *table)
{
        if (strncasecmp(table, "cdc.", strlen("cdc.")) == 0)
                return problem_set(desk->problem, ENOENT, NUMBER_OWN_TABLE,
                        "'%s': the tables of change data capture itself are not captured", table);
        return problem_set(desk->problem, ENOENT, NUMBER_NO_TABLE, "there is no table '%s' in %s",
                table, desk->paths.source);
}

/* Parameters of SQL Server's that mean nothing here. */
static int check_foreign(const struct desk *desk, const struct cdc_table_options *options)
{
        if (options->filegroup)
                return problem_set(desk->problem, EINVAL, NUMBER_FILEGROUP,
                        "there is no filegroup '%s': change tables stand in the store, whose place "
                        "--store says",
                        options->filegroup);
        if (options->is_partition_switch_off && desk->notice)
                desk->notice(desk->context, NUMBER_PARTITION_SWITCH,
                        "allow-partition-switch is ignored: no table of SQLite is partitioned");
        return 0;
}

static int enable_table(struct desk *desk, const struct cdc_table_options *options)
{
        int r = open_both(desk);
        if (r == 0)
                r = check_foreign(desk, options);
        if (r < 0)
                return r;
        const struct schema_table *table = schema_find_table(desk->look.schema, options->table);
        if (!table)
                return refuse_missing(desk, options->table);
        r = enable_one(desk, table, options, desk->problem);
        return r < 0 ? r : finish_enable(desk);
}

CDC_API int cdc_enable_table(const struct cdc_database *database,
        const struct cdc_table_options *options, cdc_notice notice, void *context,
        struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {
                .notice = notice, .context = context, .problem = &problem};
        int r = options->table ? call_find_paths(database, &desk.paths)
                               : problem_set(&problem, EINVAL, NUMBER_MISSING,
                                         "the name of the table is missing");
        if (r == 0)
                r = enable_table(&desk, options);
        return call_answer(r, &problem, ret_error);
}

/* By name alone: the number of a dropped table may be another table's by now. */
static bool is_enabled(const struct instances *instances, const struct schema_table *table)
{
        for (size_t i = 0; i < instances->count; i++) {
                if (text_equal_name(instances->items[i].source_table, table->name))
                        return true;
        }
        return false;
}

/* Why --all leaves it out, or NULL. A view is no table. */
static const char *skip_reason(const struct schema_table *table)
{
        switch (table->kind) {
        case SCHEMA_VIRTUAL:
                return "a virtual table";
        case SCHEMA_SHADOW:
                return "it holds the data of a virtual table";
        case SCHEMA_INTERNAL:
                return "one of SQLite's own";
        default:
                return NULL;
        }
}

/* Enables the table if --all means it. *ret_failed grows where that is refused. */
static int enable_if_ordinary(struct desk *desk, const struct instances *instances,
        const struct schema_table *table, unsigned *ret_enabled, unsigned *ret_failed)
{
        static const struct cdc_table_options options = {.supports_net_changes = -1};
        struct problem problem = {0};
        const char *reason = skip_reason(table);
        if (reason)
                tell(desk, "skipped '%s': %s", table->name, reason);
        if (reason || table->kind == SCHEMA_VIEW || is_enabled(instances, table))
                return 0;
        int r = enable_one(desk, table, &options, &problem);
        if (r < 0 && !problem.message[0])
                return r;
        if (r < 0)
                tell(desk, "not enabled, '%s': %s", table->name, problem.message);
        *(r < 0 ? ret_failed : ret_enabled) += 1;
        return 0;
}

static int enable_all(struct desk *desk, const char *pattern)
{
        _cleanup_(instances_release) struct instances instances = {0};
        unsigned enabled = 0, failed = 0;
        int r = open_both(desk);
        if (r == 0)
                r = instances_load(desk->store, &instances);
        if (r < 0)
                return r;
        const struct schema *schema = desk->look.schema;
        for (size_t i = 0; r == 0 && i < schema->table_count; i++) {
                const struct schema_table *table = &schema->tables[i];
                if (!pattern || sqlite3_strlike(pattern, table->name, 0) == 0)
                        r = enable_if_ordinary(desk, &instances, table, &enabled, &failed);
        }
        if (r == 0 && enabled > 0)
                r = finish_enable(desk);
        if (r == 0 && failed > 0)
                return problem_set(desk->problem, ENOTSUP, 0,
                        "%u of the tables could not be enabled, as told; %u were", failed, enabled);
        return r;
}

CDC_API int cdc_enable_all(const struct cdc_database *database, const char *pattern,
        cdc_notice notice, void *context, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {
                .notice = notice, .context = context, .problem = &problem};
        int r = call_find_paths(database, &desk.paths);
        if (r == 0)
                r = enable_all(&desk, pattern);
        return call_answer(r, &problem, ret_error);
}

/* No instance is of this table. Whether the table exists only the source can tell, if it can. */
static int refuse_untracked(struct desk *desk, const char *table)
{
        struct problem ignored = {0};
        struct problem *problem = desk->problem;
        desk->problem = &ignored;
        int r = open_source(desk);
        desk->problem = problem;
        if (r == 0 && !schema_find_table(desk->look.schema, table))
                return problem_set(problem, ENOENT, NUMBER_NO_TABLE, "there is no table '%s' in %s",
                        table, desk->paths.source);
        return problem_set(problem, ENOENT, NUMBER_NOT_ENABLED,
                "the table '%s' is not enabled: it has no capture instance", table);
}

/* Drops those of the table's instances that are meant; counts the table's and the dropped. */
static int drop_instances(struct desk *desk, const struct instances *instances, const char *table,
        const char *name, unsigned *ret_of_table, unsigned *ret_dropped)
{
        bool is_all = strcmp(name, "all") == 0;
        for (size_t i = 0; i < instances->count; i++) {
                const struct instance *instance = &instances->items[i];
                if (!text_equal_name(instance->source_table, table))
                        continue;
                *ret_of_table += 1;
                if (!is_all && strcmp(instance->name, name) != 0)
                        continue;
                int r = instances_disable(desk->store, instance);
                if (r < 0)
                        return r;
                *ret_dropped += 1;
        }
        return 0;
}

static int disable_inside(struct desk *desk, const char *table, const char *name)
{
        _cleanup_(instances_release) struct instances instances = {0};
        unsigned of_table = 0, dropped = 0;
        int r = instances_load(desk->store, &instances);
        if (r == 0)
                r = drop_instances(desk, &instances, table, name, &of_table, &dropped);
        if (r < 0)
                return r;
        if (of_table == 0)
                return refuse_untracked(desk, table);
        if (dropped == 0)
                return problem_set(desk->problem, ENOENT, NUMBER_NOT_OF_TABLE,
                        "'%s' is no capture instance of the table '%s'; cdcctl "
                        "help-change-data-capture lists them",
                        name, table);
        return store_commit(desk->store);
}

static int disable_table(struct desk *desk, const char *table, const char *name)
{
        bool has_agent;
        int r = call_open_store(&desk->paths, STORE_WRITE, desk->problem, &desk->store);
        if (r == 0)
                r = store_begin(desk->store);
        if (r < 0)
                return r;
        r = disable_inside(desk, table, name);
        if (r < 0) {
                store_rollback(desk->store);
                return r;
        }
        return settle(desk, &has_agent);
}

CDC_API int cdc_disable_table(const struct cdc_database *database, const char *table,
        const char *instance, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(desk_release) struct desk desk = {.problem = &problem};
        bool is_complete = table && instance && instance[0];
        int r = is_complete ? call_find_paths(database, &desk.paths)
                            : problem_set(&problem, EINVAL, NUMBER_MISSING,
                                      "the name of the %s is missing",
                                      table ? "capture instance" : "table");
        if (r == 0)
                r = disable_table(&desk, table, instance);
        return call_answer(r, &problem, ret_error);
}
