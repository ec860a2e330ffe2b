/* SPDX-License-Identifier: MIT
 *
 * workload: random transactions on a database, the same on every run with the same seed.
 *
 * Four tables are worth capturing: plain (no key), ipk (the rowid is the key), keyed (TEXT key,
 * NULLs among them) and pair (a UNIQUE index over two columns). Others come and go beside them and
 * take their pages. All kinds of change that move rows between pages are in it: overflow chains
 * that grow, shrink and change in place, deletes of ranges and of everything, keys that move,
 * savepoints that are rolled back.
 */
#ifndef CDC_TESTS_WORKLOAD_H
#define CDC_TESTS_WORKLOAD_H

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ground/cleanup.h"
#include "prng.h"

struct workload {
        sqlite3 *db; /* borrowed */
        struct prng prng;
        uint32_t page_size;
        unsigned rows; /* more than so many in a table are not kept */
        bool has_scratch[3];
};

static const char *const workload_tables[] = {"plain", "ipk", "keyed", "pair", "spare"};

enum { WORKLOAD_CAPTURED = 4 }; /* of those tables */

__attribute__((format(printf, 2, 3))) static inline void workload_run(
        struct workload *w, const char *format, ...)
{
        char *message = NULL;
        va_list arguments;
        va_start(arguments, format);
        char *sql = sqlite3_vmprintf(format, arguments);
        va_end(arguments);
        cr_assert_eq(
                sqlite3_exec(w->db, sql, NULL, NULL, &message), SQLITE_OK, "%s: %s", sql, message);
        sqlite3_free(sql);
}

/* ---- SQL functions ---- */

static inline void workload_rnd(sqlite3_context *context, int count, sqlite3_value **values)
{
        struct workload *w = sqlite3_user_data(context);
        int64_t limit = sqlite3_value_int64(values[0]);
        sqlite3_result_int64(context, prng_below(&w->prng, limit < 1 ? 1 : (uint32_t)limit));
}

static inline void workload_fill(struct workload *w, uint8_t *bytes, size_t size)
{
        uint64_t word = 0;
        for (size_t i = 0; i < size; i++, word >>= 8) {
                if (i % 8 == 0)
                        word = prng_next(&w->prng);
                bytes[i] = (uint8_t)word;
        }
}

/* Mostly small, sometimes just as large as fits into a page, sometimes a chain of pages. */
static inline uint32_t workload_size(struct workload *w)
{
        switch (prng_below(&w->prng, 20)) {
        case 0:
                return w->page_size - 60 + prng_below(&w->prng, 30);
        case 1:
                return w->page_size * (1 + prng_below(&w->prng, 3)) + prng_below(&w->prng, 40);
        case 2:
                return prng_below(&w->prng, w->page_size > 4096 ? 300000 : w->page_size * 9);
        case 3:
        case 4:
                return prng_below(&w->prng, w->page_size / 2);
        default:
                return prng_below(&w->prng, 40);
        }
}

/* payload(): a BLOB of random size. */
static inline void workload_payload(sqlite3_context *context, int count, sqlite3_value **values)
{
        struct workload *w = sqlite3_user_data(context);
        uint32_t size = workload_size(w);
        uint8_t *bytes = malloc(size + 1u);
        workload_fill(w, bytes, size);
        sqlite3_result_blob64(context, bytes, size, free);
}

/* same(b): a BLOB of the same size that differs in some place, or in all. */
static inline void workload_same(sqlite3_context *context, int count, sqlite3_value **values)
{
        struct workload *w = sqlite3_user_data(context);
        const void *blob = sqlite3_value_blob(values[0]);
        uint32_t size = (uint32_t)sqlite3_value_bytes(values[0]);
        uint8_t *bytes = malloc(size + 1u);
        if (size > 0)
                memcpy(bytes, blob, size);
        uint32_t choice = prng_below(&w->prng, 4);
        if (choice == 0)
                workload_fill(w, bytes, size);
        else if (size > 0)
                bytes[choice == 1 ? size - 1 : prng_below(&w->prng, size)] ^= 1;
        sqlite3_result_blob64(context, bytes, size, free);
}

