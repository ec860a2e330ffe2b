/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>

#include "ground/cleanup.h"
#include "memory/sql.h"
#include "memory/store.h"
#include "memory/store_schema.h"

/* The names of a table's columns, with commas between them, at most `count`. */
static char *columns_of(sqlite3 *db, const char *table, int count)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        cr_assert_eq(sqlite3_prepare_v2(db,
                             "SELECT group_concat(name) FROM (SELECT name FROM"
                             " pragma_table_info(?1) ORDER BY cid LIMIT ?2)",
                             -1, &stmt, NULL),
                SQLITE_OK);
        sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
        sqlite3_bind_int(stmt, 2, count);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
        char *names = NULL;
        cr_assert_eq(sql_column_string(stmt, 0, &names), 0);
        return names;
}

Test(store_schema, sql_servers_tables_begin_with_sql_servers_columns_in_order)
{
        static const struct {
                const char *table;
                int count;
                const char *columns;
        } cases[] = {
                {"change_tables", 13,
                        "object_id,version,source_object_id,capture_instance,start_lsn,end_lsn,"
                        "supports_net_changes,has_drop_pending,role_name,index_name,"
                        "filegroup_name,create_date,partition_switch"},
                {"captured_columns", 6,
                        "object_id,column_name,column_id,column_type,column_ordinal,is_computed"},
                {"index_columns", 4, "object_id,column_name,index_ordinal,column_id"},
                {"ddl_history", 6,
                        "source_object_id,object_id,required_column_update,ddl_command,ddl_lsn,"
                        "ddl_time"},
                {"lsn_time_mapping", 5,
                        "start_lsn,tran_begin_time,tran_end_time,tran_id,tran_begin_lsn"},
                {"cdc_jobs", 9,
                        "database_id,job_type,job_id,maxtrans,maxscans,continuous,"
                        "pollinginterval,retention,threshold"},
                {"dm_cdc_log_scan_sessions", 21,
                        "session_id,start_time,end_time,duration,scan_phase,error_count,"
                        "start_lsn,current_lsn,end_lsn,tran_count,last_commit_lsn,"
                        "last_commit_time,log_record_count,schema_change_count,command_count,"
                        "first_begin_cdc_lsn,last_commit_cdc_lsn,last_commit_cdc_time,latency,"
                        "empty_scan_count,failed_sessions_count"},
                {"dm_cdc_errors", 10,
                        "session_id,phase_number,entry_time,error_number,error_severity,"
                        "error_state,error_message,start_lsn,begin_lsn,sequence_value"},
        };
        _cleanup_sqlite_ sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        cr_assert_eq(store_schema_create(db), 0);
        for (size_t i = 0; i < COUNT(cases); i++) {
                _cleanup_free_ char *names = columns_of(db, cases[i].table, cases[i].count);
                cr_assert_not_null(names, "%s", cases[i].table);
                cr_expect_str_eq(names, cases[i].columns, "%s", cases[i].table);
        }
}

Test(store_schema, the_present_version_needs_no_upgrade_and_unknown_ones_get_none)
{
        _cleanup_sqlite_ sqlite3 *db = NULL;
        cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        cr_expect_eq(store_schema_upgrade(db, STORE_VERSION), 0);
        cr_expect_eq(store_schema_upgrade(db, 0), -ENOTSUP);
        cr_expect(sqlite3_get_autocommit(db), "no transaction is left open");
}

/* Every table with its columns, and every index and trigger. */
static char *shape_of(sqlite3 *db)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        cr_assert_eq(sqlite3_prepare_v2(db,
                             "SELECT group_concat(line, char(10)) FROM (SELECT s.type || ' ' ||"
                             "  s.name || coalesce(' ' || (SELECT group_concat(name) FROM"
                             "  pragma_table_info(s.name)), '') AS line FROM sqlite_schema AS s"
                             "  ORDER BY line)",
                             -1, &stmt, NULL),
                SQLITE_OK);
        cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
        char *shape = NULL;
        cr_assert_eq(sql_column_string(stmt, 0, &shape), 0);
        return shape;
}

Test(store_schema, a_store_of_version_1_becomes_what_a_new_one_is)
{
        static const char back[] =
                "ALTER TABLE lsn_time_mapping DROP COLUMN cdcfs_rows;"
                "DROP TRIGGER IF EXISTS cdcfs_files_gone; DROP TABLE cdcfs_checkpoints;"
                "ALTER TABLE cdcfs_instances DROP COLUMN table_name;"
                "DROP TABLE cdcfs_holds; DROP INDEX cdcfs_files_unstamped;"
                "DROP INDEX cdcfs_files_withdrawn;"
                "ALTER TABLE cdcfs_files DROP COLUMN listed_ns;"
                "ALTER TABLE cdcfs_files DROP COLUMN withdrawn_ns;"
                "ALTER TABLE cdcfs_state DROP COLUMN running_ns;"
                "ALTER TABLE cdcfs_state DROP COLUMN running_boot;"
                "ALTER TABLE cdcfs_state DROP COLUMN running_seen_ns;"
                "ALTER TABLE cdcfs_state DROP COLUMN cleaned_ns; PRAGMA user_version = 1";
        _cleanup_sqlite_ sqlite3 *fresh = NULL, *old = NULL;
        cr_assert_eq(sqlite3_open(":memory:", &fresh), SQLITE_OK);
        cr_assert_eq(sqlite3_open(":memory:", &old), SQLITE_OK);
        cr_assert_eq(store_schema_create(fresh), 0);
        cr_assert_eq(store_schema_create(old), 0);
        cr_assert_eq(sql_execute(old, back), 0, "%s", sqlite3_errmsg(old));
        cr_assert_eq(store_schema_upgrade(old, 1), 0, "%s", sqlite3_errmsg(old));
        _cleanup_free_ char *expected = shape_of(fresh), *shape = shape_of(old);
        cr_expect_str_eq(shape, expected);
}
