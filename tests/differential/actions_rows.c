/* SPDX-License-Identifier: MIT
 *
 * actions_rows: changes of single rows.
 */
#include "actions.h"

static const char *const conflicts[] = {
        "", "", "", "", " OR IGNORE", " OR REPLACE", " OR REPLACE", " OR FAIL", " OR ABORT"};

static const char *pick_conflict(struct writer *writer)
{
        return random_below(&writer->random, 400) == 0 ? " OR ROLLBACK"
                                                       : random_pick(&writer->random, conflicts);
}

/* (?, ?, …) for the columns that are not left out. */
static void append_tuple(struct writer *writer, const struct table *table, const bool *is_left_out,
        sqlite3_str *sql, struct arguments *arguments)
{
        const char *separator = "(";
        for (unsigned i = 0; i < table->column_count; i++) {
                if (is_left_out[i])
                        continue;
                sqlite3_str_appendall(sql, separator);
                append_value(writer, table, i, sql, arguments);
                separator = ", ";
        }
        sqlite3_str_appendall(sql, ")");
}

/* INSERT … VALUES of some rows; sometimes a column is left to its default. */
static char *insert_text(struct writer *writer, const struct table *table, unsigned rows,
        const char *conflict, struct arguments *arguments)
{
        _cleanup_free_ bool *is_left_out = memory_grow(NULL, table->column_count);
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "INSERT%s INTO \"%w\"", conflict, table->name);
        bool is_partial = random_percent(&writer->random, 15);
        const char *separator = "(";
        for (unsigned i = 0; i < table->column_count; i++) {
                const struct column *column = &table->columns[i];
                is_left_out[i] = column->is_generated ||
                                 (is_partial && i > 0 && !column->key && !column->is_not_null &&
                                         random_percent(&writer->random, 50));
                if (is_left_out[i])
                        continue;
                sqlite3_str_appendf(sql, "%s\"%w\"", separator, column->name);
                separator = ", ";
        }
        sqlite3_str_appendall(sql, ") VALUES ");
        for (unsigned i = 0; i < rows; i++) {
                sqlite3_str_appendall(sql, i ? ", " : "");
                append_tuple(writer, table, is_left_out, sql, arguments);
        }
        return sqlite3_str_finish(sql);
}

void insert_rows(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        unsigned most = table->column_count > 20 ? 2 : 8;
        char *sql = insert_text(writer, table, random_between(&writer->random, 1, most),
                pick_conflict(writer), &arguments);
        perform_text(writer, sql, &arguments);
}

void insert_defaults(struct writer *writer, const struct table *table)
{
        perform_text(
                writer, sqlite3_mprintf("INSERT INTO \"%w\" DEFAULT VALUES", table->name), NULL);
}

void update_row(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "UPDATE%s \"%w\" SET", pick_conflict(writer), table->name);
        unsigned first = (unsigned)pick_column(writer, table, false);
        unsigned count = random_between(&writer->random, 1, 3);
        for (unsigned i = 0; i < count && first + i < table->column_count; i++) {
                if (table->columns[first + i].is_generated)
                        break;
                sqlite3_str_appendf(
                        sql, "%s \"%w\" = ", i ? "," : "", table->columns[first + i].name);
                append_value(writer, table, first + i, sql, &arguments);
        }
        _cleanup_sql_ char *place = table_place(table);
        sqlite3_str_appendf(sql, " WHERE %s", place);
        _cleanup_sql_ char *text = sqlite3_str_finish(sql);
        if (pick_place(writer, table, false, &arguments))
                perform(writer, text, &arguments);
}

void delete_row(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        _cleanup_sql_ char *place = table_place(table);
        if (pick_place(writer, table, false, &arguments))
                perform_text(writer,
                        sqlite3_mprintf("DELETE FROM \"%w\" WHERE %s", table->name, place),
                        &arguments);
}

void upsert_row(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        _cleanup_sql_ char *insert =
                insert_text(writer, table, random_between(&writer->random, 1, 3), "", &arguments);
        const char *column = table->columns[pick_column(writer, table, false)].name;
        if (!table->key_count)
                return;
        bool is_nothing = random_percent(&writer->random, 15);
        perform_text(writer,
                is_nothing
                        ? sqlite3_mprintf("%s ON CONFLICT DO NOTHING", insert)
                        : sqlite3_mprintf("%s ON CONFLICT DO UPDATE SET \"%w\" = excluded.\"%w\"",
                                  insert, column, column),
                &arguments);
}

