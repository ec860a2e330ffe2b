/* SPDX-License-Identifier: MIT
 *
 * schema: rows of sqlite_schema to tables, columns, keys and indexes.
 *
 * One scratch database serves a whole build. Each table goes into its sqlite_schema alone, with
 * its indexes, so that one text that this SQLite cannot parse hides no other table. Statistics
 * and sequence tables are not put there: SQLite would read their contents.
 *
 * Its root is a tree that holds one row of one NULL. So SQLite itself says what a row shows in the
 * columns that it is too short for: their defaults.
 */
#include "source/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ground/cleanup.h"

/* Shadow tables of the modules that come with SQLite and of well-known others: what follows the
 * name of the virtual table, digits aside. */
static const struct {
        const char *module, *suffix;
} shadows[] = {{"fts5", "data"}, {"fts5", "idx"}, {"fts5", "content"}, {"fts5", "docsize"},
        {"fts5", "config"}, {"fts4", "content"}, {"fts4", "segments"}, {"fts4", "segdir"},
        {"fts4", "docsize"}, {"fts4", "stat"}, {"fts3", "content"}, {"fts3", "segments"},
        {"fts3", "segdir"}, {"rtree", "node"}, {"rtree", "parent"}, {"rtree", "rowid"},
        {"rtree_i32", "node"}, {"rtree_i32", "parent"}, {"rtree_i32", "rowid"}, {"geopoly", "node"},
        {"geopoly", "parent"}, {"geopoly", "rowid"}, {"spellfix1", "vocab"}, {"vec0", "chunks"},
        {"vec0", "rowids"}, {"vec0", "info"}, {"vec0", "auxiliary"}, {"vec0", "vector_chunks"},
        {"vec0", "metadatachunks"}, {"vec0", "metadatatext"}};

/* In the scratch database. */
enum { ROOT_ROW = 2, ROOT_KEY = 3, ROOT_INDEX = 5, ROOT_LIMIT = 2000 };

void schema_rows_release(struct schema_rows *rows)
{
        for (size_t i = 0; i < rows->count; i++) {
                free(rows->rows[i].type);
                free(rows->rows[i].name);
                free(rows->rows[i].table_name);
                free(rows->rows[i].sql);
        }
        free(rows->rows);
        *rows = (struct schema_rows){0};
}

static char *column_copy(sqlite3_stmt *stmt, int column)
{
        const char *text = (const char *)sqlite3_column_text(stmt, column);
        return text ? strdup(text) : NULL;
}

/* A damaged sqlite_schema may lack anything. */
static bool is_complete(const struct schema_row *row)
{
        return row->type && row->name && row->table_name;
}

/* Grows an array by one zeroed element. */
static void *array_add(void *array_pointer, size_t *count, size_t size)
{
        void **array = array_pointer;
        char *grown = realloc(*array, (*count + 1) * size);
        if (!grown)
                return NULL;
        *array = grown;
        return memset(grown + (*count)++ * size, 0, size);
}

int schema_rows_read(sqlite3 *db, struct schema_rows *ret_rows)
{
        _cleanup_(schema_rows_release) struct schema_rows rows = {0};
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = sqlite3_prepare_v2(db,
                "SELECT rowid, type, name, tbl_name, rootpage, sql FROM main.sqlite_schema "
                "ORDER BY rowid",
                -1, &stmt, NULL);
        while (r == SQLITE_OK || r == SQLITE_ROW) {
                r = sqlite3_step(stmt);
                if (r != SQLITE_ROW)
                        break;
                struct schema_row *row = array_add(&rows.rows, &rows.count, sizeof(*row));
                if (!row)
                        return -ENOMEM;
                row->rowid = sqlite3_column_int64(stmt, 0);
                row->type = column_copy(stmt, 1);
                row->name = column_copy(stmt, 2);
                row->table_name = column_copy(stmt, 3);
                row->root = (uint32_t)sqlite3_column_int64(stmt, 4);
                row->sql = column_copy(stmt, 5);
        }
        if (r != SQLITE_DONE)
                return problem_errno(r);
        *ret_rows = rows;
        rows = (struct schema_rows){0};
        return 0;
}

/* ---- the scratch database ---- */

