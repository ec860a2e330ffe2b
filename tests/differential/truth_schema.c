/* SPDX-License-Identifier: MIT
 *
 * truth_schema: see truth_schema.h.
 */
#include "truth_schema.h"

#include <errno.h>
#include <string.h>

void truth_append_alterations(const struct alterations *alterations, struct bytes *record)
{
        for (unsigned i = 0; i < alterations->count; i++) {
                const struct alteration *item = &alterations->items[i];
                bytes_append_u8(record, 'A');
                bytes_append_u32(record, item->number);
                bytes_append_u8(record, (uint8_t)item->kind);
                bytes_append_u32(record, item->count);
                for (unsigned k = 0; k < item->count; k++)
                        bytes_append_u32(record, item->origins[k]);
                bytes_append_u32(record, item->definitions.count);
                for (unsigned k = 0; k < item->definitions.count; k++)
                        bytes_append_text(record, item->definitions.items[k]);
        }
}

static const char *text_of(sqlite3_stmt *statement, int column)
{
        const char *text = (const char *)sqlite3_column_text(statement, column);
        return text ? text : "";
}

static int append_row(sqlite3 *db, const struct table *table, struct bytes *record)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        static const char sql[] = "SELECT rowid, rootpage, sql FROM sqlite_schema"
                                  " WHERE type = 'table' AND name = ?1";
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return -EIO;
        sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) != SQLITE_ROW)
                return -EIO;
        bytes_append_u64(record, (uint64_t)sqlite3_column_int64(statement, 0));
        bytes_append_u32(record, (uint32_t)sqlite3_column_int64(statement, 1));
        bytes_append_u8(record, table->is_without_rowid);
        bytes_append_text(record, table->name);
        bytes_append_text(record, text_of(statement, 2));
        return 0;
}

static void append_count(struct bytes *record, size_t place, uint32_t count)
{
        memcpy(record->data + place, &count, sizeof(count));
}

static int append_indexes(sqlite3 *db, const struct table *table, struct bytes *record)
{
        _cleanup_statement_ sqlite3_stmt *statement = NULL;
        static const char sql[] = "SELECT name, sql FROM sqlite_schema WHERE type = 'index'"
                                  " AND tbl_name = ?1 COLLATE NOCASE AND sql IS NOT NULL";
        size_t place = record->size;
        uint32_t count = 0;
        bytes_append_u32(record, 0);
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
                return -EIO;
        sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
        for (; sqlite3_step(statement) == SQLITE_ROW; count++) {
                bytes_append_text(record, text_of(statement, 0));
                bytes_append_text(record, text_of(statement, 1));
        }
        append_count(record, place, count);
        return 0;
}

static void append_parents(
        const struct catalog *catalog, const struct table *table, struct bytes *record)
{
        size_t place = record->size;
        uint32_t count = 0;
        bytes_append_u32(record, 0);
        for (unsigned i = 0; i < table->column_count; i++) {
                const char *name = table->columns[i].parent_table;
                const struct table *parent = name ? catalog_find(catalog, name) : NULL;
                if (!parent)
                        continue;
                bytes_append_u32(record, parent->number);
                count++;
        }
        append_count(record, place, count);
}

int truth_append_schema(sqlite3 *db, const struct catalog *catalog, const struct shared *shared,
        struct bytes *record)
{
        int result = 0;
        uint32_t count = 0;
        bytes_append_u8(record, 'T');
        size_t place = record->size;
        bytes_append_u32(record, 0);
        for (unsigned i = 0; result == 0 && i < catalog->table_count; i++) {
                const struct table *table = &catalog->tables[i];
                if (!shared->is_watched[table->number])
                        continue;
                count++;
                bytes_append_u32(record, table->number);
                result = append_row(db, table, record);
                bytes_append_u32(record, table->column_count);
                for (unsigned k = 0; k < table->column_count; k++) {
                        bytes_append_text(record, table->columns[k].name);
                        bytes_append_text(record, table->columns[k].declared_type);
                }
                if (result == 0)
                        result = append_indexes(db, table, record);
                append_parents(catalog, table, record);
        }
        append_count(record, place, count);
        return result;
}
