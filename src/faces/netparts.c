/* SPDX-License-Identifier: MIT
 *
 * netparts: two tables without an index, each read once in order, which SQLite sorts by itself.
 *
 * It refuses to know what a key comes to.
 */
#include "faces/netparts.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ground/buf.h"
#include "ground/cleanup.h"
#include "ground/problem.h"
#include "memory/sql.h"

struct netparts {
        sqlite3 *db;                   /* owned */
        sqlite3_stmt *insert, *select; /* owned */
        bool is_ended;
};

/* The part that is being put together. */
struct joining {
        struct netpart part;
        struct buf key;
        struct buf mask;
        bool is_begun;
};

static void joining_release(struct joining *joining)
{
        buf_release(&joining->key);
        buf_release(&joining->mask);
}

static int prepare(struct netparts *parts, const char *sql, sqlite3_stmt **ret_stmt)
{
        return problem_errno(sqlite3_prepare_v2(parts->db, sql, -1, ret_stmt, NULL));
}

int netparts_new(struct netparts **ret_parts)
{
        _cleanup_(netparts_freep) struct netparts *parts = calloc(1, sizeof(*parts));
        if (!parts)
                return -ENOMEM;
        int r = problem_errno(
                sqlite3_open_v2("", &parts->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL));
        if (r == 0)
                r = sql_execute(parts->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                           "PRAGMA temp_store = FILE;"
                                           "CREATE TABLE part(key, first, last, number, mask);"
                                           "CREATE TABLE whole(first, last, number, mask)");
        if (r == 0)
                r = prepare(parts, "INSERT INTO part VALUES(?, ?, ?, ?, ?)", &parts->insert);
        if (r < 0)
                return r;
        *ret_parts = steal(parts);
        return 0;
}

void netparts_free(struct netparts *parts)
{
        if (!parts)
                return;
        sqlite3_finalize(parts->insert);
        sqlite3_finalize(parts->select);
        sqlite3_close_v2(parts->db);
        free(parts);
}

void netparts_freep(struct netparts **parts)
{
        netparts_free(*parts);
}

int netparts_begin(struct netparts *parts)
{
        return sql_execute(parts->db, "BEGIN");
}

int netparts_end(struct netparts *parts)
{
        return sql_execute(parts->db, "COMMIT");
}

/* Parameters of either table from `at` on. */
static int bind_rest(sqlite3_stmt *stmt, int at, const struct netpart *part)
{
        sqlite3_bind_int(stmt, at, part->first);
        sqlite3_bind_int(stmt, at + 1, part->last);
        sqlite3_bind_int64(stmt, at + 2, (int64_t)part->number);
        return problem_errno(
                sqlite3_bind_blob64(stmt, at + 3, part->mask, part->mask_size, SQLITE_STATIC));
}

int netparts_add(struct netparts *parts, const struct netpart *part)
{
        int r = part->key ? problem_errno(sqlite3_bind_blob64(
                                    parts->insert, 1, part->key, part->key_size, SQLITE_STATIC))
                          : 0;
        if (r == 0)
                r = bind_rest(parts->insert, 2, part);
        return r < 0 ? r : sql_run(parts->insert);
}

static void read_rest(sqlite3_stmt *stmt, int at, struct netpart *part)
{
        part->first = sqlite3_column_int(stmt, at);
        part->last = sqlite3_column_int(stmt, at + 1);
        part->number = (uint64_t)sqlite3_column_int64(stmt, at + 2);
        part->mask = sqlite3_column_blob(stmt, at + 3);
        part->mask_size = (size_t)sqlite3_column_bytes(stmt, at + 3);
}

static bool is_same_key(const struct joining *joining, const struct netpart *part)
{
        return joining->is_begun && part->key && joining->part.key &&
               joining->key.size == part->key_size &&
               memcmp(joining->key.data, part->key, part->key_size) == 0;
}

static int begin(struct joining *joining, const struct netpart *part)
{
        buf_reset(&joining->key);
        buf_reset(&joining->mask);
        buf_append(&joining->key, part->key, part->key_size);
        buf_append(&joining->mask, part->mask, part->mask_size);
        joining->part = *part;
        joining->part.key = part->key ? joining->key.data : NULL;
        joining->part.mask = joining->mask.data;
        joining->is_begun = true;
        return buf_error(&joining->key) < 0 ? -ENOMEM : buf_error(&joining->mask);
}

static void join(struct joining *joining, const struct netpart *part)
{
        joining->part.last = part->last;
        joining->part.number = part->number;
        for (size_t i = 0; i < part->mask_size && i < joining->mask.size; i++)
                joining->mask.data[i] |= part->mask[i];
}

static int put_whole(sqlite3_stmt *insert, const struct joining *joining)
{
        if (!joining->is_begun)
                return 0;
        int r = bind_rest(insert, 1, &joining->part);
        return r < 0 ? r : sql_run(insert);
}

static int join_all(sqlite3_stmt *select, sqlite3_stmt *insert, struct joining *joining)
{
        int r;
        while ((r = sql_next(select)) > 0) {
                struct netpart part = {.key = sqlite3_column_blob(select, 0),
                        .key_size = (size_t)sqlite3_column_bytes(select, 0)};
                read_rest(select, 1, &part);
                if (is_same_key(joining, &part)) {
                        join(joining, &part);
                        continue;
                }
                r = put_whole(insert, joining);
                if (r == 0)
                        r = begin(joining, &part);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : put_whole(insert, joining);
}

int netparts_join(struct netparts *parts)
{
        _cleanup_stmt_ sqlite3_stmt *select = NULL;
        _cleanup_stmt_ sqlite3_stmt *insert = NULL;
        _cleanup_(joining_release) struct joining joining = {0};
        int r = prepare(parts,
                "SELECT key, first, last, number, mask FROM part ORDER BY key, number", &select);
        if (r == 0)
                r = prepare(parts, "INSERT INTO whole VALUES(?, ?, ?, ?)", &insert);
        if (r == 0)
                r = netparts_begin(parts);
        if (r == 0)
                r = join_all(select, insert, &joining);
        if (r == 0)
                r = netparts_end(parts);
        if (r == 0)
                r = prepare(parts, "SELECT first, last, number, mask FROM whole ORDER BY number",
                        &parts->select);
        return r;
}

int netparts_next(struct netparts *parts, struct netpart *ret_part)
{
        int r = parts->is_ended ? 0 : sql_next(parts->select);
        parts->is_ended = r <= 0;
        if (r <= 0)
                return r;
        *ret_part = (struct netpart){0};
        read_rest(parts->select, 0, ret_part);
        return 1;
}
