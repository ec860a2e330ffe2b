/* SPDX-License-Identifier: MIT
 *
 * schemarows: see the header. Columns of sqlite_schema: type, name, tbl_name, rootpage, sql (file
 * format §2.6).
 */
#include "meaning/schemarows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/record.h"
#include "ground/cleanup.h"

enum { SCHEMA_COLUMNS = 5 };

static int copy_text(const struct value *value, enum text_encoding encoding, char **ret_text)
{
        _cleanup_(buf_release) struct buf text = BUF_INIT;
        if (value->type != VALUE_TEXT) {
                *ret_text = NULL;
                return 0;
        }
        if (encoding == TEXT_UTF8)
                buf_append(&text, value->bytes, value->size);
        else
                text_append_utf16(&text, value->bytes, value->size, encoding);
        *ret_text = buf_steal(&text);
        return *ret_text ? 0 : -ENOMEM;
}

static int decode_row(int64_t rowid, const struct buf *payload, enum text_encoding encoding,
        struct schema_row *ret_row)
{
        struct value v[SCHEMA_COLUMNS] = {{0}};
        size_t count;
        *ret_row = (struct schema_row){.rowid = rowid};
        int r = record_decode(payload->data, payload->size, v, SCHEMA_COLUMNS, &count);
        if (r == 0)
                r = copy_text(&v[0], encoding, &ret_row->type);
        if (r == 0)
                r = copy_text(&v[1], encoding, &ret_row->name);
        if (r == 0)
                r = copy_text(&v[2], encoding, &ret_row->table_name);
        if (r == 0)
                r = copy_text(&v[4], encoding, &ret_row->sql);
        if (r == 0 && v[3].type == VALUE_INTEGER)
                ret_row->root = (uint32_t)v[3].integer;
        if (r == 0 && (!ret_row->type || !ret_row->name || !ret_row->table_name))
                r = -EBADMSG;
        return r;
}

static void row_release(struct schema_row *row)
{
        free(row->type);
        free(row->name);
        free(row->table_name);
        free(row->sql);
}

static size_t row_position(const struct schema_rows *rows, int64_t rowid)
{
        size_t i = 0;
        while (i < rows->count && rows->rows[i].rowid < rowid)
                i++;
        return i;
}

static void remove_row(struct schema_rows *rows, size_t i)
{
        row_release(&rows->rows[i]);
        memmove(&rows->rows[i], &rows->rows[i + 1], (rows->count - i - 1) * sizeof(*rows->rows));
        rows->count--;
}

static int insert_row(struct schema_rows *rows, size_t i, const struct schema_row *row)
{
        struct schema_row *grown = realloc(rows->rows, (rows->count + 1) * sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        memmove(&grown[i + 1], &grown[i], (rows->count - i) * sizeof(*grown));
        grown[i] = *row;
        rows->rows = grown;
        rows->count++;
        return 0;
}

int schemarows_change(struct schema_rows *rows, enum text_encoding encoding, int64_t rowid,
        const struct buf *payload)
{
        struct schema_row row = {0};
        size_t i = row_position(rows, rowid);
        if (i < rows->count && rows->rows[i].rowid == rowid)
                remove_row(rows, i);
        if (!payload)
                return 0;
        int r = decode_row(rowid, payload, encoding, &row);
        if (r == 0)
                r = insert_row(rows, i, &row);
        if (r < 0)
                row_release(&row);
        return r;
}

static char *copy_string(const char *string, bool *is_failed)
{
        char *copy = string ? strdup(string) : NULL;
        *is_failed |= string && !copy;
        return copy;
}

int schemarows_copy(const struct schema_rows *rows, struct schema_rows *ret_rows)
{
        struct schema_rows copy = {.rows = calloc(rows->count + 1, sizeof(*copy.rows))};
        bool is_failed = !copy.rows;
        for (size_t i = 0; !is_failed && i < rows->count; i++) {
                const struct schema_row *from = &rows->rows[i];
                copy.rows[copy.count++] = (struct schema_row){
                        .rowid = from->rowid,
                        .root = from->root,
                        .type = copy_string(from->type, &is_failed),
                        .name = copy_string(from->name, &is_failed),
                        .table_name = copy_string(from->table_name, &is_failed),
                        .sql = copy_string(from->sql, &is_failed),
                };
        }
        if (is_failed) {
                schema_rows_release(&copy);
                return -ENOMEM;
        }
        *ret_rows = copy;
        return 0;
}

/* Automatic indexes follow from the text of their table. VACUUM makes sqlite_sequence anew with the
 * first AUTOINCREMENT table, and not at all if there is none left. */
static bool is_told_apart(const struct schema_row *row)
{
        return row->type && row->name && row->sql && strcmp(row->name, "sqlite_sequence") != 0;
}

static bool has_same_object(const struct schema_rows *rows, const struct schema_row *row)
{
        for (size_t i = 0; i < rows->count; i++) {
                const struct schema_row *other = &rows->rows[i];
                if (is_told_apart(other) && strcmp(other->sql, row->sql) == 0 &&
                        strcmp(other->type, row->type) == 0 && strcmp(other->name, row->name) == 0)
                        return true;
        }
        return false;
}

static size_t count_objects(const struct schema_rows *rows)
{
        size_t count = 0;
        for (size_t i = 0; i < rows->count; i++)
                count += is_told_apart(&rows->rows[i]);
        return count;
}

bool schemarows_same(const struct schema_rows *a, const struct schema_rows *b)
{
        if (count_objects(a) != count_objects(b))
                return false;
        for (size_t i = 0; i < a->count; i++)
                if (is_told_apart(&a->rows[i]) && !has_same_object(b, &a->rows[i]))
                        return false;
        return true;
}
