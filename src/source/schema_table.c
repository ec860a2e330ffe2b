/* SPDX-License-Identifier: MIT
 *
 * schema_table: columns, defaults, key and indexes of one table, asked of SQLite.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "source/schema_private.h"

/* ---- one table ---- */

static char affinity_of(const char *type, bool is_strict)
{
        if (is_strict && strcasecmp(type, "ANY") == 0)
                return 'A';
        if (strcasestr(type, "INT"))
                return 'D';
        if (strcasestr(type, "CHAR") || strcasestr(type, "CLOB") || strcasestr(type, "TEXT"))
                return 'B';
        if (type[0] == '\0' || strcasestr(type, "BLOB"))
                return 'A';
        if (strcasestr(type, "REAL") || strcasestr(type, "FLOA") || strcasestr(type, "DOUB"))
                return 'E';
        return 'C';
}

static int pragma_prepare(sqlite3 *db, const char *format, const char *name, sqlite3_stmt **ret)
{
        char *sql = sqlite3_mprintf(format, name);
        if (!sql)
                return -ENOMEM;
        int r = sqlite3_prepare_v2(db, sql, -1, ret, NULL);
        sqlite3_free(sql);
        return problem_errno(r);
}

static int copy_bytes(sqlite3_stmt *stmt, int column, struct value *value)
{
        const void *bytes = sqlite3_column_blob(stmt, column);
        value->size = (uint32_t)sqlite3_column_bytes(stmt, column);
        uint8_t *copy = malloc(value->size + 1u);
        if (!copy)
                return -ENOMEM;
        if (value->size > 0)
                memcpy(copy, bytes, value->size);
        value->bytes = copy;
        return 0;
}

/* Column 0 is the value, column 1 the same as BLOB: text in the database's encoding. */
static int copy_value(sqlite3_stmt *stmt, struct value *ret_value)
{
        int type = sqlite3_column_type(stmt, 0), r = 0;
        struct value v = {.type = VALUE_NULL};
        if (type == SQLITE_INTEGER)
                v = (struct value){.type = VALUE_INTEGER, .integer = sqlite3_column_int64(stmt, 0)};
        else if (type == SQLITE_FLOAT)
                v = (struct value){.type = VALUE_REAL, .real = sqlite3_column_double(stmt, 0)};
        else if (type != SQLITE_NULL) {
                v.type = type == SQLITE_TEXT ? VALUE_TEXT : VALUE_BLOB;
                r = copy_bytes(stmt, 1, &v);
        }
        if (r == 0)
                *ret_value = v;
        return r;
}

/* What SQLite shows in a row that is older than the column. A default that is no constant gives
 * NULL: its column cannot be added to a table with rows. */
static int read_default(sqlite3 *db, const struct schema_table *table, const char *scan,
        struct schema_column *column)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        char *sql = sqlite3_mprintf("SELECT \"%w\", CAST(\"%w\" AS BLOB) FROM main.\"%w\" %s",
                column->name, column->name, table->name, scan);
        if (!sql)
                return -ENOMEM;
        int r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
        sqlite3_free(sql);
        if (r == SQLITE_OK)
                r = sqlite3_step(stmt);
        if (r != SQLITE_ROW)
                return r == SQLITE_DONE ? -EIO : problem_errno(r);
        return copy_value(stmt, &column->default_value);
}

/* The first stored column is in every row. */
static bool may_be_missing(const struct schema_column *column)
{
        return column->has_default && column->storage > 0;
}

/* How the one row is read: from the table, for the indexes have no pages. NOT INDEXED does not keep
 * SQLite from the indexes of a WITHOUT ROWID table; what its key's index is named does. */
static int read_scan(sqlite3 *db, const struct schema_table *table, char **ret_scan)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = pragma_prepare(db,
                "SELECT printf('INDEXED BY \"%%w\"', name) FROM pragma_index_list(%Q, 'main')"
                " WHERE origin = 'pk'",
                table->name, &stmt);
        if (r == 0 && sqlite3_step(stmt) != SQLITE_ROW)
                return -EIO;
        return r == 0 && !(*ret_scan = schema_text(stmt, 0)) ? -ENOMEM : r;
}

static int read_defaults(sqlite3 *db, struct schema_table *table)
{
        _cleanup_free_ char *scan = NULL;
        int r = 0;
        for (unsigned i = 0; r == 0 && i < table->column_count; i++) {
                if (!may_be_missing(&table->columns[i]))
                        continue;
                if (table->is_without_rowid && !scan) {
                        r = schema_scratch_use_key(db);
                        if (r == 0)
                                r = read_scan(db, table, &scan);
                }
                if (r == 0)
                        r = read_default(
                                db, table, scan ? scan : "NOT INDEXED", &table->columns[i]);
        }
        return r;
}

static int read_flags(sqlite3 *db, struct schema_table *table)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = pragma_prepare(db,
                "SELECT wr, strict FROM pragma_table_list(%Q) WHERE schema = 'main'", table->name,
                &stmt);
        if (r < 0)
                return r;
        if (sqlite3_step(stmt) != SQLITE_ROW)
                return -EIO;
        table->is_without_rowid = sqlite3_column_int(stmt, 0);
        table->is_strict = sqlite3_column_int(stmt, 1);
        return 0;
}

static int read_column(sqlite3_stmt *stmt, struct schema_table *table, int *storage)
{
        size_t count = table->column_count;
        struct schema_column *c = schema_add(&table->columns, &count, sizeof(*c));
        if (!c)
                return -ENOMEM;
        table->column_count = (unsigned)count;
        c->name = schema_text(stmt, 0);
        c->declared_type = schema_text(stmt, 1);
        if (!c->name || !c->declared_type)
                return -ENOMEM;
        int hidden = sqlite3_column_int(stmt, 5);
        c->affinity = affinity_of(c->declared_type, table->is_strict);
        c->is_not_null = sqlite3_column_int(stmt, 2);
        c->is_virtual = hidden == 2;
        c->is_generated = hidden == 2 || hidden == 3;
        c->storage = c->is_virtual ? -1 : (*storage)++;
        c->has_default = !c->is_generated && sqlite3_column_type(stmt, 3) != SQLITE_NULL;
        return 0;
}