void update_same(struct writer *writer, const struct table *table)
{
        const char *column = table->columns[pick_column(writer, table, false)].name;
        perform_text(writer,
                sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = \"%w\"", table->name, column, column),
                NULL);
}

/* Reads one column of the row at `place` (arguments of table_place()), as one more argument. */
static bool read_column(struct writer *writer, const struct table *table, unsigned column,
        const struct arguments *place, struct arguments *arguments)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        _cleanup_sql_ char *where = table_place(table);
        _cleanup_sql_ char *sql = sqlite3_mprintf("SELECT \"%w\" FROM \"%w\" WHERE %s",
                table->columns[column].name, table->name, where);
        if (sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL) != SQLITE_OK)
                return false;
        for (unsigned i = 0; i < place->count; i++)
                cell_bind(statement, (int)i + 1, &place->cells[i]);
        if (sqlite3_step(statement) != SQLITE_ROW)
                return false;
        struct cell cell = cell_of_column(statement, 0);
        arguments_add(arguments, &cell);
        return true;
}

void change_and_restore(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments place = {0};
        _cleanup_arguments_ struct arguments change = {0};
        _cleanup_arguments_ struct arguments restore = {0};
        int column = pick_column(writer, table, false);
        if (table->columns[column].key || table->columns[column].parent_table ||
                !pick_place(writer, table, false, &place) ||
                !read_column(writer, table, (unsigned)column, &place, &restore))
                return;
        sqlite3_str *text = sqlite3_str_new(NULL);
        append_value(writer, table, (unsigned)column, text, &change);
        sqlite3_free(sqlite3_str_finish(text));
        for (unsigned i = 0; i < place.count; i++) {
                arguments_add(&change, &place.cells[i]);
                arguments_add(&restore, &place.cells[i]);
        }
        _cleanup_sql_ char *where = table_place(table);
        _cleanup_sql_ char *sql = sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = ? WHERE %s",
                table->name, table->columns[column].name, where);
        if (perform(writer, sql, &change) > 0)
                perform(writer, sql, &restore);
}

void insert_and_delete(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        char *sql = insert_text(writer, table, 1, "", &arguments);
        if (perform_text(writer, sql, &arguments) > 0 && !table->is_without_rowid)
                perform_text(writer,
                        sqlite3_mprintf("DELETE FROM \"%w\" WHERE rowid = last_insert_rowid()",
                                table->name),
                        NULL);
}

/* The highest rowid goes and comes back with another row, where there is no AUTOINCREMENT. */
void delete_last_and_insert(struct writer *writer, const struct table *table)
{
        if (table->is_without_rowid)
                return;
        perform_text(writer,
                sqlite3_mprintf("DELETE FROM \"%w\" WHERE rowid = (SELECT max(rowid) FROM \"%w\")",
                        table->name, table->name),
                NULL);
        if (writer_is_well(writer))
                insert_rows(writer, table);
}

/* A row goes and comes again in the same transaction, as it was or with one value changed: an
 * update, or nothing at all, in the end. */
void delete_and_insert_again(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments place = {0};
        _cleanup_arguments_ struct arguments row = {0};
        _cleanup_sql_ char *columns = table_columns(table);
        _cleanup_sql_ char *where = table_place(table);
        bool is_known = pick_place(writer, table, false, &place);
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "INSERT INTO \"%w\"(%s) VALUES", table->name, columns);
        unsigned count = 0;
        for (unsigned i = 0; is_known && i < table->column_count; i++) {
                if (table->columns[i].is_generated)
                        continue;
                sqlite3_str_appendall(sql, count++ ? ", ?" : "(?");
                is_known = read_column(writer, table, i, &place, &row);
        }
        _cleanup_sql_ char *insert = sqlite3_str_finish(sql);
        if (!is_known || perform_text(writer,
                                 sqlite3_mprintf("DELETE FROM \"%w\" WHERE %s", table->name, where),
                                 &place) <= 0)
                return;
        unsigned last = row.count - 1;
        if (row.cells[last].type == CELL_INTEGER && random_percent(&writer->random, 50))
                row.cells[last].integer ^= 1;
        _cleanup_sql_ char *closed = sqlite3_mprintf("%s)", insert);
        if (writer_is_well(writer))
                perform(writer, closed, &row);
}