/* `roots`: how many indexes it may hold at once. */
static int scratch_open(enum text_encoding encoding, size_t roots, sqlite3 **ret_scratch)
{
        static const char *const names[] = {"UTF-8", "UTF-8", "UTF-16le", "UTF-16be"};
        _cleanup_sqlite_ sqlite3 *db = NULL;
        char pragma[64], filler[80];
        int r = sqlite3_open_v2(":memory:", &db,
                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
        if (r != SQLITE_OK)
                return problem_errno(r);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
        /* Quoted strings as names are accepted as the application's SQLite accepts them. */
        sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 1, NULL);
        sqlite3_snprintf(sizeof(pragma), pragma, "PRAGMA encoding='%s'", names[encoding]);
        r = sqlite3_exec(db, pragma, NULL, NULL, NULL);
        /* The names are reserved: no table of an application has them. The filler gives SQLite
         * pages that the roots of indexes may name; nothing reads them. */
        if (r == SQLITE_OK)
                r = sqlite3_exec(db,
                        "PRAGMA page_size=512; PRAGMA auto_vacuum=NONE; PRAGMA writable_schema=ON;"
                        "CREATE TABLE sqlite_row(a); INSERT INTO sqlite_row VALUES(NULL);"
                        "CREATE TABLE sqlite_key(a PRIMARY KEY) WITHOUT ROWID;"
                        "INSERT INTO sqlite_key VALUES(0);"
                        "CREATE TABLE sqlite_filler(b)",
                        NULL, NULL, NULL);
        sqlite3_snprintf(sizeof(filler), filler,
                "INSERT INTO sqlite_filler VALUES(zeroblob(%d * 512))",
                (int)(roots < ROOT_LIMIT ? roots : ROOT_LIMIT));
        if (r == SQLITE_OK)
                r = sqlite3_exec(db, filler, NULL, NULL, NULL);
        if (r != SQLITE_OK)
                return problem_errno(r);
        *ret_scratch = steal(db);
        return 0;
}

static int scratch_run(sqlite3 *db, const char *sql)
{
        return problem_errno(sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static int scratch_insert(sqlite3 *db, const struct schema_row *row, int root)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = sqlite3_prepare_v2(
                db, "INSERT INTO sqlite_schema VALUES(?1, ?2, ?3, ?4, ?5)", -1, &stmt, NULL);
        if (r != SQLITE_OK)
                return problem_errno(r);
        sqlite3_bind_text(stmt, 1, row->type, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 2, row->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 3, row->table_name, -1, SQLITE_STATIC);
        sqlite3_bind_int(stmt, 4, root);
        sqlite3_bind_text(stmt, 5, row->sql, -1, SQLITE_STATIC);
        return problem_errno(sqlite3_step(stmt));
}

/* Makes SQLite read the schema again at the next statement. */
static int scratch_bump(sqlite3 *db)
{
        int r = scratch_run(db, "PRAGMA writable_schema=RESET");
        sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
        return r;
}

/* SQLite notices with the next scratch_bump. */
static void scratch_empty(sqlite3 *db)
{
        scratch_run(db, "DELETE FROM sqlite_schema WHERE name NOT IN ('sqlite_row', 'sqlite_key', "
                        "'sqlite_filler')");
}

/* Gives the table, which is WITHOUT ROWID, the tree with a row that suits it. */
static int scratch_use_key(sqlite3 *db)
{
        char sql[160];
        sqlite3_snprintf(sizeof(sql), sql,
                "UPDATE sqlite_schema SET rootpage=%d WHERE rootpage=%d AND name <> 'sqlite_row'",
                ROOT_KEY, ROOT_ROW);
        int r = scratch_run(db, sql);
        return r < 0 ? r : scratch_bump(db);
}

/* Makes SQLite read the schema now, and no part of what it cannot parse. */
static int scratch_parse(sqlite3 *db)
{
        sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL);
        int r = scratch_run(db, "SELECT 1 FROM sqlite_schema");
        sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
        return r;
}

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

/* Which tree to read, for a FROM clause: the rows' own, and no index that has the column too. In a
 * table WITHOUT ROWID that is the key's index, and NOT INDEXED keeps SQLite from no other one. The
 * caller frees. */
