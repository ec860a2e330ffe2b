/* SPDX-License-Identifier: MIT
 *
 * extension: SQL Server's functions in any SQLite shell on a store.
 *
 *      sqlite3 app.db-cdc
 *      .load libcdc_sqlite
 *      SELECT * FROM fn_cdc_get_net_changes_main_orders(get_min_lsn('main_orders'),
 *              get_max_lsn(), 'all');
 *
 * or on the source, so that changes join with its tables:
 *
 *      sqlite3 app.db
 *      ATTACH 'app.db-cdc' AS cdc;
 *      .load libcdc_sqlite
 *
 * It reads the store through the connection that it was loaded into, in that one's transaction.
 * It makes the functions known and knows nothing of what they do.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "extension/answer.h"
#include "extension/changefunction.h"
#include "extension/scalars.h"
#include "extension/storefind.h"
#include "ground/cleanup.h"
#include "memory/sql.h"

SQLITE_EXTENSION_INIT1

/* Their names first, because making a function known ends what is being read. */
static int list_instances(sqlite3 *db, char ***ret_names, unsigned *ret_count)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        char **names = NULL;
        unsigned count = 0;
        int r = problem_errno(sqlite3_prepare_v2(db,
                "SELECT capture_instance FROM change_tables ORDER BY object_id", -1, &stmt, NULL));
        while (r >= 0 && (r = sql_next(stmt)) > 0) {
                char **more = reallocarray(names, count + 1, sizeof(*names));
                r = more ? sql_column_string(stmt, 0, &more[count]) : -1;
                names = more ? more : names;
                count += r == 0;
        }
        *ret_names = names;
        *ret_count = count;
        return r;
}

static int register_instances(sqlite3 *db, unsigned *ret_count)
{
        char **names = NULL;
        int r = list_instances(db, &names, ret_count);
        int result = r < 0 ? SQLITE_ERROR : SQLITE_OK;
        for (unsigned i = 0; i < *ret_count; i++) {
                if (result == SQLITE_OK && names[i])
                        result = changefunction_register(db, names[i]);
                free(names[i]);
        }
        free(names);
        return result;
}

/* cdc_register(): how many instances are known now. */
static void cdc_register(sqlite3_context *context, int count, sqlite3_value **values)
{
        sqlite3 *db = sqlite3_context_db_handle(context);
        struct problem problem = {0};
        unsigned instances = 0;
        int r = storefind(db, NULL, &problem);
        if (r < 0)
                answer_problem(context, r, &problem);
        else if (register_instances(db, &instances) != SQLITE_OK)
                sqlite3_result_error(context, sqlite3_errmsg(db), -1);
        else
                sqlite3_result_int64(context, instances);
}

__attribute__((visibility("default"))) int sqlite3_cdcsqlite_init(
        sqlite3 *db, char **ret_words, const sqlite3_api_routines *api);

int sqlite3_cdcsqlite_init(sqlite3 *db, char **ret_words, const sqlite3_api_routines *api)
{
        struct problem problem = {0};
        unsigned instances = 0;
        SQLITE_EXTENSION_INIT2(api);
        int result = scalars_register(db);
        if (result == SQLITE_OK)
                result = sqlite3_create_function_v2(db, "cdc_register", 0,
                        SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, cdc_register, NULL, NULL, NULL);
        /* A store that is not there yet may be attached later. */
        if (result == SQLITE_OK && storefind(db, NULL, &problem) == 0)
                result = register_instances(db, &instances);
        return result;
}
