/* SPDX-License-Identifier: MIT
 *
 * store_schema: the text of the tables. SQL Server's tables keep SQL Server's columns and their
 * order; columns of ours come after them as cdcfs_…, tables of ours are cdcfs_….
 *
 * It refuses to know what fills them. LSNs are BLOB(10); times in SQL Server's tables and in
 * cdcfs_gaps and cdcfs_requests are TEXT `YYYY-MM-DDTHH:MM:SS.ffffffZ`; `…_ns` are integers,
 * nanoseconds since 1970.
 */
#include "memory/store_schema.h"

#include <errno.h>
#include "ground/cleanup.h"
#include "memory/sql.h"
#include "memory/store.h"

static const char sql_server_tables[] =
        "CREATE TABLE change_tables("
        "  object_id INTEGER PRIMARY KEY AUTOINCREMENT," /* never reused */
        "  version INTEGER NOT NULL DEFAULT 0,"
        "  source_object_id INTEGER NOT NULL,"
        "  capture_instance TEXT NOT NULL COLLATE NOCASE UNIQUE,"
        "  start_lsn BLOB," /* NULL until capture recognises it */
        "  end_lsn BLOB,"   /* always NULL */
        "  supports_net_changes INTEGER NOT NULL,"
        "  has_drop_pending INTEGER NOT NULL DEFAULT 0,"
        "  role_name TEXT,"
        "  index_name TEXT,"
        "  filegroup_name TEXT,"
        "  create_date TEXT NOT NULL,"
        "  partition_switch INTEGER NOT NULL DEFAULT 1,"
        "  directory TEXT NOT NULL COLLATE NOCASE UNIQUE);"
        "CREATE TABLE captured_columns("
        "  object_id INTEGER NOT NULL,"
        "  column_name TEXT NOT NULL,"
        "  column_id INTEGER NOT NULL,"
        "  column_type TEXT NOT NULL,"
        "  column_ordinal INTEGER NOT NULL,"
        "  is_computed INTEGER NOT NULL,"
        "  cdcfs_affinity TEXT NOT NULL," /* one letter, as struct schema_column */
        "  cdcfs_position INTEGER,"       /* index in the source now; NULL = dropped */
        "  PRIMARY KEY(object_id, column_ordinal)) WITHOUT ROWID;"
        "CREATE TABLE index_columns("
        "  object_id INTEGER NOT NULL,"
        "  column_name TEXT NOT NULL,"
        "  index_ordinal INTEGER NOT NULL,"
        "  column_id INTEGER NOT NULL,"
        "  PRIMARY KEY(object_id, index_ordinal)) WITHOUT ROWID;"
        "CREATE TABLE ddl_history("
        "  source_object_id INTEGER NOT NULL,"
        "  object_id INTEGER NOT NULL,"
        "  required_column_update INTEGER NOT NULL,"
        "  ddl_command TEXT NOT NULL,"
        "  ddl_lsn BLOB NOT NULL,"
        "  ddl_time TEXT NOT NULL);"
        "CREATE INDEX ddl_history_object ON ddl_history(object_id);"
        "CREATE TABLE lsn_time_mapping(" /* rowids without holes: bisected, no index */
        "  start_lsn BLOB NOT NULL,"
        "  tran_begin_time TEXT NOT NULL,"
        "  tran_end_time TEXT NOT NULL,"
        "  tran_id BLOB NOT NULL," /* x'00': no rows stand at this LSN */
        "  tran_begin_lsn BLOB NOT NULL,"
        "  cdcfs_first_change INTEGER NOT NULL,"
        "  cdcfs_change_count INTEGER NOT NULL,"
        "  cdcfs_resynced INTEGER NOT NULL DEFAULT 0,"
        "  cdcfs_rows TEXT);" /* {"main_t":2,…}; NULL: no rows, or captured before version 4 */
        "CREATE TABLE cdc_jobs("
        "  database_id INTEGER NOT NULL DEFAULT 1,"
        "  job_type TEXT PRIMARY KEY,"
        "  job_id BLOB NOT NULL,"
        "  maxtrans INTEGER NOT NULL,"
        "  maxscans INTEGER NOT NULL,"
        "  continuous INTEGER NOT NULL,"
        "  pollinginterval INTEGER NOT NULL,"
        "  retention INTEGER NOT NULL,"
        "  threshold INTEGER NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE dm_cdc_log_scan_sessions(" /* of the present agent; 0 = aggregate */
        "  session_id INTEGER PRIMARY KEY,"
        "  start_time TEXT, end_time TEXT, duration INTEGER, scan_phase TEXT, error_count INTEGER,"
        "  start_lsn TEXT, current_lsn TEXT, end_lsn TEXT, tran_count INTEGER,"
        "  last_commit_lsn TEXT, last_commit_time TEXT, log_record_count INTEGER,"
        "  schema_change_count INTEGER, command_count INTEGER, first_begin_cdc_lsn TEXT,"
        "  last_commit_cdc_lsn TEXT, last_commit_cdc_time TEXT, latency INTEGER,"
        "  empty_scan_count INTEGER, failed_sessions_count INTEGER);"
        "CREATE TABLE dm_cdc_errors("
        "  session_id INTEGER, phase_number INTEGER, entry_time TEXT, error_number INTEGER,"
        "  error_severity INTEGER, error_state INTEGER, error_message TEXT,"
        "  start_lsn TEXT, begin_lsn TEXT, sequence_value TEXT);";

