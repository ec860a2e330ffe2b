/* SPDX-License-Identifier: MIT
 *
 * sql: binds, steps and reads columns. It knows no table and refuses to keep a statement.
 */
#include "memory/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ground/clock.h"
#include "ground/problem.h"

int sql_bind_lsn(sqlite3_stmt *stmt, int parameter, struct lsn lsn)
{
        return problem_errno(
                sqlite3_bind_blob(stmt, parameter, lsn.bytes, LSN_SIZE, SQLITE_TRANSIENT));
}

int sql_bind_time(sqlite3_stmt *stmt, int parameter, int64_t wall_ns)
{
        char text[CLOCK_TEXT_SIZE];
        clock_format(wall_ns, text);
        return problem_errno(sqlite3_bind_text(stmt, parameter, text, -1, SQLITE_TRANSIENT));
}

int sql_bind_text(sqlite3_stmt *stmt, int parameter, const char *text)
{
        return problem_errno(sqlite3_bind_text(stmt, parameter, text, -1, SQLITE_STATIC));
}

int sql_bind_path(sqlite3_stmt *stmt, int parameter, const char *path)
{
        size_t size = strlen(path);
        if (text_is_utf8((const uint8_t *)path, size))
                return sql_bind_text(stmt, parameter, path);
        return problem_errno(sqlite3_bind_blob64(stmt, parameter, path, size, SQLITE_STATIC));
}

static bool has_byte_order_mark(const struct value *value)
{
        if (value->size < 2)
                return false;
        return (value->bytes[0] == 0xfe && value->bytes[1] == 0xff) ||
               (value->bytes[0] == 0xff && value->bytes[1] == 0xfe);
}

/* SQLite takes one byte order mark off the front of UTF-16; given a second one, of the encoding
 * that the text really has, it takes that and leaves ours. */
static int bind_marked(
        sqlite3_stmt *stmt, int parameter, const struct value *value, enum text_encoding encoding)
{
        size_t size = (size_t)value->size + 2;
        uint8_t *bytes = malloc(size);
        if (!bytes)
                return -ENOMEM;
        memcpy(bytes, encoding == TEXT_UTF16LE ? "\xff\xfe" : "\xfe\xff", 2);
        memcpy(bytes + 2, value->bytes, value->size);
        return problem_errno(sqlite3_bind_text64(
                stmt, parameter, (const char *)bytes, size, free, (unsigned char)encoding));
}

static int bind_text_value(
        sqlite3_stmt *stmt, int parameter, const struct value *value, enum text_encoding encoding)
{
        const char *bytes = value->size ? (const char *)value->bytes : "";
        if (encoding != TEXT_UTF8) {
                if (value->size % 2)
                        return problem_errno(sqlite3_bind_blob64(
                                stmt, parameter, bytes, value->size, SQLITE_STATIC));
                if (has_byte_order_mark(value))
                        return bind_marked(stmt, parameter, value, encoding);
        }
        return problem_errno(sqlite3_bind_text64(
                stmt, parameter, bytes, value->size, SQLITE_STATIC, (unsigned char)encoding));
}

int sql_bind_value(
        sqlite3_stmt *stmt, int parameter, const struct value *value, enum text_encoding encoding)
{
        switch (value->type) {
        case VALUE_NULL:
                return problem_errno(sqlite3_bind_null(stmt, parameter));
        case VALUE_INTEGER:
                return problem_errno(sqlite3_bind_int64(stmt, parameter, value->integer));
        case VALUE_REAL:
                return problem_errno(sqlite3_bind_double(stmt, parameter, value->real));
        case VALUE_TEXT:
                return bind_text_value(stmt, parameter, value, encoding);
        case VALUE_BLOB:
                /* A NULL pointer would bind NULL. */
                return problem_errno(sqlite3_bind_blob64(stmt, parameter,
                        value->size ? (const void *)value->bytes : "", value->size, SQLITE_STATIC));
        }
        return -EINVAL;
}

void sql_done(sqlite3_stmt *stmt)
{
        if (!stmt)
                return;
        sqlite3_reset(stmt);
        sqlite3_clear_bindings(stmt);
}

void sql_donep(sqlite3_stmt **stmt)
{
        sql_done(*stmt);
}

int sql_run(sqlite3_stmt *stmt)
{
        int result = sqlite3_step(stmt);
        /* With PRAGMAs and RETURNING there may be rows that nobody asked for. */
        while (result == SQLITE_ROW)
                result = sqlite3_step(stmt);
        sql_done(stmt);
        return problem_errno(result);
}

int sql_next(sqlite3_stmt *stmt)
{
        int result = sqlite3_step(stmt);
        if (result == SQLITE_ROW)
                return 1;
        sql_done(stmt);
        return problem_errno(result);
}

int sql_execute(sqlite3 *db, const char *sql)
{
        return problem_errno(sqlite3_exec(db, sql, NULL, NULL, NULL));
}

bool sql_column_lsn(sqlite3_stmt *stmt, int column, struct lsn *ret_lsn)
{
        memset(ret_lsn, 0, sizeof *ret_lsn);
        if (sqlite3_column_type(stmt, column) != SQLITE_BLOB ||
                sqlite3_column_bytes(stmt, column) != LSN_SIZE)
                return false;
        memcpy(ret_lsn->bytes, sqlite3_column_blob(stmt, column), LSN_SIZE);
        return true;
}

int64_t sql_column_time(sqlite3_stmt *stmt, int column)
{
        int64_t wall_ns = 0;
        const char *text = (const char *)sqlite3_column_text(stmt, column);
        if (!text || clock_parse(text, &wall_ns) < 0)
                return 0;
        return wall_ns;
}

int sql_column_string(sqlite3_stmt *stmt, int column, char **ret_text)
{
        *ret_text = NULL;
        int type = sqlite3_column_type(stmt, column);
        if (type == SQLITE_NULL)
                return 0;
        /* A BLOB's bytes are meant as they are, also in a store of UTF-16. */
        const char *text = type == SQLITE_BLOB ? sqlite3_column_blob(stmt, column)
                                               : (const char *)sqlite3_column_text(stmt, column);
        int size = sqlite3_column_bytes(stmt, column);
        if (!text && size > 0)
                return -ENOMEM;
        *ret_text = strndup(text ? text : "", (size_t)size);
        return *ret_text ? 0 : -ENOMEM;
}

void sql_column_value(sqlite3_stmt *stmt, int column, struct value *ret_value)
{
        memset(ret_value, 0, sizeof *ret_value);
        switch (sqlite3_column_type(stmt, column)) {
        case SQLITE_INTEGER:
                ret_value->type = VALUE_INTEGER;
                ret_value->integer = sqlite3_column_int64(stmt, column);
                break;
        case SQLITE_FLOAT:
                ret_value->type = VALUE_REAL;
                ret_value->real = sqlite3_column_double(stmt, column);
                break;
        case SQLITE_TEXT:
        case SQLITE_BLOB:
                ret_value->type =
                        sqlite3_column_type(stmt, column) == SQLITE_TEXT ? VALUE_TEXT : VALUE_BLOB;
                /* Asked for as a BLOB first, TEXT comes in the database's own encoding. */
                ret_value->bytes = sqlite3_column_blob(stmt, column);
                ret_value->size = (uint32_t)sqlite3_column_bytes(stmt, column);
                break;
        default:
                ret_value->type = VALUE_NULL;
                break;
        }
}
