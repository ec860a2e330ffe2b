/* SPDX-License-Identifier: MIT
 *
 * actions_bulk: changes of many rows in one statement: pages split, merge, are freed and taken
 * by other tables, and caches of a few pages spill.
 */
#include "actions.h"

enum { MANY_ROWS = 2500 };

/* An SQL expression for new values of a column, each row another. */
static void append_expression(struct writer *writer, const struct table *table, unsigned column,
        unsigned size, sqlite3_str *sql)
{
        const struct column *target = &table->columns[column];
        bool is_key = target->key > 0;
        switch (target->bias) {
        case VALUE_INTEGER:
                sqlite3_str_appendf(sql, "pick(%u)", is_key ? 100000 : 1000);
                break;
        case VALUE_REAL:
                sqlite3_str_appendall(sql, "pick(100000) / 8.0");
                break;
        case VALUE_TEXT:
                if (is_key)
                        sqlite3_str_appendall(sql, "'key ' || pick(100000)");
                else
                        sqlite3_str_appendf(sql, "hex(filler(pick(%u)))", size / 2 + 1);
                break;
        default:
                sqlite3_str_appendf(sql, "filler(pick(%u) + %u)", size + 1, is_key ? 6 : 0);
        }
}

static void insert_series(struct writer *writer, const struct table *table, unsigned rows)
{
        static const unsigned sizes[] = {10, 30, 60, 60, 150, 400};
        unsigned size = table->column_count > 20 ? 4 : random_pick(&writer->random, sizes);
        _cleanup_sql_ char *columns = table_columns(table);
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql,
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %u) "
                "INSERT OR %s INTO \"%w\"(%s) SELECT ",
                rows, random_percent(&writer->random, 30) ? "REPLACE" : "IGNORE", table->name,
                columns);
        const char *separator = "";
        for (unsigned i = 0; i < table->column_count; i++) {
                if (table->columns[i].is_generated)
                        continue;
                sqlite3_str_appendall(sql, separator);
                separator = ", ";
                if (table->rowid_column == (int)i && random_percent(&writer->random, 60))
                        sqlite3_str_appendall(sql, "NULL");
                else if (table->columns[i].parent_table)
                        sqlite3_str_appendf(sql,
                                "(SELECT \"%w\" FROM \"%w\" LIMIT 1 OFFSET pick(7))",
                                table->columns[i].parent_column, table->columns[i].parent_table);
                else
                        append_expression(writer, table, i, size, sql);
        }
        sqlite3_str_appendall(sql, " FROM n");
        perform_text(writer, sqlite3_str_finish(sql), NULL);
}

void insert_many(struct writer *writer, const struct table *table)
{
        unsigned most = table->column_count > 20 ? 100 : 1200;
        if (count_rows(writer, table) > MANY_ROWS)
                delete_range(writer, table);
        else if (random_percent(&writer->random, 70))
                insert_series(writer, table, random_between(&writer->random, 20, most / 5));
        else
                insert_series(writer, table, random_between(&writer->random, 20, most));
}

/* Appends two ends of a range of rows, in order. */
static bool pick_range(
        struct writer *writer, const struct table *table, struct arguments *arguments)
{
        unsigned first = arguments->count;
        return pick_place(writer, table, true, arguments) &&
               (random_percent(&writer->random, 70)
                               ? pick_place(writer, table, true, arguments)
                               : (arguments_add(arguments, &arguments->cells[first]), true));
}

void update_range(struct writer *writer, const struct table *table)
{
        static const unsigned sizes[] = {0, 20, 100, 100, 300, 2000};
        _cleanup_arguments_ struct arguments arguments = {0};
        int column = pick_column(writer, table, false);
        if (table->columns[column].parent_table || !pick_range(writer, table, &arguments))
                return;
        _cleanup_sql_ char *range = table_range(table);
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "UPDATE OR %s \"%w\" SET \"%w\" = ",
                random_percent(&writer->random, 80) ? "IGNORE" : "REPLACE", table->name,
                table->columns[column].name);
        append_expression(
                writer, table, (unsigned)column, random_pick(&writer->random, sizes), sql);
        sqlite3_str_appendf(sql, " WHERE %s BETWEEN min(?1, ?2) AND max(?1, ?2)", range);
        perform_text(writer, sqlite3_str_finish(sql), &arguments);
}

void delete_range(struct writer *writer, const struct table *table)
{
        _cleanup_arguments_ struct arguments arguments = {0};
        _cleanup_sql_ char *range = table_range(table);
        if (!pick_range(writer, table, &arguments))
                return;
        perform_text(writer,
                sqlite3_mprintf("DELETE FROM \"%w\" WHERE %s BETWEEN min(?1, ?2) AND max(?1, ?2)",
                        table->name, range),
                &arguments);
}

/* Without WHERE: where no session, trigger or foreign key looks on, whole pages are freed unread.
 */
void delete_all(struct writer *writer, const struct table *table)
{
        perform_text(writer, sqlite3_mprintf("DELETE FROM \"%w\"", table->name), NULL);
}

/* Leaves in the log that look alive and belong to nobody. */
void update_all_and_delete(struct writer *writer, const struct table *table)
{
        int column = pick_column(writer, table, false);
        if (table->columns[column].parent_table)
                return;
        sqlite3_str *sql = sqlite3_str_new(NULL);
        sqlite3_str_appendf(sql, "UPDATE OR IGNORE \"%w\" SET \"%w\" = ", table->name,
                table->columns[column].name);
        append_expression(writer, table, (unsigned)column, 100, sql);
        perform_text(writer, sqlite3_str_finish(sql), NULL);
        if (!writer_is_well(writer))
                return;
        if (random_percent(&writer->random, 50))
                delete_all(writer, table);
        else
                delete_range(writer, table);
}

/* One table's pages become another's. */
void pour_into_other(struct writer *writer, const struct table *table)
{
        int64_t rows = count_rows(writer, table);
        const struct table *other = pick_table(writer);
        delete_all(writer, table);
        if (!writer_is_well(writer) || count_rows(writer, other) > MANY_ROWS)
                return;
        unsigned most = other->column_count > 20 ? 50 : 500;
        insert_series(writer, other, rows < most ? (unsigned)rows + 1 : most);
}

/* A value moves from the leaf to overflow pages and back, and stays changed. */
void grow_and_shrink(struct writer *writer, const struct table *table)
{
        int column = pick_column(writer, table, false);
        enum value_bias bias = table->columns[column].bias;
        bool is_wide = table->columns[column].key || table->columns[column].parent_table;
        _cleanup_sql_ char *place = table_place(table);
        if (is_wide || (bias != VALUE_BLOB && bias != VALUE_TEXT && bias != VALUE_ANY))
                return;
        for (unsigned i = 0; i < 2 && writer_is_well(writer); i++) {
                _cleanup_arguments_ struct arguments arguments = {0};
                size_t size = i ? random_below(&writer->random, 30)
                                : random_between(&writer->random, 500, 20000);
                arguments_add_sized(&arguments, &writer->random,
                        bias == VALUE_TEXT ? CELL_TEXT : CELL_BLOB, size);
                if (pick_place(writer, table, false, &arguments))
                        perform_text(writer,
                                sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = ? WHERE %s",
                                        table->name, table->columns[column].name, place),
                                &arguments);
        }
}

/* The file shrinks, and pages move to where others were, without a change of a row. */
void free_pages(struct writer *writer, const struct table *table)
{
        perform_text(writer,
                sqlite3_mprintf(
                        "PRAGMA incremental_vacuum(%u)", random_between(&writer->random, 1, 50)),
                NULL);
}