#define HOLDS_COLUMNS                                                                              \
        "  object_id INTEGER NOT NULL,"                                                            \
        "  name TEXT NOT NULL,"                                                                    \
        "  lsn BLOB NOT NULL,"     /* what the consumer still needs begins here */                 \
        "  created TEXT NOT NULL," /* or moved on */                                               \
        "  expires TEXT,"          /* NULL = never */                                              \
        "  yielded TEXT,"          /* NULL = it holds; else when it had to give way */             \
        "  PRIMARY KEY(object_id, name)) WITHOUT ROWID"

/* Positions in files: they go with their file, whoever removes it. */
#define CHECKPOINTS                                                                                \
        "CREATE TABLE cdcfs_checkpoints("                                                          \
        "  ino INTEGER NOT NULL,"                                                                  \
        "  offset INTEGER NOT NULL,"                                                               \
        "  change INTEGER NOT NULL,"                                                               \
        "  PRIMARY KEY(ino, offset)) WITHOUT ROWID;"                                               \
        "CREATE TRIGGER cdcfs_files_gone AFTER DELETE ON cdcfs_files BEGIN"                        \
        "  DELETE FROM cdcfs_checkpoints WHERE ino = old.ino; END"

static const char own_tables[] =
        "CREATE TABLE cdcfs_state(" /* one row; fields as struct state */
        "  id INTEGER PRIMARY KEY CHECK(id = 1),"
        "  store_id BLOB NOT NULL,"
        "  encoding INTEGER NOT NULL,"
        "  base_ino INTEGER NOT NULL,"
        "  source_path NOT NULL," /* TEXT; a BLOB where it is not UTF-8 */
        "  source_device INTEGER NOT NULL,"
        "  source_inode INTEGER NOT NULL,"
        "  page_size INTEGER NOT NULL,"
        "  generation INTEGER NOT NULL DEFAULT 0,"
        "  wal_salt BLOB NOT NULL DEFAULT x'0000000000000000',"
        "  wal_frame INTEGER NOT NULL DEFAULT 0,"
        "  wal_frame_header BLOB NOT NULL DEFAULT (zeroblob(24)),"
        "  wal_frame_hash INTEGER NOT NULL DEFAULT 0,"
        "  database_pages INTEGER NOT NULL DEFAULT 0,"
        "  schema_cookie INTEGER NOT NULL DEFAULT 0,"
        "  is_backfilled INTEGER NOT NULL DEFAULT 0,"
        "  source_size INTEGER NOT NULL DEFAULT 0,"
        "  source_mtime_ns INTEGER NOT NULL DEFAULT 0,"
        "  source_change_counter INTEGER NOT NULL DEFAULT 0,"
        "  min_lsn BLOB," /* NULL: no instance was ever recognised */
        "  max_lsn BLOB," /* NULL: no commit was read */
        "  last_commit_time_ns INTEGER NOT NULL DEFAULT 0,"
        "  next_change INTEGER NOT NULL DEFAULT 1,"
        "  next_ino INTEGER NOT NULL,"
        "  last_mtime_ns INTEGER NOT NULL DEFAULT 0,"
        "  catalog_version INTEGER NOT NULL DEFAULT 0,"
        "  capture_stopped INTEGER NOT NULL DEFAULT 0,"
        "  running_ns INTEGER NOT NULL DEFAULT 0,"
        "  running_boot TEXT,"
        "  running_seen_ns INTEGER NOT NULL DEFAULT 0,"
        "  cleaned_ns INTEGER NOT NULL DEFAULT 0);" /* when the cleanup job ran last */
        "CREATE TABLE cdcfs_source_tables("
        "  source_object_id INTEGER PRIMARY KEY AUTOINCREMENT,"
        "  schema_rowid INTEGER NOT NULL,"
        "  name TEXT NOT NULL COLLATE NOCASE," /* now */
        "  is_dropped INTEGER NOT NULL DEFAULT 0);"
        "CREATE TABLE cdcfs_instances(" /* what the mount needs and change_tables lacks */
        "  object_id INTEGER PRIMARY KEY,"
        "  base_ino INTEGER NOT NULL,"
        "  schema_rowid INTEGER NOT NULL,"
        "  sql TEXT NOT NULL," /* the CREATE text that captured_columns is bound to */
        "  rowid_name TEXT NOT NULL,"
        "  create_time_ns INTEGER NOT NULL,"
        "  changed_ns INTEGER NOT NULL,"
        "  error TEXT,"
        "  table_name TEXT);" /* of the source table, as it was enabled */
        "CREATE TABLE cdcfs_segments("
        "  segment INTEGER PRIMARY KEY AUTOINCREMENT,"
        "  from_lsn BLOB NOT NULL," /* of the oldest file that it closed */
        "  to_lsn BLOB NOT NULL,"
        "  closed_ns INTEGER NOT NULL,"
        "  cause TEXT NOT NULL);" /* size age ddl rotate resync gap stop */
        "CREATE TABLE cdcfs_files("
        "  ino INTEGER PRIMARY KEY,"
        "  object_id INTEGER NOT NULL,"
        "  format TEXT NOT NULL,"
        "  renderer_version INTEGER NOT NULL,"
        "  ordinal INTEGER NOT NULL," /* per instance and format: 1, 2, 3 … */
        "  from_lsn BLOB NOT NULL,"
        "  to_lsn BLOB,"     /* NULL = open */
        "  segment INTEGER," /* that closed it */
        "  first_change INTEGER NOT NULL,"
        "  last_change INTEGER,"
        "  row_count INTEGER, inserts INTEGER, updates INTEGER, deletes INTEGER,"
        "  first_time_ns INTEGER, last_time_ns INTEGER, closed_ns INTEGER,"
        "  bytes INTEGER, sha256 BLOB, odd_text INTEGER,"
        "  mtime_ns INTEGER," /* NULL = not published */
        "  is_resync INTEGER NOT NULL DEFAULT 0,"
        "  is_withdrawn INTEGER NOT NULL DEFAULT 0,"
        "  listed_ns INTEGER,"    /* running time when it was listed, NULL = not yet, */
        "  withdrawn_ns INTEGER," /* and when it was withdrawn */
        "  UNIQUE(object_id, format, ordinal));"
        "CREATE INDEX cdcfs_files_range ON cdcfs_files(object_id, format, from_lsn);"
        "CREATE INDEX cdcfs_files_unpublished ON cdcfs_files(object_id, format, ordinal)"
        "  WHERE mtime_ns IS NULL;"
        "CREATE INDEX cdcfs_files_unstamped ON cdcfs_files(ino)"
        "  WHERE mtime_ns IS NOT NULL AND listed_ns IS NULL;"
        "CREATE INDEX cdcfs_files_withdrawn ON cdcfs_files(object_id) WHERE "
        "is_withdrawn;" CHECKPOINTS ";"
        "CREATE TABLE cdcfs_holds(" HOLDS_COLUMNS ";"
        "CREATE TABLE cdcfs_gaps("
        "  gap INTEGER PRIMARY KEY AUTOINCREMENT,"
        "  object_id INTEGER," /* NULL = the whole database */
        "  from_lsn BLOB NOT NULL,"
        "  to_lsn BLOB," /* NULL = still open */
        "  time TEXT NOT NULL,"
        "  cause TEXT NOT NULL);"
        "CREATE TABLE cdcfs_requests("
        "  request INTEGER PRIMARY KEY AUTOINCREMENT,"
        "  command TEXT NOT NULL,"
        "  argument TEXT,"
        "  created TEXT NOT NULL,"
        "  done TEXT," /* NULL = waiting */
        "  result INTEGER,"
        "  number INTEGER," /* SQL Server's message number, or 0 */
        "  message TEXT);";

