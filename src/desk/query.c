/* SPDX-License-Identifier: MIT
 *
 * query: the interval and the report of instances. The functions are in query_changes.c and
 * query_scalars.c, what is told of one instance in query_reports.c, status in status.c.
 */
#include "desk/query.h"

#include <errno.h>
#include <string.h>

#include "desk/call.h"
#include "desk/rows.h"
#include "faces/functions.h"
#include "faces/validity.h"
#include "ground/cleanup.h"
#include "memory/sql.h"

enum { NUMBER_NOT_ENABLED = 22985 };

int query_open(
        const struct cdc_database *database, struct problem *problem, struct store **ret_store)
{
        _cleanup_(call_paths_release) struct call_paths paths = {0};
        int r = call_find_paths(database, &paths);
        return r < 0 ? r : call_open_store(&paths, STORE_READ, problem, ret_store);
}

int query_not_again(int result)
{
        return result == -EAGAIN ? -EBUSY : result;
}

static void format_or_empty(bool is_pending, struct lsn lsn, char ret_text[LSN_TEXT_SIZE + 1])
{
        ret_text[0] = 0;
        if (!is_pending)
                lsn_format(lsn, ret_text);
}

CDC_API int cdc_get_min_lsn(const struct cdc_database *database, const char *instance,
        char ret_text[24], struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(store_closep) struct store *store = NULL;
        struct validity validity;
        int64_t object_id = 0;
        int r = query_open(database, &problem, &store);
        if (r == 0 && instance)
                r = functions_find_instance(store_db(store), instance, &problem, &object_id);
        if (r == 0)
                r = validity_read(store_db(store), object_id, &validity);
        if (r == 0)
                format_or_empty(validity.is_pending, validity.min, ret_text);
        return call_answer(r, &problem, ret_error);
}

CDC_API int cdc_get_max_lsn(
        const struct cdc_database *database, char ret_text[24], struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(store_closep) struct store *store = NULL;
        struct validity validity;
        int r = query_open(database, &problem, &store);
        if (r == 0)
                r = validity_read(store_db(store), 0, &validity);
        if (r == 0)
                format_or_empty(validity.is_pending, validity.max, ret_text);
        return call_answer(r, &problem, ret_error);
}

static int move_lsn(const char *text, struct lsn (*move)(struct lsn), char ret_text[24],
        struct cdc_error *ret_error)
{
        struct problem problem = {0};
        struct lsn lsn;
        int r = validity_parse_lsn("the LSN", text, &lsn, &problem);
        if (r == 0)
                lsn_format(move(lsn), ret_text);
        return call_answer(r, &problem, ret_error);
}

CDC_API int cdc_increment_lsn(const char *lsn, char ret_text[24], struct cdc_error *ret_error)
{
        return move_lsn(lsn, lsn_increment, ret_text, ret_error);
}

CDC_API int cdc_decrement_lsn(const char *lsn, char ret_text[24], struct cdc_error *ret_error)
{
        return move_lsn(lsn, lsn_decrement, ret_text, ret_error);
}

#define BRACKETED(name) "'[' || replace(" name ", ']', ']]') || ']'"

static const char help_select[] =
        "SELECT 'main' AS source_schema, t.name AS source_table, c.capture_instance, c.object_id,"
        "  c.source_object_id, c.start_lsn, c.end_lsn, c.supports_net_changes, c.has_drop_pending,"
        "  c.role_name, c.index_name, c.filegroup_name, c.create_date,"
        "  (SELECT group_concat(" BRACKETED(
                "column_name") ", ', ') FROM"
                               "    (SELECT column_name FROM index_columns AS i WHERE i.object_id "
                               "= c.object_id"
                               "     ORDER BY index_ordinal)) AS index_column_list,"
                               "  (SELECT group_concat(" BRACKETED(
                                       "column_name") ", ', ') FROM"
                                                      "    (SELECT column_name FROM "
                                                      "captured_columns AS k WHERE k.object_id = "
                                                      "c.object_id"
                                                      "     ORDER BY column_ordinal)) AS "
                                                      "captured_column_list "
                                                      "FROM change_tables AS c JOIN "
                                                      "cdcfs_source_tables AS t "
                                                      "USING(source_object_id) "
                                                      "WHERE ?1 IS NULL OR t.name = ?1 ORDER BY "
                                                      "c.object_id";

static int check_tracked(struct store *store, const char *table, struct problem *problem)
{
        _cleanup_(sql_donep) sqlite3_stmt *stmt = NULL;
        int r = store_statement(store,
                "SELECT 1 FROM change_tables JOIN cdcfs_source_tables AS t USING(source_object_id) "
                "WHERE t.name = ?",
                &stmt);
        if (r < 0 || (r = sql_bind_text(stmt, 1, table)) < 0 || (r = sql_next(stmt)) < 0)
                return r;
        if (r == 0)
                return problem_set(problem, ENOENT, NUMBER_NOT_ENABLED,
                        "the table '%s' is not enabled: it has no capture instance", table);
        return 0;
}

static int open_help(struct store *store, const char *table, struct result *result)
{
        int r = result_open(result, store_db(store), help_select);
        if (r < 0)
                return r;
        return problem_errno(sqlite3_bind_text(result->stmt, 1, table, -1, SQLITE_TRANSIENT));
}

CDC_API int cdc_help_change_data_capture(const struct cdc_database *database, const char *table,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(store_closep) struct store *store = NULL;
        _cleanup_(result_close) struct result result = {0};
        int r = query_open(database, &problem, &store);
        if (r == 0 && table)
                r = check_tracked(store, table, &problem);
        if (r == 0)
                r = open_help(store, table, &result);
        if (r == 0)
                r = rows_of_select(steal(store), &result, ret_rows);
        return call_answer(r, &problem, ret_error);
}