static inline void workload_open(
        struct workload *w, sqlite3 *db, uint32_t page_size, unsigned rows, uint64_t seed)
{
        *w = (struct workload){.db = db, .prng = {seed}, .page_size = page_size, .rows = rows};
        int flags = SQLITE_UTF8;
        sqlite3_create_function(db, "rnd", 1, flags, w, workload_rnd, NULL, NULL);
        sqlite3_create_function(db, "payload", 0, flags, w, workload_payload, NULL, NULL);
        sqlite3_create_function(db, "same", 1, flags, w, workload_same, NULL, NULL);
        workload_run(w, "CREATE TABLE plain(a, b);"
                        "CREATE INDEX plain_a ON plain(a);"
                        "CREATE TABLE ipk(id INTEGER PRIMARY KEY, b, c REAL);"
                        "CREATE TABLE keyed(k TEXT PRIMARY KEY, b, n);"
                        "CREATE TABLE pair(x, y, b, UNIQUE(x, y));"
                        "CREATE TABLE spare(p PRIMARY KEY, b) WITHOUT ROWID");
}

/* ---- actions ---- */

static inline int64_t workload_number(struct workload *w, const char *format, const char *table)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        char *sql = sqlite3_mprintf(format, table);
        cr_assert_eq(sqlite3_prepare_v2(w->db, sql, -1, &stmt, NULL), SQLITE_OK, "%s", sql);
        sqlite3_free(sql);
        return sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
}

static inline void workload_insert(struct workload *w, unsigned table, unsigned count)
{
        static const char *const values[] = {
                "INSERT OR REPLACE INTO plain(a, b) SELECT rnd(1000), payload()",
                "INSERT OR REPLACE INTO ipk SELECT rnd(100000), payload(), rnd(10) / 2.0",
                "INSERT OR REPLACE INTO keyed SELECT "
                "CASE rnd(9) WHEN 0 THEN NULL ELSE 'k' || rnd(2000) END, payload(), rnd(9)",
                "INSERT OR REPLACE INTO pair SELECT "
                "CASE rnd(9) WHEN 0 THEN NULL ELSE rnd(60) END, rnd(60), payload()",
                "INSERT OR REPLACE INTO spare SELECT rnd(5000), payload()",
        };
        workload_run(w,
                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < %u) "
                "%s FROM n",
                count, values[table]);
}

/* Rows at one end or in the middle of plain, so that pages split there. */
static inline void workload_insert_near(struct workload *w, unsigned count)
{
        int64_t from = prng_below(&w->prng, 200000);
        bool is_descending = prng_below(&w->prng, 2);
        workload_run(w,
                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < %u) "
                "INSERT OR IGNORE INTO plain(rowid, a, b) SELECT %lld + i * %d, i, payload() "
                "FROM n",
                count, (long long)from, is_descending ? -1 : 1);
}

static inline void workload_delete_range(struct workload *w, const char *table)
{
        int64_t count = workload_number(w, "SELECT count(*) FROM %s", table);
        const char *key = strcmp(table, "spare") == 0 ? "p" : "rowid";
        unsigned part = (unsigned)(1 + count / (1 + prng_below(&w->prng, 12)));
        workload_run(w,
                "DELETE FROM %s WHERE %s IN (SELECT %s FROM %s ORDER BY %s %s LIMIT %u OFFSET %u)",
                table, key, key, table, key, prng_below(&w->prng, 2) ? "DESC" : "", part,
                prng_below(&w->prng, (uint32_t)count + 1));
}

static inline void workload_move_keys(struct workload *w, unsigned table)
{
        static const char *const moves[] = {
                "UPDATE OR REPLACE plain SET rowid = rowid + 1000000 WHERE rowid % 5 = rnd(5)",
                "UPDATE OR REPLACE ipk SET id = id + 50 WHERE id BETWEEN 1000 AND 20000",
                "UPDATE OR REPLACE keyed SET k = 'k' || rnd(2000) WHERE n = rnd(9)",
                "UPDATE OR REPLACE pair SET x = y, y = x WHERE x < 30",
                "UPDATE OR REPLACE spare SET p = p + 1 WHERE p % 7 = 0",
        };
        workload_run(w, "%s", moves[table]);
}

/* Overwrites bytes of a BLOB in place, as sqlite3_blob_write does it. */
static inline void workload_write_blob(struct workload *w, const char *table)
{
        sqlite3_blob *blob = NULL;
        uint8_t bytes[600];
        if (strcmp(table, "spare") == 0)
                return;
        int64_t rowid = workload_number(
                w, "SELECT rowid FROM %s WHERE length(b) > 10 ORDER BY rnd(1000) LIMIT 1", table);
        if (sqlite3_blob_open(w->db, "main", table, "b", rowid, 1, &blob) == SQLITE_OK) {
                uint32_t size = (uint32_t)sqlite3_blob_bytes(blob);
                uint32_t count = 1 + prng_below(&w->prng, size < 600 ? size : 600);
                uint32_t offset = prng_below(&w->prng, size - count + 1);
                workload_fill(w, bytes, count);
                sqlite3_blob_write(blob, bytes, (int)count, (int)offset);
        }
        sqlite3_blob_close(blob);
}

