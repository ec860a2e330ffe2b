/* SPDX-License-Identifier: MIT
 *
 * schema_scratch: a database in memory in which SQLite itself parses the texts.
 *
 * One serves a whole build. Each table goes into its sqlite_schema alone, with its indexes, so
 * that one text that this SQLite cannot parse hides no other table. Statistics and sequence tables
 * are not put there: SQLite would read their contents.
 *
 * The table's root is a tree that holds one row of one NULL. So SQLite itself says what a row shows
 * in the columns that it is too short for: their defaults.
 */
#include <string.h>

#include "source/schema_private.h"

enum { ROOT_ROW = 2, ROOT_KEY = 3, ROOT_INDEX = 5, ROOT_LIMIT = 2000 };

int schema_scratch_open(enum text_encoding encoding, size_t roots, sqlite3 **ret_scratch)
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

static int run(sqlite3 *db, const char *sql)
{
        return problem_errno(sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static int insert(sqlite3 *db, const struct schema_row *row, int root)
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
static int bump(sqlite3 *db)
{
        int r = run(db, "PRAGMA writable_schema=RESET");
        sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
        return r;
}

/* SQLite notices with the next bump. */
void schema_scratch_empty(sqlite3 *db)
{
        run(db, "DELETE FROM sqlite_schema WHERE name NOT IN ('sqlite_row', 'sqlite_key', "
                "'sqlite_filler')");
}

int schema_scratch_use_key(sqlite3 *db)
{
        char sql[160];
        sqlite3_snprintf(sizeof(sql), sql,
                "UPDATE sqlite_schema SET rootpage=%d WHERE rootpage=%d AND name <> 'sqlite_row'",
                ROOT_KEY, ROOT_ROW);
        int r = run(db, sql);
        return r < 0 ? r : bump(db);
}

/* Makes SQLite read the schema now, and no part of what it cannot parse. */
static int parse(sqlite3 *db)
{
        sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL);
        int r = run(db, "SELECT 1 FROM sqlite_schema");
        sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
        return r;
}

static int load(sqlite3 *db, const struct schema_row *row, int root)
{
        int r = insert(db, row, root);
        return r < 0 ? r : bump(db);
}

/* Loads an index if SQLite can parse it. */
static int load_checked(sqlite3 *db, const struct schema_row *row, int root)
{
        char sql[80];
        int r = load(db, row, root);
        if (r < 0 || parse(db) == 0)
                return r;
        sqlite3_snprintf(sizeof(sql), sql, "DELETE FROM sqlite_schema WHERE rootpage=%d", root);
        r = run(db, sql);
        return r < 0 ? r : bump(db);
}

/* Roots of indexes are any pages that are there; SQLite demands different ones in a table. */
static int load_indexes(sqlite3 *db, const struct schema_rows *rows, const char *table,
        int (*load_one)(sqlite3 *, const struct schema_row *, int))
{
        int root = ROOT_INDEX, r = 0;
        for (size_t i = 0; r == 0 && i < rows->count && root < ROOT_LIMIT; i++) {
                const struct schema_row *row = &rows->rows[i];
                if (schema_is_complete(row) && strcmp(row->type, "index") == 0 && row->sql &&
                        text_equal_name(row->table_name, table))
                        r = load_one(db, row, root++);
        }
        return r < 0 ? r : bump(db);
}

int schema_scratch_load(sqlite3 *db, const struct schema_rows *rows, const struct schema_row *table)
{
        int r = insert(db, table, ROOT_ROW);
        if (r == 0)
                r = load_indexes(db, rows, table->name, insert);
        if (r == 0 && parse(db) == 0)
                return 0;
        schema_scratch_empty(db);
        r = load(db, table, ROOT_ROW);
        if (r == 0)
                r = parse(db);
        return r < 0 ? r : load_indexes(db, rows, table->name, load_checked);
}
