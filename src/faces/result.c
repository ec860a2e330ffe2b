/* SPDX-License-Identifier: MIT
 *
 * result: columns with their kinds, and the rows of a SELECT as they stand in the store.
 *
 * Values keep their storage class and bytes: TEXT stays in the database's encoding. It refuses to
 * know what the rows mean and how they are shown.
 */
#include "faces/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/problem.h"
#include "memory/sql.h"

int result_add_column(struct result_shape *shape, const char *name, enum result_kind kind)
{
        struct result_column *columns =
                reallocarray(shape->columns, shape->count + 1, sizeof(*columns));
        if (!columns)
                return -ENOMEM;
        shape->columns = columns;
        char *copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        columns[shape->count++] = (struct result_column){.name = copy, .kind = kind};
        return 0;
}

void result_release_shape(struct result_shape *shape)
{
        for (unsigned i = 0; i < shape->count; i++)
                free(shape->columns[i].name);
        free(shape->columns);
        free(shape->database);
        free(shape->table);
        *shape = (struct result_shape){0};
}

int result_read_encoding(sqlite3 *db, enum text_encoding *ret_encoding)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &stmt, NULL));
        if (r < 0)
                return r;
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EIO;
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        if (!name)
                return -ENOMEM;
        *ret_encoding = TEXT_UTF8;
        if (strcmp(name, "UTF-16le") == 0)
                *ret_encoding = TEXT_UTF16LE;
        else if (strcmp(name, "UTF-16be") == 0)
                *ret_encoding = TEXT_UTF16BE;
        return 0;
}

static enum result_kind metadata_kind(const char *name)
{
        static const struct {
                const char *suffix;
                enum result_kind kind;
        } kinds[] = {
                {"_lsn", RESULT_LSN},
                {"sequence_value", RESULT_LSN},
                {"_time", RESULT_BARE},
                {"_date", RESULT_BARE},
        };
        size_t size = strlen(name);
        for (unsigned i = 0; i < COUNT(kinds); i++) {
                size_t tail = strlen(kinds[i].suffix);
                if (size >= tail && strcmp(name + size - tail, kinds[i].suffix) == 0)
                        return kinds[i].kind;
        }
        return RESULT_VALUE;
}

static int name_columns(struct result_shape *shape, sqlite3_stmt *stmt)
{
        int count = sqlite3_column_count(stmt);
        for (int i = 0; i < count; i++) {
                const char *name = sqlite3_column_name(stmt, i);
                int r = name ? result_add_column(shape, name, metadata_kind(name)) : -ENOMEM;
                if (r < 0)
                        return r;
        }
        return 0;
}

int result_open(struct result *result, sqlite3 *db, const char *sql)
{
        int r = result_read_encoding(db, &result->shape.encoding);
        if (r < 0)
                return r;
        r = problem_errno(sqlite3_prepare_v2(db, sql, -1, &result->stmt, NULL));
        if (r < 0)
                return r;
        if (result->shape.count == 0 && (r = name_columns(&result->shape, result->stmt)) < 0)
                return r;
        result->values = calloc(result->shape.count, sizeof(*result->values));
        return result->values ? 0 : -ENOMEM;
}

/* As sql_column_value, in half the time: the calls on a column each take the connection's mutex
 * and look the column up. SQLite leaves it to a connection's only thread to go without. */
static void read_value(sqlite3_value *from, struct value *ret_value)
{
        switch (sqlite3_value_type(from)) {
        case SQLITE_INTEGER:
                ret_value->type = VALUE_INTEGER;
                ret_value->size = 0;
                ret_value->integer = sqlite3_value_int64(from);
                break;
        case SQLITE_FLOAT:
                ret_value->type = VALUE_REAL;
                ret_value->size = 0;
                ret_value->real = sqlite3_value_double(from);
                break;
        case SQLITE_TEXT:
        case SQLITE_BLOB:
                ret_value->type = sqlite3_value_type(from) == SQLITE_TEXT ? VALUE_TEXT : VALUE_BLOB;
                /* Asked for as a BLOB first, TEXT comes in the database's own encoding. */
                ret_value->bytes = sqlite3_value_blob(from);
                ret_value->size = (uint32_t)sqlite3_value_bytes(from);
                break;
        default:
                *ret_value = (struct value){.type = VALUE_NULL};
                break;
        }
}

int result_next(struct result *result, const struct value **ret_values)
{
        int r = result->is_ended ? 0 : sql_next(result->stmt);
        result->is_ended = r <= 0;
        if (r <= 0)
                return r;
        for (unsigned i = 0; i < result->shape.count; i++)
                read_value(sqlite3_column_value(result->stmt, (int)i), &result->values[i]);
        *ret_values = result->values;
        return 1;
}

void result_close(struct result *result)
{
        sqlite3_finalize(result->stmt);
        free(result->values);
        result_release_shape(&result->shape);
        *result = (struct result){0};
}