static int name_tree(sqlite3 *db, const struct schema_table *table, char **ret_clause)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = pragma_prepare(db,
                "SELECT name FROM pragma_index_list(%Q, 'main') WHERE origin = 'pk'", table->name,
                &stmt);
        if (r < 0)
                return r;
        if (!table->is_without_rowid)
                *ret_clause = sqlite3_mprintf("NOT INDEXED");
        else if (sqlite3_step(stmt) == SQLITE_ROW)
                *ret_clause = sqlite3_mprintf("INDEXED BY \"%w\"", sqlite3_column_text(stmt, 0));
        else
                return -EIO;
        return *ret_clause ? 0 : -ENOMEM;
}

/* What SQLite shows in a row that is older than the column. A default that is no constant gives
 * NULL: its column cannot be added to a table with rows. */
static int read_default(sqlite3 *db, const struct schema_table *table, const char *tree,
        struct schema_column *column)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        char *sql = sqlite3_mprintf("SELECT \"%w\", CAST(\"%w\" AS BLOB) FROM main.\"%w\" %s",
                column->name, column->name, table->name, tree);
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

static int read_defaults(sqlite3 *db, struct schema_table *table)
{
        char *tree = NULL;
        int r = name_tree(db, table, &tree);
        bool has_root = !table->is_without_rowid;
        for (unsigned i = 0; r == 0 && i < table->column_count; i++) {
                if (!may_be_missing(&table->columns[i]))
                        continue;
                if (!has_root)
                        r = scratch_use_key(db);
                has_root = true;
                if (r == 0)
                        r = read_default(db, table, tree, &table->columns[i]);
        }
        sqlite3_free(tree);
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
        struct schema_column *c = array_add(&table->columns, &count, sizeof(*c));
        if (!c)
                return -ENOMEM;
        table->column_count = (unsigned)count;
        c->name = column_copy(stmt, 0);
        c->declared_type = column_copy(stmt, 1);
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
                char **parent = array_add(&table->parents, &count, sizeof(*parent));
                if (!parent || !(*parent = column_copy(stmt, 0)))
                        return -ENOMEM;
                table->parent_count = (unsigned)count;
        }
        return r;
}

static int read_table(sqlite3 *db, struct schema_table *table)
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
                unsigned *slot = array_add(&index->columns, &count, sizeof(*slot));
                if (!slot)
                        return -ENOMEM;
                *slot = (unsigned)column;
                index->column_count = (unsigned)count;
        }
        return r;
}

static const struct schema_row *find_row(
        const struct schema_rows *rows, const char *type, const char *name)
{
        for (size_t i = 0; i < rows->count; i++)
                if (is_complete(&rows->rows[i]) && strcmp(rows->rows[i].type, type) == 0 &&
                        text_equal_name(rows->rows[i].name, name))
                        return &rows->rows[i];
        return NULL;
}

static int read_indexes(sqlite3 *db, const struct schema_rows *rows,
        const struct schema_table *table, struct schema *schema)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = pragma_prepare(db,
                "SELECT name, \"unique\", partial FROM pragma_index_list(%Q, 'main')", table->name,
                &stmt);
        while (r == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
                struct schema_index *index =
                        array_add(&schema->indexes, &schema->index_count, sizeof(*index));
                if (!index || !(index->name = column_copy(stmt, 0)) ||
                        !(index->table_name = strdup(table->name)))
                        return -ENOMEM;
                index->is_unique = sqlite3_column_int(stmt, 1);
                index->is_partial = sqlite3_column_int(stmt, 2);
                const struct schema_row *row = find_row(rows, "index", index->name);
                index->rowid = row ? row->rowid : 0;
                if (row && row->sql && !(index->sql = strdup(row->sql)))
                        return -ENOMEM;
                r = read_index_columns(db, index);
        }
        return r;
}

/* ---- the whole ---- */

static bool is_virtual(const struct schema_row *row)
{
        return row->sql && strncasecmp(row->sql, "CREATE VIRTUAL", 14) == 0;
}

/* The module of a virtual table: the name after USING, which is the first word that is not quoted
 * and follows the table's name. */