static int read_columns(sqlite3 *db, struct schema_table *table)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int storage = 0;
        unsigned keys[2000], key_count = 0;
        int r = pragma_prepare(db,
                "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM "
                "pragma_table_xinfo(%Q, 'main') ORDER BY cid",
                table->name, &stmt);
        while (r == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
                unsigned pk = (unsigned)sqlite3_column_int(stmt, 4);
                if (pk > 0 && pk <= COUNT(keys)) {
                        keys[pk - 1] = table->column_count;
                        key_count = pk > key_count ? pk : key_count;
                }
                r = read_column(stmt, table, &storage);
        }
        if (r < 0 || key_count == 0)
                return r;
        table->key = malloc(key_count * sizeof(*table->key));
        if (!table->key)
                return -ENOMEM;
        memcpy(table->key, keys, key_count * sizeof(*keys));
        table->key_count = key_count;
        return 0;
}

/* WITHOUT ROWID: the key columns stand first in the record, each once, then the others; the key's
 * own index knows the order (file format §2.4). */
static int read_storage(sqlite3 *db, struct schema_table *table)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        if (!table->is_without_rowid)
                return 0;
        for (unsigned i = 0; i < table->column_count; i++)
                table->columns[i].storage = -1;
        int r = pragma_prepare(db,
                "SELECT x.cid FROM pragma_index_list(%Q, 'main') AS l, "
                "pragma_index_xinfo(l.name, 'main') AS x "
                "WHERE l.origin = 'pk' ORDER BY x.seqno",
                table->name, &stmt);
        for (int position = 0; r == 0 && sqlite3_step(stmt) == SQLITE_ROW; position++) {
                int column = sqlite3_column_int(stmt, 0);
                if (column >= 0 && column < (int)table->column_count &&
                        table->columns[column].storage < 0)
                        table->columns[column].storage = position;
        }
        return r;
}

/* A single-column key without an index of its own is the rowid itself: INTEGER PRIMARY KEY, but
 * not INTEGER PRIMARY KEY DESC (SQLite, "ROWIDs and the INTEGER PRIMARY KEY"). */
static int read_rowid_column(sqlite3 *db, struct schema_table *table)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        table->rowid_column = -1;
        if (table->key_count != 1 || table->is_without_rowid)
                return 0;
        int r = pragma_prepare(db,
                "SELECT count(*) FROM pragma_index_list(%Q, 'main') WHERE origin = 'pk'",
                table->name, &stmt);
        if (r < 0)
                return r;
        if (sqlite3_step(stmt) != SQLITE_ROW)
                return -EIO;
        if (sqlite3_column_int(stmt, 0) == 0)
                table->rowid_column = (int)table->key[0];
        return 0;
}

static int read_parents(sqlite3 *db, struct schema_table *table)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = pragma_prepare(db,
                "SELECT DISTINCT \"table\" FROM pragma_foreign_key_list(%Q, 'main')", table->name,
                &stmt);
        while (r == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
                size_t count = table->parent_count;
                char **parent = schema_add(&table->parents, &count, sizeof(*parent));
                if (!parent || !(*parent = schema_text(stmt, 0)))
                        return -ENOMEM;
                table->parent_count = (unsigned)count;
        }
        return r;
}

int schema_read_table(sqlite3 *db, struct schema_table *table)
{
        int r = read_flags(db, table);
        if (r == 0)
                r = read_columns(db, table);
        if (r == 0)
                r = read_storage(db, table);
        if (r == 0)
                r = read_rowid_column(db, table);
        if (r == 0)
                r = read_defaults(db, table);
        if (r == 0)
                r = read_parents(db, table);
        return r;
}

/* ---- indexes ---- */

static int read_index_columns(sqlite3 *db, struct schema_index *index)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = pragma_prepare(db,
                "SELECT cid FROM pragma_index_xinfo(%Q, 'main') WHERE key ORDER BY seqno",
                index->name, &stmt);
        while (r == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
                int column = sqlite3_column_int(stmt, 0);
                if (column < 0) {
                        index->has_expression = true;
                        continue;
                }
                size_t count = index->column_count;
                unsigned *slot = schema_add(&index->columns, &count, sizeof(*slot));
                if (!slot)
                        return -ENOMEM;
                *slot = (unsigned)column;
                index->column_count = (unsigned)count;
        }
        return r;
}

int schema_read_indexes(sqlite3 *db, const struct schema_rows *rows,
        const struct schema_table *table, struct schema *schema)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = pragma_prepare(db,
                "SELECT name, \"unique\", partial FROM pragma_index_list(%Q, 'main')", table->name,
                &stmt);
        while (r == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
                struct schema_index *index =
                        schema_add(&schema->indexes, &schema->index_count, sizeof(*index));
                if (!index || !(index->name = schema_text(stmt, 0)) ||
                        !(index->table_name = strdup(table->name)))
                        return -ENOMEM;
                index->is_unique = sqlite3_column_int(stmt, 1);
                index->is_partial = sqlite3_column_int(stmt, 2);
                const struct schema_row *row = schema_find_row(rows, "index", index->name);
                index->rowid = row ? row->rowid : 0;
                if (row && row->sql && !(index->sql = strdup(row->sql)))
                        return -ENOMEM;
                r = read_index_columns(db, index);
        }
        return r;
}