static inline void workload_scratch(struct workload *w)
{
        unsigned i = prng_below(&w->prng, 3);
        if (w->has_scratch[i])
                workload_run(w, "DROP TABLE scratch%u", i);
        else
                workload_run(w, "CREATE TABLE scratch%u(a, b)", i);
        w->has_scratch[i] = !w->has_scratch[i];
        if (w->has_scratch[i])
                workload_run(w,
                        "INSERT INTO scratch%u SELECT p, b FROM spare LIMIT rnd(200);"
                        "CREATE INDEX scratch%u_b ON scratch%u(b)",
                        i, i, i);
}

static inline void workload_update(struct workload *w, const char *table)
{
        static const char *const sets[] = {"b = same(b)", "b = payload()", "b = NULL", "b = b || b",
                "b = substr(b, 1, length(b) / 2)", "b = b"};
        const char *key = strcmp(table, "spare") == 0 ? "p" : "rowid";
        uint32_t choice = prng_below(&w->prng, 6);
        if (choice == 3)
                workload_run(w,
                        "UPDATE %s SET b = b || b WHERE length(b) BETWEEN 1 AND %u AND "
                        "rnd(4) = 0",
                        table, w->page_size * 4);
        else
                workload_run(w, "UPDATE %s SET %s WHERE %s %% %u = 0", table, sets[choice],
                        key[0] == 'p' ? "length(p)" : "rowid", 1 + prng_below(&w->prng, 20));
}

static inline void workload_act(struct workload *w)
{
        unsigned t = prng_below(&w->prng, 6) % 5;
        const char *table = workload_tables[t];
        switch (prng_below(&w->prng, 16)) {
        case 0:
        case 1:
        case 2:
        case 3:
                workload_insert(w, t, 1 + prng_below(&w->prng, 30));
                break;
        case 4:
                workload_insert_near(w, 1 + prng_below(&w->prng, 40));
                break;
        case 5:
        case 6:
                workload_delete_range(w, table);
                break;
        case 7:
                if (prng_below(&w->prng, 3) == 0)
                        workload_run(w, "DELETE FROM %s", table);
                break;
        case 8:
        case 9:
        case 10:
                workload_update(w, table);
                break;
        case 11:
                workload_move_keys(w, t);
                break;
        case 12:
        case 13:
                workload_write_blob(w, table);
                break;
        case 14:
                workload_scratch(w);
                break;
        default:
                workload_run(w, "UPDATE %s SET b = same(b)", table);
                break;
        }
}

static inline void workload_trim(struct workload *w)
{
        for (unsigned i = 0; i < COUNT(workload_tables); i++)
                if (workload_number(w, "SELECT count(*) FROM %s", workload_tables[i]) > w->rows)
                        workload_run(w, "DELETE FROM %s WHERE rnd(2)", workload_tables[i]);
}

static inline void workload_nested(struct workload *w)
{
        bool has_scratch[3];
        memcpy(has_scratch, w->has_scratch, sizeof(has_scratch));
        workload_run(w, "SAVEPOINT s");
        workload_act(w);
        if (prng_below(&w->prng, 2)) {
                workload_run(w, "ROLLBACK TO s");
                memcpy(w->has_scratch, has_scratch, sizeof(has_scratch));
        }
        workload_run(w, "RELEASE s");
}

/* One transaction of some actions. One in twenty is rolled back; parts of it more often. */
static inline void workload_transaction(struct workload *w)
{
        bool has_scratch[3];
        memcpy(has_scratch, w->has_scratch, sizeof(has_scratch));
        workload_run(w, "BEGIN");
        for (unsigned count = 1 + prng_below(&w->prng, 5); count > 0; count--) {
                if (prng_below(&w->prng, 4) == 0)
                        workload_nested(w);
                else
                        workload_act(w);
        }
        workload_trim(w);
        bool is_undone = prng_below(&w->prng, 20) == 0;
        workload_run(w, is_undone ? "ROLLBACK" : "COMMIT");
        if (is_undone)
                memcpy(w->has_scratch, has_scratch, sizeof(has_scratch));
}

#endif