static void copy_module(const char *sql, char *ret_module, size_t size)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_$";
        const char *p = sql + strlen("CREATE VIRTUAL");
        for (bool is_found = false; *p && !is_found;) {
                bool is_quoted = strchr("\"'`[", *p);
                const char *end = is_quoted ? strchr(p + 1, *p == '[' ? ']' : *p) : p;
                size_t word = is_quoted ? 0 : strspn(p, letters);
                is_found = word == 5 && strncasecmp(p, "USING", 5) == 0;
                p = end ? end + (word ? word : 1) : "";
        }
        p += strcspn(p, letters);
        snprintf(ret_module, size, "%.*s", (int)strspn(p, letters), p);
}

static bool is_module_shadow(const char *module, const char *suffix)
{
        bool is_known = false, has_suffix = false;
        for (size_t i = 0; i < COUNT(shadows); i++) {
                size_t size = strlen(shadows[i].suffix);
                bool is_module = strcasecmp(module, shadows[i].module) == 0;
                bool is_suffix = strncasecmp(suffix, shadows[i].suffix, size) == 0 &&
                                 suffix[size + strspn(suffix + size, "0123456789")] == '\0';
                if (is_module && is_suffix)
                        return true;
                is_known |= is_module;
                has_suffix |= is_suffix;
        }
        return !is_known && has_suffix;
}

/* <virtual table>_<suffix>; either part may have underscores of its own. */
static bool is_shadow(const struct schema_rows *rows, const char *name)
{
        char module[64];
        for (const char *cut = strchr(name, '_'); cut; cut = strchr(cut + 1, '_')) {
                _cleanup_free_ char *owner = strndup(name, (size_t)(cut - name));
                const struct schema_row *row = owner ? find_row(rows, "table", owner) : NULL;
                if (!row || !is_virtual(row))
                        continue;
                copy_module(row->sql, module, sizeof(module));
                if (is_module_shadow(module, cut + 1))
                        return true;
        }
        return false;
}

static enum schema_kind kind_of(const struct schema_rows *rows, const struct schema_row *row)
{
        if (strcmp(row->type, "view") == 0)
                return SCHEMA_VIEW;
        if (is_virtual(row))
                return SCHEMA_VIRTUAL;
        if (strncasecmp(row->name, "sqlite_", 7) == 0)
                return SCHEMA_INTERNAL;
        return is_shadow(rows, row->name) ? SCHEMA_SHADOW : SCHEMA_TABLE;
}

static int load(sqlite3 *db, const struct schema_row *row, int root)
{
        int r = scratch_insert(db, row, root);
        return r < 0 ? r : scratch_bump(db);
}

/* Loads an index if SQLite can parse it. */
static int load_checked(sqlite3 *db, const struct schema_row *row, int root)
{
        char sql[80];
        int r = load(db, row, root);
        if (r < 0 || scratch_parse(db) == 0)
                return r;
        sqlite3_snprintf(sizeof(sql), sql, "DELETE FROM sqlite_schema WHERE rootpage=%d", root);
        r = scratch_run(db, sql);
        return r < 0 ? r : scratch_bump(db);
}

/* Roots of indexes are any pages that are there; SQLite demands different ones in a table. */
static int load_indexes(sqlite3 *db, const struct schema_rows *rows, const char *table,
        int (*load_one)(sqlite3 *, const struct schema_row *, int))
{
        int root = ROOT_INDEX, r = 0;
        for (size_t i = 0; r == 0 && i < rows->count && root < ROOT_LIMIT; i++) {
                const struct schema_row *row = &rows->rows[i];
                if (is_complete(row) && strcmp(row->type, "index") == 0 && row->sql &&
                        text_equal_name(row->table_name, table))
                        r = load_one(db, row, root++);
        }
        return r < 0 ? r : scratch_bump(db);
}

/* Puts the table and its indexes into the scratch database. If SQLite cannot parse all of them,
 * the table must do alone, and each index shows whether it does. */