int store_schema_create(sqlite3 *db)
{
        int r = sql_execute(db, sql_server_tables);
        return r < 0 ? r : sql_execute(db, own_tables);
}

/* steps[N] brings version N to N + 1. */
static const char *const steps[STORE_VERSION] = {
        [1] = "ALTER TABLE cdcfs_state ADD COLUMN running_ns INTEGER NOT NULL DEFAULT 0;"
              "ALTER TABLE cdcfs_state ADD COLUMN running_boot TEXT;"
              "ALTER TABLE cdcfs_state ADD COLUMN running_seen_ns INTEGER NOT NULL DEFAULT 0;"
              "ALTER TABLE cdcfs_state ADD COLUMN cleaned_ns INTEGER NOT NULL DEFAULT 0;"
              "ALTER TABLE cdcfs_files ADD COLUMN listed_ns INTEGER;"
              "ALTER TABLE cdcfs_files ADD COLUMN withdrawn_ns INTEGER;"
              "CREATE INDEX cdcfs_files_unstamped ON cdcfs_files(ino)"
              "  WHERE mtime_ns IS NOT NULL AND listed_ns IS NULL;"
              "CREATE INDEX cdcfs_files_withdrawn ON cdcfs_files(object_id) WHERE is_withdrawn;"
              "CREATE TABLE cdcfs_holds(" HOLDS_COLUMNS ";"
              "PRAGMA user_version = 2",
        [2] = CHECKPOINTS "; PRAGMA user_version = 3",
        [3] = "ALTER TABLE lsn_time_mapping ADD COLUMN cdcfs_rows TEXT; PRAGMA user_version = 4",
        [4] = "ALTER TABLE cdcfs_instances ADD COLUMN table_name TEXT;"
              "UPDATE cdcfs_instances SET table_name = (SELECT name FROM change_tables"
              "  JOIN cdcfs_source_tables USING(source_object_id)"
              "  WHERE change_tables.object_id = cdcfs_instances.object_id);"
              "PRAGMA user_version = 5",
};

static int read_version(sqlite3 *db, int *ret_version)
{
        _cleanup_stmt_ sqlite3_stmt *stmt = NULL;
        int r = problem_errno(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL));
        if (r < 0)
                return r;
        if (sqlite3_step(stmt) != SQLITE_ROW)
                return -EIO;
        *ret_version = sqlite3_column_int(stmt, 0);
        return 0;
}

static int upgrade_inside(sqlite3 *db)
{
        int version = 0;
        int r = read_version(db, &version);
        for (; r == 0 && version < STORE_VERSION; version++) {
                if (version < 1 || !steps[version])
                        return -ENOTSUP;
                r = sql_execute(db, steps[version]);
        }
        return r;
}

int store_schema_upgrade(sqlite3 *db, int from)
{
        if (from == STORE_VERSION)
                return 0;
        int r = sql_execute(db, "BEGIN IMMEDIATE");
        if (r < 0)
                return r;
        r = upgrade_inside(db);
        if (r == 0)
                r = sql_execute(db, "COMMIT");
        if (r < 0)
                (void)sql_execute(db, "ROLLBACK");
        return r;
}
