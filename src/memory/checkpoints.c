/* SPDX-License-Identifier: MIT
 *
 * checkpoints: positions in closed files. It refuses to know what stands at them.
 */
#include "memory/checkpoints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ground/cleanup.h"
#include "memory/array.h"
#include "memory/sql.h"

int checkpoints_append(struct checkpoints *checkpoints, uint64_t offset, uint64_t change)
{
        struct checkpoints_entry *items =
                array_room(checkpoints->items, checkpoints->count, sizeof *items);
        if (!items)
                return -ENOMEM;
        checkpoints->items = items;
        items[checkpoints->count++] = (struct checkpoints_entry){offset, change};
        return 0;
}

void checkpoints_release(struct checkpoints *checkpoints)
{
        free(checkpoints->items);
        memset(checkpoints, 0, sizeof *checkpoints);
}

int checkpoints_add(struct store *store, uint64_t ino, const struct checkpoints *checkpoints)
{
        sqlite3_stmt *stmt = NULL;
        int r = 0;
        for (size_t i = 0; r == 0 && i < checkpoints->count; i++) {
                r = store_statement(store,
                        "INSERT INTO cdcfs_checkpoints(ino, offset, change) VALUES(?, ?, ?)",
                        &stmt);
                if (r < 0)
                        return r;
                sqlite3_bind_int64(stmt, 1, (int64_t)ino);
                sqlite3_bind_int64(stmt, 2, (int64_t)checkpoints->items[i].offset);
                sqlite3_bind_int64(stmt, 3, (int64_t)checkpoints->items[i].change);
                r = sql_run(stmt);
        }
        return r;
}

int checkpoints_load(sqlite3 *db, uint64_t ino, struct checkpoints *ret_checkpoints)
{
        _cleanup_(checkpoints_release) struct checkpoints checkpoints = {0};
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(db,
                "SELECT offset, change FROM cdcfs_checkpoints WHERE ino = ? ORDER BY offset", -1,
                &stmt, NULL));
        if (r < 0)
                return r;
        sqlite3_bind_int64(stmt, 1, (int64_t)ino);
        while ((r = sql_next(stmt)) > 0) {
                r = checkpoints_append(&checkpoints, (uint64_t)sqlite3_column_int64(stmt, 0),
                        (uint64_t)sqlite3_column_int64(stmt, 1));
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        *ret_checkpoints = checkpoints;
        memset(&checkpoints, 0, sizeof checkpoints);
        return 0;
}
