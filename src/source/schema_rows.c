/* SPDX-License-Identifier: MIT
 *
 * schema_rows: the rows of sqlite_schema, as they stand in a database.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/schema_private.h"

void schema_rows_release(struct schema_rows *rows)
{
        for (size_t i = 0; i < rows->count; i++) {
                free(rows->rows[i].type);
                free(rows->rows[i].name);
                free(rows->rows[i].table_name);
                free(rows->rows[i].sql);
        }
        free(rows->rows);
        *rows = (struct schema_rows){0};
}

char *schema_text(sqlite3_stmt *stmt, int column)
{
        const char *text = (const char *)sqlite3_column_text(stmt, column);
        return text ? strdup(text) : NULL;
}

bool schema_is_complete(const struct schema_row *row)
{
        return row->type && row->name && row->table_name;
}

void *schema_add(void *array_pointer, size_t *count, size_t size)
{
        void **array = array_pointer;
        char *grown = realloc(*array, (*count + 1) * size);
        if (!grown)
                return NULL;
        *array = grown;
        return memset(grown + (*count)++ * size, 0, size);
}

const struct schema_row *schema_find_row(
        const struct schema_rows *rows, const char *type, const char *name)
{
        for (size_t i = 0; i < rows->count; i++)
                if (schema_is_complete(&rows->rows[i]) && strcmp(rows->rows[i].type, type) == 0 &&
                        text_equal_name(rows->rows[i].name, name))
                        return &rows->rows[i];
        return NULL;
}

int schema_rows_read(sqlite3 *db, struct schema_rows *ret_rows)
{
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = sqlite3_prepare_v2(db,
                "SELECT rowid, type, name, tbl_name, rootpage, sql FROM main.sqlite_schema "
                "ORDER BY rowid",
                -1, &stmt, NULL);
        while (r == SQLITE_OK || r == SQLITE_ROW) {
                r = sqlite3_step(stmt);
                if (r != SQLITE_ROW)
                        break;
                struct schema_row *row = schema_add(&rows.rows, &rows.count, sizeof(*row));
                if (!row)
                        return -ENOMEM;
                row->rowid = sqlite3_column_int64(stmt, 0);
                row->type = schema_text(stmt, 1);
                row->name = schema_text(stmt, 2);
                row->table_name = schema_text(stmt, 3);
                row->root = (uint32_t)sqlite3_column_int64(stmt, 4);
                row->sql = schema_text(stmt, 5);
        }
        if (r != SQLITE_DONE)
                return problem_errno(r);
        *ret_rows = rows;
        rows = (struct schema_rows){0};
        return 0;
}
