/* SPDX-License-Identifier: MIT
 *
 * document_partitions: closed segments in the columns of Qlik Replicate's control table
 * attrep_cdc_partitions. A partition begins with the commit time of its file's first row and ends
 * when the file was closed.
 *
 * Names of partitions are told to the second, as Qlik's; two of a table may share one. No two share
 * a FILE.
 */
#include <string.h>

#include "faces/csv.h"
#include "faces/document.h"
#include "faces/events.h"
#include "ground/cleanup.h"
#include "ground/clock.h"
#include "ground/lsn.h"
#include "ground/problem.h"
#include "memory/sql.h"

enum column { START, END, TABLE, DIRECTORY, FROM, TO };

/* `20261130T100000` */
static void append_second(struct buf *buf, int64_t time_ns)
{
        char text[CLOCK_TEXT_SIZE];
        clock_format(time_ns, text);
        for (const char *c = text; *c != '.'; c++) {
                if (*c != '-' && *c != ':')
                        buf_append_byte(buf, (uint8_t)*c);
        }
}

static void append_time(struct buf *buf, int64_t time_ns)
{
        char text[CLOCK_TEXT_SIZE];
        clock_format(time_ns, text);
        buf_append_string(buf, text);
        buf_append_byte(buf, ',');
}

static void append_text(struct buf *buf, const char *text)
{
        const char *there = text ? text : "";
        csv_append_quoted(buf, (const uint8_t *)there, strlen(there));
}

static void append_file(struct buf *buf, sqlite3_stmt *stmt)
{
        char from_name[LSN_NAME_SIZE], to_name[LSN_NAME_SIZE];
        _cleanup_(buf_release) struct buf path = BUF_INIT;
        struct lsn from, to;
        sql_column_lsn(stmt, FROM, &from);
        sql_column_lsn(stmt, TO, &to);
        lsn_format_name(from, from_name);
        lsn_format_name(to, to_name);
        buf_append_format(&path, "%s/all/qlik/%s-%s.csv",
                (const char *)sqlite3_column_text(stmt, DIRECTORY), from_name, to_name);
        append_text(buf, buf_string(&path));
        buf->error = buf->error ? buf->error : buf_error(&path);
}

static void append_row(
        struct buf *buf, const char *server, const char *database, sqlite3_stmt *stmt)
{
        int64_t start_ns = sqlite3_column_int64(stmt, START);
        int64_t end_ns = sqlite3_column_int64(stmt, END);
        append_text(buf, server);
        buf_append_byte(buf, ',');
        append_text(buf, database);
        buf_append_byte(buf, ',');
        append_second(buf, start_ns);
        buf_append_byte(buf, '_');
        append_second(buf, end_ns);
        buf_append_byte(buf, ',');
        append_time(buf, start_ns);
        append_time(buf, end_ns);
        buf_append_string(buf, "\"main\",");
        append_text(buf, (const char *)sqlite3_column_text(stmt, TABLE));
        buf_append_byte(buf, ',');
        append_file(buf, stmt);
        buf_append_byte(buf, '\n');
}

int document_partitions(sqlite3 *store, const char *server, struct buf *buf)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        _cleanup_free_ char *database = NULL;
        buf_append_string(buf, "SERVER_NAME,TASK_NAME,PARTITION_NAME,PARTITION_START_TIME,"
                               "PARTITION_END_TIME,TABLE_OWNER,TABLE_NAME,FILE\n");
        int r = events_read_database(store, &database);
        if (r == 0)
                r = problem_errno(sqlite3_prepare_v2(store,
                        "SELECT first_time_ns, mtime_ns, table_name, directory, from_lsn, to_lsn"
                        " FROM cdcfs_files JOIN change_tables USING(object_id)"
                        "  JOIN cdcfs_instances USING(object_id)"
                        " WHERE format = 'qlik' AND mtime_ns IS NOT NULL AND NOT is_withdrawn"
                        " ORDER BY mtime_ns",
                        -1, &stmt, NULL));
        while (r >= 0 && (r = sql_next(stmt)) > 0)
                append_row(buf, server, database, stmt);
        return r < 0 ? r : buf_error(buf);
}
