/* SPDX-License-Identifier: MIT
 *
 * actions_keys: rows that change their key, or trade it.
 */
#include "actions.h"

void change_key(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        int column = pick_column(writer, table, true);
        if (column < 0)
                return;
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "UPDATE%s \"%w\" SET \"%w\" = ",
                random_percent(&writer->random, 40) ? " OR REPLACE" : "", table->name,
                table->columns[column].name);
        append_value(writer, table, (unsigned)column, sql, &arguments);
        _cleanup_sql_ char *set = sqlite3_str_finish(sql);
        _cleanup_sql_ char *place = table_place(table);
        if (pick_place(writer, table, false, &arguments))
                perform_text(writer, sqlite3_mprintf("%s WHERE %s", set, place), &arguments);
}

/* All integer keys move: every row leaves and arrives. */
void shift_keys(struct writer *writer, const struct table *table)
{
        int column = pick_column(writer, table, true);
        if (column < 0 || table->columns[column].bias != VALUE_INTEGER)
                return;
        const char *name = table->columns[column].name;
        perform_text(writer,
                sqlite3_mprintf("UPDATE OR IGNORE \"%w\" SET \"%w\" = \"%w\" + %d"
                                " WHERE \"%w\" BETWEEN -1000000000 AND 1000000000",
                        table->name, name, name,
                        (int)random_between(&writer->random, 1, 5000) - 1000, name),
                NULL);
}

static bool read_key(struct writer *writer, const struct table *table, unsigned column,
        struct arguments *arguments)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        int64_t count = count_rows(writer, table);
        if (count < 2)
                return false;
        _cleanup_sql_ char *sql = sqlite3_mprintf("SELECT \"%w\" FROM \"%w\" LIMIT 1 OFFSET %u",
                table->columns[column].name, table->name,
                random_below(&writer->random, (unsigned)count));
        if (sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL) != SQLITE_OK ||
                sqlite3_step(statement) != SQLITE_ROW)
                return false;
        struct cell cell = cell_of_column(statement, 0);
        arguments_add(arguments, &cell);
        return cell.type == CELL_INTEGER || cell.type == CELL_TEXT;
}

static bool rename_key(
        struct writer *writer, const char *sql, const struct cell *from, const struct cell *to)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        arguments_add(&arguments, to);
        arguments_add(&arguments, from);
        return perform(writer, sql, &arguments) > 0 && writer_is_well(writer);
}

/* Two rows trade keys by way of a third key: two updates in the end, not four rows. */
void swap_keys(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments keys = {0};
        int column = pick_column(writer, table, true);
        if (column < 0 || table->key_count != 1 ||
                !read_key(writer, table, (unsigned)column, &keys) ||
                !read_key(writer, table, (unsigned)column, &keys))
                return;
        if (keys.cells[0].type == CELL_INTEGER)
                arguments_add_integer(&keys, -987654321);
        else
                arguments_add_text(&keys, "between two keys");
        const char *name = table->columns[column].name;
        _cleanup_sql_ char *sql = sqlite3_mprintf(
                "UPDATE \"%w\" SET \"%w\" = ?1 WHERE \"%w\" = ?2", table->name, name, name);
        if (rename_key(writer, sql, &keys.cells[0], &keys.cells[2]) &&
                rename_key(writer, sql, &keys.cells[1], &keys.cells[0]))
                rename_key(writer, sql, &keys.cells[2], &keys.cells[1]);
}
