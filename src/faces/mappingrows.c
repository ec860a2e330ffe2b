/* SPDX-License-Identifier: MIT
 *
 * mappingrows: two SELECTs with the rowid behind their columns. It refuses to know how rows are
 * shown.
 */
#include "faces/mappingrows.h"

#include "ground/cleanup.h"

struct column {
        const char *name;
        enum result_kind kind;
};

static const struct column table_columns[] = {
        {"start_lsn", RESULT_LSN},
        {"tran_begin_time", RESULT_BARE},
        {"tran_end_time", RESULT_BARE},
        {"tran_id", RESULT_VALUE},
        {"tran_begin_lsn", RESULT_LSN},
};

static const struct column transaction_columns[] = {
        {"start_lsn", RESULT_LSN},
        {"tran_begin_time", RESULT_BARE},
        {"tran_end_time", RESULT_BARE},
        {"tran_id", RESULT_VALUE},
        {"rows", RESULT_JSON},
};

static const struct {
        const struct column *columns;
        unsigned count;
        const char *sql;
} kinds[] = {
        [MAPPINGROWS_TABLE] = {table_columns, COUNT(table_columns),
                "SELECT start_lsn, tran_begin_time, tran_end_time, tran_id, tran_begin_lsn, rowid"
                " FROM lsn_time_mapping WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid"},
        [MAPPINGROWS_TRANSACTIONS] = {transaction_columns, COUNT(transaction_columns),
                "SELECT start_lsn, tran_begin_time, tran_end_time, tran_id, cdcfs_rows, rowid"
                " FROM lsn_time_mapping WHERE rowid BETWEEN ?1 AND ?2 AND cdcfs_change_count > 0"
                " ORDER BY rowid"},
};

int mappingrows_open(sqlite3 *db, enum mappingrows_kind kind, uint64_t first, uint64_t last,
        struct result *result)
{
        int r = 0;
        for (unsigned i = 0; r == 0 && i < kinds[kind].count; i++)
                r = result_add_column(
                        &result->shape, kinds[kind].columns[i].name, kinds[kind].columns[i].kind);
        if (r == 0)
                r = result_open(result, db, kinds[kind].sql);
        if (r < 0)
                return r;
        sqlite3_bind_int64(result->stmt, 1, (int64_t)first);
        sqlite3_bind_int64(result->stmt, 2, (int64_t)last);
        return 0;
}

uint64_t mappingrows_number(const struct result *result)
{
        return (uint64_t)sqlite3_column_int64(result->stmt, (int)result->shape.count);
}
