/* SPDX-License-Identifier: MIT
 *
 * query_reports: what the metadata of one instance looks like to the procedures that report it.
 */
#include "cdc.h"
#include "desk/call.h"
#include "desk/query.h"
#include "desk/rows.h"
#include "faces/functions.h"
#include "ground/cleanup.h"

/* SQLite enforces no length, precision or scale, so there are none to report. */
static const char columns_select[] =
        "SELECT 'main' AS source_schema, t.name AS source_table, c.capture_instance,"
        "  k.column_name, k.column_id, k.column_ordinal, k.column_type AS data_type,"
        "  NULL AS character_maximum_length, NULL AS numeric_precision,"
        "  NULL AS numeric_precision_radix, NULL AS numeric_scale, NULL AS datetime_precision "
        "FROM captured_columns AS k JOIN change_tables AS c USING(object_id)"
        "  LEFT JOIN cdcfs_source_tables AS t USING(source_object_id) "
        "WHERE k.object_id = ? ORDER BY k.column_ordinal";

static const char ddl_select[] =
        "SELECT 'main' AS source_schema, t.name AS source_table, c.capture_instance,"
        "  h.required_column_update, h.ddl_command, h.ddl_lsn, h.ddl_time "
        "FROM ddl_history AS h JOIN change_tables AS c USING(object_id)"
        "  LEFT JOIN cdcfs_source_tables AS t ON t.source_object_id = c.source_object_id "
        "WHERE h.object_id = ? ORDER BY h.ddl_lsn, h.rowid";

static int report(const struct cdc_database *database, const char *instance, const char *sql,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error)
{
        struct problem problem = {0};
        _cleanup_(store_closep) struct store *store = NULL;
        _cleanup_(result_close) struct result result = {0};
        int64_t object_id;
        int r = query_open(database, &problem, &store);
        if (r == 0)
                r = functions_find_instance(store_db(store), instance, &problem, &object_id);
        if (r == 0)
                r = result_open(&result, store_db(store), sql);
        if (r == 0) {
                sqlite3_bind_int64(result.stmt, 1, object_id);
                r = rows_of_select(steal(store), &result, ret_rows);
        }
        return call_answer(r, &problem, ret_error);
}

CDC_API int cdc_get_captured_columns(const struct cdc_database *database, const char *instance,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error)
{
        return report(database, instance, columns_select, ret_rows, ret_error);
}

CDC_API int cdc_get_ddl_history(const struct cdc_database *database, const char *instance,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error)
{
        return report(database, instance, ddl_select, ret_rows, ret_error);
}
