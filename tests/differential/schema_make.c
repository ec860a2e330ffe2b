/* SPDX-License-Identifier: MIT
 *
 * schema_make: the schema that a round begins with: the marker table, a table that triggers
 * write to, and several tables of random kinds with indexes, foreign keys and triggers.
 */
#include "schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "naming.h"

/* $T the table, $C one of its columns, $L the table that triggers write to. The last one needs
 * rowids, and ends by itself with recursive triggers too. */
static const char *const trigger_bodies[] = {
        "AFTER INSERT ON $T BEGIN INSERT INTO $L(event, value) VALUES('insert', new.$C); END",
        "AFTER DELETE ON $T BEGIN INSERT INTO $L(event, value) VALUES('delete', old.$C); END",
        "BEFORE UPDATE ON $T BEGIN UPDATE $L SET event = 'update', value = old.$C"
        " WHERE rowid = (SELECT max(rowid) FROM $L); END",
        "AFTER UPDATE ON $T BEGIN DELETE FROM $L WHERE new.$C IS NOT NULL"
        " AND rowid = (SELECT min(rowid) FROM $L); END",
        "AFTER UPDATE OF $C ON $T WHEN typeof(new.$C) = 'integer' AND new.$C BETWEEN 0 AND 5"
        " BEGIN UPDATE $T SET $C = new.$C + 1 WHERE rowid = new.rowid; END",
};

static int execute(sqlite3 *db, const char *sql)
{
        _cleanup_sql_ char *message = NULL;
        if (sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK)
                return 0;
        fprintf(stderr, "differential: %s: %s\n", message, sql);
        return -EIO;
}

static void append_quoted(struct bytes *sql, const char *name)
{
        _cleanup_sql_ char *quoted = sqlite3_mprintf("\"%w\"", name);
        bytes_append(sql, quoted, strlen(quoted));
}

static int make_trigger(
        sqlite3 *db, struct random *random, const struct table *table, const char *log_table)
{
        const char *column = table->columns[random_below(random, table->column_count)].name;
        _cleanup_bytes_ struct bytes sql = {0};
        bytes_append_format(&sql, "CREATE TRIGGER r%llu ",
                (unsigned long long)query_integer(db, "SELECT count(*) FROM sqlite_schema"));
        unsigned bodies = COUNT(trigger_bodies) - (table->is_without_rowid ? 1 : 0);
        for (const char *at = trigger_bodies[random_below(random, bodies)]; *at; at++) {
                if (*at != '$') {
                        bytes_append_u8(&sql, (uint8_t)*at);
                        continue;
                }
                at++;
                append_quoted(&sql, *at == 'T' ? table->name : *at == 'C' ? column : log_table);
        }
        return execute(db, bytes_string(&sql));
}

static int make_one_table(
        sqlite3 *db, struct random *random, struct shared *shared, struct catalog *catalog)
{
        unsigned number;
        _cleanup_sql_ char *name = naming_new_table(random, shared, &number);
        _cleanup_sql_ char *sql = schema_table(random, name, catalog);
        int result = execute(db, sql);
        if (result == 0)
                result = catalog_refresh(db, catalog);
        return result;
}

/* Indexes and triggers of one table. A unique index is made while the tables are empty. */
static int adorn_table(sqlite3 *db, struct random *random, struct shared *shared,
        const struct table *table, const char *log_table)
{
        int result = 0;
        unsigned indexes = random_below(random, 3);
        /* The kind that a unique index identifies rows of. */
        if (!table->key_count && strcmp(table->columns[0].name, "u") == 0) {
                _cleanup_sql_ char *sql = sqlite3_mprintf("CREATE UNIQUE INDEX i%u ON \"%w\"(w, u)",
                        ++shared->last_index, table->name);
                result = execute(db, sql);
        }
        for (unsigned i = 0; i < indexes && result == 0; i++) {
                _cleanup_sql_ char *sql = schema_index(random, shared, table);
                result = execute(db, sql);
        }
        if (result == 0 && random_percent(random, 35))
                result = make_trigger(db, random, table, log_table);
        return result;
}

int schema_make(sqlite3 *db, struct random *random, struct shared *shared)
{
        __attribute__((cleanup(catalog_release))) struct catalog catalog = {0};
        int result = execute(db, "CREATE TABLE " MARKER_TABLE "(id INTEGER PRIMARY KEY,"
                                 " seed INTEGER); CREATE TABLE t1(event, value)");
        shared->last_table = LOG_TABLE;
        if (result == 0)
                result = catalog_refresh(db, &catalog);
        unsigned tables = random_between(random, 5, 9);
        for (unsigned i = 0; i < tables && result == 0; i++)
                result = make_one_table(db, random, shared, &catalog);
        for (unsigned i = 2; i < catalog.table_count && result == 0; i++)
                result = adorn_table(db, random, shared, &catalog.tables[i], "t1");
        return result;
}
