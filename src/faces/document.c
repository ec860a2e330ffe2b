/* SPDX-License-Identifier: MIT
 *
 * document: the small files of a mount, made from the store.
 *
 * Metadata tables are shown as they stand in the store, SQL Server's columns first. It refuses to
 * know how a document is named and when it is made anew.
 */
#include "faces/document.h"

#include <errno.h>
#include <string.h>

#include "faces/validity.h"
#include "ground/cleanup.h"

void document_readme(const char *source, struct buf *buf)
{
        static const char rest[] =
                "\n"
                "as files that can only be read: what SQL Server calls change data capture.\n"
                "\n"
                "validity.json               which LSNs can be asked for, and what is missing\n"
                "min_lsn max_lsn             the two ends of that interval, a line each\n"
                "ddl_history.csv .jsonl      changes of the tables themselves\n"
                "cdc/                        SQL Server's tables: change_tables.csv and others,\n"
                "                            lsn_time_mapping/FROM-TO.csv: commits and times\n"
                "transactions/FROM-TO.jsonl  a line for each: rows of each instance\n"
                "INSTANCE/                   a captured table; the five documents above, and\n"
                "  captured_columns.csv  schema.json   its columns\n"
                "  files.csv                 a line for each listed file\n"
                "  all/csv/FROM-TO.csv       its changes, from one LSN to another\n"
                "  all/jsonl/FROM-TO.jsonl   the same, a JSON object a line\n"
                "  all/debezium/ all/qlik/   the same as Debezium's events, as Qlik's tables\n"
                "  net/csv/FROM-TO.csv       one row a key: what it became; also jsonl\n"
                "  live/all.csv .jsonl       those that no listed file has yet: tail -F it\n"
                "  range/all/csv/FROM-TO.csv any range of LSNs or times (20261130T100000Z); lists\n"
                "                            nothing, opens by name; also jsonl, and range/net/\n"
                "\n"
                "A listed file holds whole transactions and never changes. FROM is the LSN after\n"
                "TO of the file before it: a missing name shows a missing range. It appears when\n"
                "it has closed: by size, by age, or by `cdcctl rotate`.\n"
                "\n"
                "Rows are net per transaction: the log shows each row as a commit left it. A row\n"
                "changed five times in one transaction is one change: INSERT, UPDATE and COMMIT\n"
                "of it give one insert with the last values, INSERT and DELETE give nothing.\n"
                "\n"
                "__$start_lsn    LSN of the commit; the same in all files of a transaction\n"
                "__$seqval       number of the change, rising for ever over all files\n"
                "__$operation    1 delete, 2 insert, 3 update (before), 4 update (after)\n"
                "__$update_mask  one bit a column; the last bit is the first column\n"
                "\n"
                "CSV: NULL is nothing, TEXT is always quoted, a BLOB is \\x and hex.\n"
                "More: cdcfs-tree(5), cdcfs(8), cdcctl(1).\n";
        buf_append_string(buf, "This tree shows the changes of the SQLite database\n\n  ");
        buf_append_string(buf, source);
        buf_append_byte(buf, '\n');
        buf_append_string(buf, rest);
}

static int append_lsn_line(struct buf *buf, struct lsn lsn)
{
        char text[LSN_TEXT_SIZE];
        lsn_format(lsn, text);
        buf_append_string(buf, text);
        buf_append_byte(buf, '\n');
        return buf_error(buf);
}

int document_min_lsn(sqlite3 *store, int64_t object_id, struct buf *buf)
{
        struct validity validity;
        int r = validity_read(store, object_id, &validity);
        if (r < 0 || validity.is_pending)
                return r;
        return append_lsn_line(buf, validity.min);
}

int document_max_lsn(sqlite3 *store, int64_t object_id, struct buf *buf)
{
        struct validity validity;
        int r = validity_read(store, object_id, &validity);
        if (r < 0 || validity.is_pending)
                return r;
        return append_lsn_line(buf, validity.max);
}

/* Renders a SELECT; its parameter, if it has one, is the object_id. */
static int append_select(sqlite3 *store, const char *sql, int64_t object_id,
        const struct renderer *renderer, struct buf *buf)
{
        _cleanup_(result_close) struct result result = {0};
        _cleanup_(render_release) struct render render = {0};
        const struct value *values;
        int r = result_open(&result, store, sql);
        if (r < 0)
                return r;
        if (sqlite3_bind_parameter_count(result.stmt) > 0)
                sqlite3_bind_int64(result.stmt, 1, object_id);
        r = render_init(&render, renderer, &result.shape);
        if (r < 0)
                return r;
        render_header(&render, buf);
        while ((r = result_next(&result, &values)) > 0)
                render_row(&render, values, buf);
        return r < 0 ? r : buf_error(buf);
}

int document_ddl_history(
        sqlite3 *store, int64_t object_id, const struct renderer *renderer, struct buf *buf)
{
        struct validity validity;
        int r = validity_read(store, object_id, &validity);
        if (r < 0)
                return r;
        return append_select(store,
                "SELECT 'main' AS source_schema, t.name AS source_table, c.capture_instance,"
                "  h.required_column_update, h.ddl_command, h.ddl_lsn, h.ddl_time "
                "FROM ddl_history AS h JOIN change_tables AS c USING(object_id)"
                "  LEFT JOIN cdcfs_source_tables AS t ON t.source_object_id = c.source_object_id "
                "WHERE ?1 IN (0, h.object_id) ORDER BY h.ddl_lsn, h.object_id, h.rowid",
                object_id, renderer, buf);
}

int document_table(sqlite3 *store, const char *table, int64_t object_id,
        const struct renderer *renderer, struct buf *buf)
{
        static const struct {
                const char *name;
                const char *sql;
        } tables[] = {
                {"change_tables",
                        "SELECT object_id, version, source_object_id, capture_instance, start_lsn,"
                        "  end_lsn, supports_net_changes, has_drop_pending, role_name, index_name,"
                        "  filegroup_name, create_date, partition_switch, directory "
                        "FROM change_tables WHERE ?1 IN (0, object_id) ORDER BY object_id"},
                {"captured_columns",
                        "SELECT object_id, column_name, column_id, column_type, column_ordinal,"
                        "  is_computed FROM captured_columns WHERE ?1 IN (0, object_id) "
                        "ORDER BY object_id, column_ordinal"},
                {"index_columns", "SELECT object_id, column_name, index_ordinal, column_id "
                                  "FROM index_columns WHERE ?1 IN (0, object_id) "
                                  "ORDER BY object_id, index_ordinal"},
                {"cdc_jobs", "SELECT * FROM cdc_jobs ORDER BY job_type"},
                {"dm_cdc_log_scan_sessions",
                        "SELECT * FROM dm_cdc_log_scan_sessions ORDER BY session_id"},
                {"dm_cdc_errors", "SELECT * FROM dm_cdc_errors ORDER BY rowid"},
        };
        for (unsigned i = 0; i < COUNT(tables); i++) {
                if (strcmp(tables[i].name, table) == 0)
                        return append_select(store, tables[i].sql, object_id, renderer, buf);
        }
        return -ENOENT;
}
