/* SPDX-License-Identifier: MIT
 *
 * actions_bytes: values that change without changing their size, so that only the page with the
 * changed bytes is written, and values that look like pages.
 */
#include "actions.h"

#include <string.h>
#include <unistd.h>

/* A text or blob of some size with the rowid of its row. */
struct long_value {
        int64_t rowid;
        struct cell cell;
        struct bytes bytes;
};

static void long_value_release(struct long_value *value)
{
        bytes_release(&value->bytes);
}

static bool find_long_value(
        struct writer *writer, const struct table *table, int column, struct long_value *ret_value)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        if (table->is_without_rowid)
                return false;
        const char *name = table->columns[column].name;
        unsigned size = random_percent(&writer->random, 50) ? 1 : writer->settings->page_size;
        _cleanup_sql_ char *sql = sqlite3_mprintf(
                "SELECT rowid, \"%w\" FROM \"%w\" WHERE"
                " typeof(\"%w\") IN ('text', 'blob') AND length(CAST(\"%w\" AS BLOB)) >= %u"
                " LIMIT 1 OFFSET %u",
                name, table->name, name, name, size, random_below(&writer->random, 10));
        if (sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL) != SQLITE_OK ||
                sqlite3_step(statement) != SQLITE_ROW)
                return false;
        ret_value->rowid = sqlite3_column_int64(statement, 0);
        ret_value->cell = cell_of_column(statement, 1);
        bytes_append(&ret_value->bytes, ret_value->cell.bytes, ret_value->cell.size);
        ret_value->cell.bytes = ret_value->bytes.data;
        return true;
}

static void change_some_bytes(struct random *random, struct bytes *bytes)
{
        unsigned count = random_between(random, 1, 3);
        for (unsigned i = 0; i < count; i++)
                bytes->data[random_below(random, (unsigned)bytes->size)] =
                        (uint8_t)random_between(random, 'A', 'Z');
}

void edit_bytes(struct writer *writer, const struct table *table)
{
        __attribute__((cleanup(long_value_release))) struct long_value value = {0};
        _cleanup_arguments_ struct arguments arguments = {0};
        int column = pick_column(writer, table, false);
        if (!find_long_value(writer, table, column, &value))
                return;
        change_some_bytes(&writer->random, &value.bytes);
        arguments_add(&arguments, &value.cell);
        arguments_add_integer(&arguments, value.rowid);
        perform_text(writer,
                sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = ? WHERE rowid = ?", table->name,
                        table->columns[column].name),
                &arguments);
}

/* Incremental blob writing; refused for columns of an index or a foreign key. */
void write_blob(struct writer *writer, const struct table *table)
{
        __attribute__((cleanup(long_value_release))) struct long_value value = {0};
        int column = pick_column(writer, table, false);
        if (!find_long_value(writer, table, column, &value))
                return;
        sqlite3_blob *blob = NULL;
        int code = sqlite3_blob_open(writer->db, "main", table->name, table->columns[column].name,
                value.rowid, 1, &blob);
        unsigned at = random_below(&writer->random, (unsigned)value.bytes.size);
        unsigned size = (unsigned)value.bytes.size - at;
        size = size > 8 ? random_between(&writer->random, 1, 8) : size;
        if (code == SQLITE_OK)
                code = sqlite3_blob_write(blob, "ZYXWVUTS", (int)size, (int)at);
        int closed = sqlite3_blob_close(blob);
        bytes_append_format(&writer->statements,
                "blob write: %s.%s rowid %lld, %u bytes at %u: %s\n", table->name,
                table->columns[column].name, (long long)value.rowid, size, at,
                sqlite3_errstr(code != SQLITE_OK ? code : closed));
}

/* The image of some page of the database as a value. Its old bytes do no harm. */
void store_page_image(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        int column = pick_column(writer, table, false);
        unsigned size = writer->settings->page_size;
        struct cell cell = {.type = CELL_BLOB, .size = size};
        _cleanup_free_ uint8_t *page = memory_grow(NULL, size);
        memset(page, 0, size);
        if (pread(writer->page_fd, page, size, (off_t)size * random_below(&writer->random, 60)) < 0)
                return;
        cell.bytes = page;
        arguments_add(&arguments, &cell);
        _cleanup_sql_ char *place = table_place(table);
        if (table->columns[column].key || !pick_place(writer, table, false, &arguments))
                return;
        perform_text(writer,
                sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = ? WHERE %s", table->name,
                        table->columns[column].name, place),
                &arguments);
}