static int scratch_load(sqlite3 *db, const struct schema_rows *rows, const struct schema_row *table)
{
        int r = scratch_insert(db, table, ROOT_ROW);
        if (r == 0)
                r = load_indexes(db, rows, table->name, scratch_insert);
        if (r == 0 && scratch_parse(db) == 0)
                return 0;
        scratch_empty(db);
        r = load(db, table, ROOT_ROW);
        if (r == 0)
                r = scratch_parse(db);
        return r < 0 ? r : load_indexes(db, rows, table->name, load_checked);
}

static int add_table(
        sqlite3 *db, const struct schema_rows *rows, const struct schema_row *row, struct schema *s)
{
        struct schema_table *table = array_add(&s->tables, &s->table_count, sizeof(*table));
        if (!table || !(table->name = strdup(row->name)) || !(table->sql = strdup(row->sql)))
                return -ENOMEM;
        table->rowid = row->rowid;
        table->root = row->root;
        table->kind = kind_of(rows, row);
        table->rowid_column = -1;
        if (table->kind != SCHEMA_TABLE && table->kind != SCHEMA_SHADOW)
                return 0;
        int r = scratch_load(db, rows, row);
        if (r == 0)
                r = read_table(db, table);
        if (r == 0)
                r = read_indexes(db, rows, table, s);
        table->is_parsed = r == 0;
        scratch_empty(db);
        return r == -ENOMEM ? r : 0;
}

int schema_build(
        const struct schema_rows *rows, enum text_encoding encoding, struct schema **ret_schema)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        int r = scratch_open(encoding, rows->count, &db);
        if (r < 0)
                return r;
        struct schema *schema = calloc(1, sizeof(*schema));
        if (!schema)
                return -ENOMEM;
        schema->references = 1;
        for (size_t i = 0; r == 0 && i < rows->count; i++) {
                const struct schema_row *row = &rows->rows[i];
                bool is_table = is_complete(row) && row->sql &&
                                (strcmp(row->type, "table") == 0 || strcmp(row->type, "view") == 0);
                if (is_table)
                        r = add_table(db, rows, row, schema);
        }
        if (r < 0) {
                schema_unref(schema);
                return r;
        }
        *ret_schema = schema;
        return 0;
}

struct schema *schema_ref(struct schema *schema)
{
        schema->references++;
        return schema;
}

static void table_release(struct schema_table *table)
{
        for (unsigned i = 0; i < table->column_count; i++) {
                struct schema_column *c = &table->columns[i];
                free(c->name);
                free(c->declared_type);
                if (c->default_value.type == VALUE_TEXT || c->default_value.type == VALUE_BLOB)
                        free((void *)c->default_value.bytes);
        }
        for (unsigned i = 0; i < table->parent_count; i++)
                free(table->parents[i]);
        free(table->parents);
        free(table->columns);
        free(table->key);
        free(table->name);
        free(table->sql);
}

void schema_unref(struct schema *schema)
{
        if (!schema || --schema->references > 0)
                return;
        for (size_t i = 0; i < schema->table_count; i++)
                table_release(&schema->tables[i]);
        for (size_t i = 0; i < schema->index_count; i++) {
                free(schema->indexes[i].name);
                free(schema->indexes[i].table_name);
                free(schema->indexes[i].sql);
                free(schema->indexes[i].columns);
        }
        free(schema->tables);
        free(schema->indexes);
        free(schema);
}

const struct schema_table *schema_find_table(const struct schema *schema, const char *name)
{
        for (size_t i = 0; i < schema->table_count; i++)
                if (text_equal_name(schema->tables[i].name, name))
                        return &schema->tables[i];
        return NULL;
}

const struct schema_table *schema_find_rowid(const struct schema *schema, int64_t rowid)
{
        for (size_t i = 0; i < schema->table_count; i++)
                if (schema->tables[i].rowid == rowid)
                        return &schema->tables[i];
        return NULL;
}

const struct schema_index *schema_find_index(const struct schema *schema, const char *name)
{
        for (size_t i = 0; i < schema->index_count; i++)
                if (text_equal_name(schema->indexes[i].name, name))
                        return &schema->indexes[i];
        return NULL;
}

int schema_find_column(const struct schema_table *table, const char *name)
{
        for (unsigned i = 0; i < table->column_count; i++)
                if (text_equal_name(table->columns[i].name, name))
                        return (int)i;
        return -1;
}
