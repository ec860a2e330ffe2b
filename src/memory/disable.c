/* SPDX-License-Identifier: MIT
 *
 * disable: drops a capture instance with all that the store has of it (memory/enable.h). It
 * refuses to know who still reads it.
 */
#include <errno.h>
#include "ground/cleanup.h"
#include "memory/changetable.h"
#include "memory/enable.h"
#include "memory/sql.h"
#include "memory/state.h"

static int count_instances(struct store *store, int64_t *ret_count)
{
        sqlite3_stmt *stmt = NULL;
        int r = store_statement(store, "SELECT count(*) FROM change_tables", &stmt);
        if (r < 0)
                return r;
        r = sql_next(stmt);
        if (r <= 0)
                return r < 0 ? r : -EBADMSG;
        *ret_count = sqlite3_column_int64(stmt, 0);
        sql_done(stmt);
        return 0;
}

/* Runs statements that take the instance's number. */
static int delete_rows(struct store *store, int64_t object_id)
{
        static const char *const statements[] = {
                "DELETE FROM captured_columns WHERE object_id = ?",
                "DELETE FROM index_columns WHERE object_id = ?",
                "DELETE FROM ddl_history WHERE object_id = ?",
                "DELETE FROM cdcfs_gaps WHERE object_id = ?",
                "DELETE FROM cdcfs_files WHERE object_id = ?",
                "DELETE FROM cdcfs_holds WHERE object_id = ?",
                "DELETE FROM cdcfs_instances WHERE object_id = ?",
                "DELETE FROM change_tables WHERE object_id = ?",
        };
        for (size_t i = 0; i < COUNT(statements); i++) {
                sqlite3_stmt *stmt = NULL;
                int r = store_statement(store, statements[i], &stmt);
                if (r < 0)
                        return r;
                sqlite3_bind_int64(stmt, 1, object_id);
                r = sql_run(stmt);
                if (r < 0)
                        return r;
        }
        /* The last one was that of change_tables itself. */
        return sqlite3_changes(store_db(store)) > 0 ? 0 : -ENOENT;
}

/* What no instance needs any more. */
static int delete_orphans(struct store *store)
{
        int64_t left = 0;
        int r = sql_execute(store_db(store),
                "DELETE FROM cdcfs_source_tables WHERE source_object_id NOT IN"
                "  (SELECT source_object_id FROM change_tables);"
                "DELETE FROM cdcfs_segments WHERE segment NOT IN"
                "  (SELECT segment FROM cdcfs_files WHERE segment IS NOT NULL)");
        if (r == 0)
                r = count_instances(store, &left);
        if (r == 0 && left == 0)
                r = sql_execute(store_db(store),
                        "DELETE FROM cdc_jobs; DELETE FROM lsn_time_mapping;"
                        "DELETE FROM cdcfs_files WHERE object_id = 0;"
                        "DELETE FROM cdcfs_instances WHERE object_id = 0");
        return r;
}

int instances_disable(struct store *store, const struct instance *instance)
{
        int r = delete_rows(store, instance->object_id);
        if (r == 0)
                r = changetable_drop(store, instance);
        if (r == 0)
                r = delete_orphans(store);
        return r < 0 ? r : state_bump_catalog(store);
}
