/* SPDX-License-Identifier: MIT
 *
 * document_schema: schema.json: the captured columns of an instance for programs that read its
 * files.
 *
 * It tells what captured_columns and index_columns say and looks at no source.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faces/document_private.h"
#include "ground/cleanup.h"
#include "ground/problem.h"
#include "ground/text.h"
#include "memory/sql.h"

json_t *document_text(const char *name)
{
        size_t size = name ? strlen(name) : 0;
        if (!name)
                return json_null();
        if (text_is_utf8((const uint8_t *)name, size))
                return json_stringn(name, size);
        _cleanup_(buf_release) struct buf hex = BUF_INIT;
        buf_append_string(&hex, "\\X");
        buf_append_hex(&hex, name, size);
        return buf_error(&hex) ? NULL : json_string(buf_string(&hex));
}

int document_append_json(const json_t *json, struct buf *buf)
{
        _cleanup_free_ char *bytes = json_dumps(json, JSON_INDENT(2));
        if (!bytes)
                return -ENOMEM;
        buf_append_string(buf, bytes);
        buf_append_byte(buf, '\n');
        return buf_error(buf);
}

static const char *affinity_name(const char *letter)
{
        static const char *const names[] = {"BLOB", "TEXT", "NUMERIC", "INTEGER", "REAL"};
        unsigned index = letter ? (unsigned)(letter[0] - 'A') : 0;
        return index < COUNT(names) ? names[index] : names[0];
}

static int prepare(sqlite3 *store, int64_t object_id, const char *sql, sqlite3_stmt **ret_stmt)
{
        int r = problem_errno(sqlite3_prepare_v2(store, sql, -1, ret_stmt, NULL));
        if (r == 0)
                sqlite3_bind_int64(*ret_stmt, 1, object_id);
        return r;
}

static int add_names(sqlite3 *store, int64_t object_id, json_t *root)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = prepare(store, object_id,
                "SELECT c.capture_instance, t.name FROM change_tables AS c"
                " JOIN cdcfs_source_tables AS t USING(source_object_id) WHERE object_id = ?",
                &stmt);
        if (r < 0 || (r = sql_next(stmt)) <= 0)
                return r < 0 ? r : -ENOENT;
        const char *instance = (const char *)sqlite3_column_text(stmt, 0);
        const char *table = (const char *)sqlite3_column_text(stmt, 1);
        r = json_object_set_new(root, "capture_instance", document_text(instance)) |
            json_object_set_new(root, "source_table", document_text(table));
        return r < 0 ? -ENOMEM : 0;
}

static int add_column(sqlite3_stmt *stmt, json_t *columns)
{
        json_t *column = json_object();
        int r = json_array_append_new(columns, column);
        if (r < 0)
                return -ENOMEM;
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        const char *type = (const char *)sqlite3_column_text(stmt, 2);
        const char *affinity = affinity_name((const char *)sqlite3_column_text(stmt, 3));
        r = json_object_set_new(column, "name", document_text(name)) |
            json_object_set_new(column, "ordinal", json_integer(sqlite3_column_int(stmt, 1))) |
            json_object_set_new(column, "declared_type", document_text(type)) |
            json_object_set_new(column, "affinity", json_string(affinity)) |
            json_object_set_new(column, "key", json_boolean(sqlite3_column_int(stmt, 4)));
        return r < 0 ? -ENOMEM : 0;
}

static int add_columns(sqlite3 *store, int64_t object_id, json_t *root)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        json_t *columns = json_array();
        int r = json_object_set_new(root, "columns", columns) < 0 ? -ENOMEM : 0;
        if (r == 0)
                r = prepare(store, object_id,
                        "SELECT c.column_name, c.column_ordinal, c.column_type, c.cdcfs_affinity,"
                        "  EXISTS (SELECT 1 FROM index_columns AS i"
                        "    WHERE i.object_id = c.object_id AND i.column_name = c.column_name) "
                        "FROM captured_columns AS c WHERE object_id = ? ORDER BY column_ordinal",
                        &stmt);
        while (r >= 0 && (r = sql_next(stmt)) > 0)
                r = add_column(stmt, columns);
        return r;
}

int document_schema(sqlite3 *store, int64_t object_id, struct buf *buf)
{
        json_t *root = json_object();
        int r = root ? add_names(store, object_id, root) : -ENOMEM;
        if (r == 0)
                r = add_columns(store, object_id, root);
        if (r == 0)
                r = document_append_json(root, buf);
        json_decref(root);
        return r;
}
