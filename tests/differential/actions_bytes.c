/* SPDX-License-Identifier: MIT
 *
 * actions_bytes: values that change without changing their size, so that only the page with the
 * changed bytes is written, and values that look like pages.
 */
#include "actions.h"

#include <string.h>
#include <unistd.h>

/* A text or blob of some size, and the values of table_place() for its row. */
struct long_value {
        struct arguments place;
        struct cell cell;
        struct bytes bytes;
};

static void long_value_release(struct long_value *value)
{
        bytes_release(&value->bytes);
        arguments_release(&value->place);
}

static bool find_long_value(
        struct writer *writer, const struct table *table, int column, struct long_value *ret_value)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        const char *name = table->columns[column].name;
        _cleanup_sql_ char *columns = table_place_columns(table);
        unsigned size = random_percent(&writer->random, 50) ? 1 : writer->settings->page_size;
        _cleanup_sql_ char *sql = sqlite3_mprintf(
                "SELECT \"%w\", %s FROM \"%w\" WHERE"
                " typeof(\"%w\") IN ('text', 'blob') AND length(CAST(\"%w\" AS BLOB)) >= %u"
                " LIMIT 1 OFFSET %u",
                name, columns, table->name, name, name, size, random_below(&writer->random, 10));
        if (sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL) != SQLITE_OK ||
                sqlite3_step(statement) != SQLITE_ROW)
                return false;
        for (int i = 1; i < sqlite3_column_count(statement); i++) {
                struct cell cell = cell_of_column(statement, i);
                arguments_add(&ret_value->place, &cell);
        }
        ret_value->cell = cell_of_column(statement, 0);
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
        for (unsigned i = 0; i < value.place.count; i++)
                arguments_add(&arguments, &value.place.cells[i]);
        _cleanup_sql_ char *place = table_place(table);
        perform_text(writer,
                sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = ? WHERE %s", table->name,
                        table->columns[column].name, place),
                &arguments);
}

/* SQLite 3.40 counts the VIRTUAL columns when it looks for the value in the record, so that behind
 * one it writes into another column, and past that one's index; and what is computed of the value
 * stays as it was. */
static bool is_written_right(const struct table *table)
{
        for (unsigned i = 0; i < table->column_count; i++)
                if (table->columns[i].is_generated)
                        return false;
        return !table->is_without_rowid;
}

/* Incremental blob writing; refused for columns of an index or a foreign key. Two texts in UTF-16
 * whose bytes differ may be one in UTF-8, which the session extension compares: so no texts there.
 */
void write_blob(struct writer *writer, const struct table *table)
{
        __attribute__((cleanup(long_value_release))) struct long_value value = {0};
        int column = pick_column(writer, table, false);
        if (!is_written_right(table) || !find_long_value(writer, table, column, &value))
                return;
        if (value.cell.type == CELL_TEXT && strcmp(writer->settings->encoding, "UTF-8") != 0)
                return;
        int64_t rowid = value.place.cells[0].integer;
        sqlite3_blob *blob = NULL;
        int code = sqlite3_blob_open(
                writer->db, "main", table->name, table->columns[column].name, rowid, 1, &blob);
        unsigned at = random_below(&writer->random, (unsigned)value.bytes.size);
        unsigned size = (unsigned)value.bytes.size - at;
        size = size > 8 ? random_between(&writer->random, 1, 8) : size;
        if (code == SQLITE_OK)
                code = sqlite3_blob_write(blob, "ZYXWVUTS", (int)size, (int)at);
        int closed = sqlite3_blob_close(blob);
        bytes_append_format(&writer->statements,
                "blob write: %s.%s rowid %lld, %u bytes at %u: %s\n", table->name,
                table->columns[column].name, (long long)rowid, size, at,
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
