/* SPDX-License-Identifier: MIT
 *
 * cdc.h: the engine's public header, all that cdcctl and cdcfs may include of it.
 *
 * Change data capture for a SQLite database in WAL mode: the log is read from the outside, the
 * changes stand in a store beside the database, and this header offers
 *
 *   administration   what SQL Server's procedures do: enable, disable, help, requests
 *   queries          rows of a change function or a metadata table, rendered
 *   the engine       the capture job of one database, in threads of its own
 *   the view         what a mount shows: instances, files with their exact attributes, bytes
 *
 * Every call returns 0 (iterators 1 for an item, 0 for the end) or a negative errno:
 *   -ENOMEM   memory        -EIO      the system or SQLite failed to read or write
 *   -EBADMSG  corrupt bytes -ENOENT   no such table, instance, file
 *   -EINVAL   an argument   -ERANGE   outside the validity interval
 *   -ENODATA  over a gap    -EAGAIN   busy, try again; nothing new yet
 *   -ENOTSUP  a database that cannot be captured   -EEXIST   there already
 *   -EBUSY    another process runs the jobs        -EACCES, -EROFS, -ENOSPC as the system says
 *   -ESTALE   gone meanwhile (a withdrawn file)    -EINTR    stopped
 * Outputs are set on success only. `struct cdc_error *` may be NULL.
 */
#ifndef CDC_H
#define CDC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CDC_API __attribute__((visibility("default")))

struct cdc_error {
        int number; /* SQL Server's message number, 0 if it has none */
        char message[1024];
};

/* Which database: its path, and where the store is if not at <path>-cdc. */
struct cdc_database {
        const char *source;
        const char *store; /* NULL = <source>-cdc */
};

/* A notice for the human (severity 10, skipped tables, progress), one line. */
typedef void (*cdc_notice)(void *context, int number, const char *line);

/* ---- administration -------------------------------------------------------------------- */

/* sys.sp_cdc_enable_db. Checks that the database can be captured (WAL mode; with set_wal it is
 * set first) and makes the store. Enabled already: notice 22905 and 0. */
CDC_API int cdc_enable_db(const struct cdc_database *database, bool set_wal, cdc_notice notice,
        void *context, struct cdc_error *ret_error);
/* sys.sp_cdc_disable_db: drops every instance and removes the store. */
CDC_API int cdc_disable_db(const struct cdc_database *database, struct cdc_error *ret_error);

struct cdc_table_options {
        const char *table;
        const char *capture_instance; /* NULL = main_<table> */
        const char *captured_columns; /* NULL = all; a comma list, items quoted with " or [] */
        const char *index;            /* NULL = the primary key */
        const char *role;             /* NULL = none */
        int supports_net_changes;     /* 0, 1, -1 = 1 if there is a key */
        bool is_mirror_off;           /* accepted; mirrors come later */
        const char *filegroup;        /* refused unless NULL: there are none */
        bool is_partition_switch_off; /* ignored with a notice: there are no partitions */
};

/* sys.sp_cdc_enable_table. With an agent running it returns when the agent captures the table;
 * else the instance is pending until one does. */
CDC_API int cdc_enable_table(const struct cdc_database *database,
        const struct cdc_table_options *options, cdc_notice notice, void *context,
        struct cdc_error *ret_error);
/* enable-table --all: every ordinary table whose name is LIKE pattern (NULL = all) and that has
 * no instance yet; notices name what is skipped and why. */
CDC_API int cdc_enable_all(const struct cdc_database *database, const char *pattern,
        cdc_notice notice, void *context, struct cdc_error *ret_error);
/* sys.sp_cdc_disable_table; instance "all" = every instance of the table. */
CDC_API int cdc_disable_table(const struct cdc_database *database, const char *table,
        const char *instance, struct cdc_error *ret_error);
/* Captures everything committed before the call and closes the open segment; returns when its
 * files are listed and durable. -EBUSY without an agent. */
CDC_API int cdc_rotate(const struct cdc_database *database, struct cdc_error *ret_error);

/* ---- jobs ------------------------------------------------------------------------------ */

enum { CDC_UNSET = INT32_MIN }; /* a parameter that is not given */

/* Parameters of a job: of capture or of cleanup; one that does not belong to the job is refused. */
struct cdc_job {
        const char *type; /* "capture" or "cleanup"; NULL = capture where it may be left out */
        int64_t maxtrans, maxscans, continuous, pollinginterval; /* capture; CDC_UNSET */
        int64_t retention, threshold;                            /* cleanup; CDC_UNSET */
};
#define CDC_JOB_UNSET(type)                                                                        \
        {                                                                                          \
                (type), CDC_UNSET, CDC_UNSET, CDC_UNSET, CDC_UNSET, CDC_UNSET, CDC_UNSET           \
        }

/* sys.sp_cdc_add_job: 22836 there is one, 22991 to 22998 and 22850 for parameters. is_started: the
 * capture job runs at once where an agent does. */
CDC_API int cdc_add_job(const struct cdc_database *database, const struct cdc_job *job,
        bool is_started, struct cdc_error *ret_error);
/* sys.sp_cdc_change_job: CDC_UNSET leaves a parameter as it is. Read when the job starts next. */
CDC_API int cdc_change_job(const struct cdc_database *database, const struct cdc_job *job,
        struct cdc_error *ret_error);
/* sys.sp_cdc_drop_job: 22997 there is none. A capture job that runs is stopped first. */
CDC_API int cdc_drop_job(
        const struct cdc_database *database, const char *type, struct cdc_error *ret_error);
/* sys.sp_cdc_start_job, sys.sp_cdc_stop_job; type NULL = capture. Both are kept over restarts.
 * Stopping loses nothing while the agent runs: it keeps the log. Starting needs an agent: -EBUSY
 * without one, and the message says which command to run. The cleanup job runs once, now. */
CDC_API int cdc_start_job(
        const struct cdc_database *database, const char *type, struct cdc_error *ret_error);
CDC_API int cdc_stop_job(
        const struct cdc_database *database, const char *type, struct cdc_error *ret_error);

struct cdc_scan {
        int64_t maxtrans, maxscans; /* CDC_UNSET = 500 and 10 */
        int64_t continuous;         /* CDC_UNSET = 0; 1: the caller repeats it */
        int64_t pollinginterval;    /* CDC_UNSET = 0; seconds between two passes */
};
/* sys.sp_cdc_scan: one pass of at most maxscans cycles of maxtrans transactions, by the agent if
 * one runs, else by this process. 22991, 22970, 22998, 22990, 22999; 22903: another scan is
 * active. A notice tells of a gap that this process had to record. */
CDC_API int cdc_scan(const struct cdc_database *database, const struct cdc_scan *scan,
        cdc_notice notice, void *context, struct cdc_error *ret_error);

/* sys.sp_cdc_cleanup_change_table: raises the instance's low water mark (NULL: leaves it) and
 * deletes what is below, at most `threshold` rows at once (CDC_UNSET = 5000). Returns when the mark
 * has moved, durable; the agent deletes afterwards. 22964, 22957, 22850, 22920; -EBUSY: a consumer
 * holds more. Notice 22852: rows could not be deleted, the mark stays where it is now. */
CDC_API int cdc_cleanup_change_table(const struct cdc_database *database, const char *instance,
        const char *low_water_mark, int64_t threshold, cdc_notice notice, void *context,
        struct cdc_error *ret_error);
/* Cleanup keeps what the instance has from lsn on, for a consumer of that name; set again it moves.
 * expires: a time, or NULL = never. -ERANGE: it is not there any more, or not yet. */
CDC_API int cdc_hold(const struct cdc_database *database, const char *name, const char *instance,
        const char *lsn, const char *expires, struct cdc_error *ret_error);
CDC_API int cdc_remove_hold(const struct cdc_database *database, const char *name,
        const char *instance, struct cdc_error *ret_error);

/* ---- queries --------------------------------------------------------------------------- */

enum cdc_type { CDC_NULL, CDC_INTEGER, CDC_REAL, CDC_TEXT, CDC_BLOB };

struct cdc_value {
        enum cdc_type type;
        int64_t integer;
        double real;
        const void *bytes; /* TEXT in UTF-8 and BLOB; borrowed until the next row */
        size_t size;
};

/* Rows of a result, forward only. One thread. */
struct cdc_rows;

/* sys.sp_cdc_help_change_data_capture: one row an instance; table NULL = all. */
CDC_API int cdc_help_change_data_capture(const struct cdc_database *database, const char *table,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error);
/* sys.sp_cdc_help_jobs, with a column `state`: running, stopped, scheduled, no agent. */
CDC_API int cdc_help_jobs(const struct cdc_database *database, struct cdc_rows **ret_rows,
        struct cdc_error *ret_error);
/* One row of name and value a line: agent, pid, position, lag, gaps, errors … */
CDC_API int cdc_status(const struct cdc_database *database, struct cdc_rows **ret_rows,
        struct cdc_error *ret_error);
/* cdc.fn_cdc_get_all_changes_<instance>; from, to in any LSN text, row_filter 'all' or 'all
 * update old' (NULL = the latter). -EINVAL, -ERANGE (313), -ENODATA over a gap, -EAGAIN if
 * from is the LSN after max_lsn: nothing new yet. */
CDC_API int cdc_get_all_changes(const struct cdc_database *database, const char *instance,
        const char *from, const char *to, const char *row_filter, struct cdc_rows **ret_rows,
        struct cdc_error *ret_error);
/* cdc.fn_cdc_get_net_changes_<instance>: at most one row a key; row_filter 'all', 'all with mask'
 * (NULL means this) or 'all with merge'. Also -ENOTSUP (208): the instance does not support them.
 */
CDC_API int cdc_get_net_changes(const struct cdc_database *database, const char *instance,
        const char *from, const char *to, const char *row_filter, struct cdc_rows **ret_rows,
        struct cdc_error *ret_error);
/* The same over the transactions with from_time < commit time <= to_time: the to of one call is
 * the from of the next. Times as `2026-11-30T10:00:00Z`, with up to six decimals; NULL = the end
 * of the validity interval. A to_time up to which nobody has read the log yet is -ERANGE; a window
 * without transactions has no rows. */
CDC_API int cdc_get_all_changes_by_time(const struct cdc_database *database, const char *instance,
        const char *from_time, const char *to_time, const char *row_filter,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error);
CDC_API int cdc_get_net_changes_by_time(const struct cdc_database *database, const char *instance,
        const char *from_time, const char *to_time, const char *row_filter,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error);
/* sys.fn_cdc_get_min_lsn, sys.fn_cdc_get_max_lsn, as text 8:8:4 (23 bytes). instance NULL = the
 * database's. *ret_text is "" while the instance is pending. */
CDC_API int cdc_get_min_lsn(const struct cdc_database *database, const char *instance,
        char ret_text[24], struct cdc_error *ret_error);
CDC_API int cdc_get_max_lsn(
        const struct cdc_database *database, char ret_text[24], struct cdc_error *ret_error);

/* sys.fn_cdc_increment_lsn, sys.fn_cdc_decrement_lsn: the neighbour of any LSN text. -EINVAL. */
CDC_API int cdc_increment_lsn(const char *lsn, char ret_text[24], struct cdc_error *ret_error);
CDC_API int cdc_decrement_lsn(const char *lsn, char ret_text[24], struct cdc_error *ret_error);

/* sys.fn_cdc_map_time_to_lsn: 'largest less than', 'largest less than or equal', 'smallest greater
 * than' or 'smallest greater than or equal' a time. "" where no transaction is such. */
CDC_API int cdc_map_time_to_lsn(const struct cdc_database *database,
        const char *relational_operator, const char *time, char ret_text[24],
        struct cdc_error *ret_error);
/* sys.fn_cdc_map_lsn_to_time: the commit time of the transaction with exactly this LSN, or "". */
CDC_API int cdc_map_lsn_to_time(const struct cdc_database *database, const char *lsn,
        char ret_text[28], struct cdc_error *ret_error);
/* sys.fn_cdc_is_bit_set: mask as `\x…`, `0x…` or hex digits. 0 beyond its end. */
CDC_API int cdc_is_bit_set(
        unsigned position, const char *mask, bool *ret_bit, struct cdc_error *ret_error);
/* sys.fn_cdc_get_column_ordinal: 0 for a column that the instance has not. */
CDC_API int cdc_get_column_ordinal(const struct cdc_database *database, const char *instance,
        const char *column, unsigned *ret_ordinal, struct cdc_error *ret_error);
/* sys.fn_cdc_has_column_changed; -ENOENT also for a column that the instance has not. */
CDC_API int cdc_has_column_changed(const struct cdc_database *database, const char *instance,
        const char *column, const char *mask, bool *ret_changed, struct cdc_error *ret_error);
/* sys.sp_cdc_get_captured_columns, sys.sp_cdc_get_ddl_history of one instance. */
CDC_API int cdc_get_captured_columns(const struct cdc_database *database, const char *instance,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error);
CDC_API int cdc_get_ddl_history(const struct cdc_database *database, const char *instance,
        struct cdc_rows **ret_rows, struct cdc_error *ret_error);

CDC_API unsigned cdc_rows_columns(const struct cdc_rows *rows);
CDC_API const char *cdc_rows_name(const struct cdc_rows *rows, unsigned column);
/* 1 with a row, 0 at the end. -ESTALE in the place of 0: a store that nobody had open was written
 * to meanwhile, so that rows may be missing; ask again. */
CDC_API int cdc_rows_next(struct cdc_rows *rows);
CDC_API void cdc_rows_value(struct cdc_rows *rows, unsigned column, struct cdc_value *ret_value);
/* Writes all (remaining) rows to fd as "csv" or "jsonl": for change functions the very bytes of
 * the mount. 0 or negative errno. */
CDC_API int cdc_rows_write(struct cdc_rows *rows, const char *format, int fd);
CDC_API void cdc_rows_close(struct cdc_rows *rows);

/* ---- the engine ------------------------------------------------------------------------ */

/* The capture job and its helpers for one database, in threads of its own. */
struct cdc_engine;

enum cdc_log_level { CDC_LOG_ERROR = 3, CDC_LOG_WARNING = 4, CDC_LOG_INFO = 6, CDC_LOG_DEBUG = 7 };

struct cdc_engine_options {
        struct cdc_database database;
        /* Called from the engine's threads, holding no lock, when something that a view shows
         * may have changed. It may write to an eventfd and nothing else. */
        void (*wakeup)(void *context);
        void *wakeup_context;
        /* Asked from the capture thread before it answers a request: true from the moment on when
         * this process is going to stop the engine. What asked then waits for whoever comes next.
         * NULL: cdc_engine_halt alone tells. */
        bool (*is_ending)(void *context);
        void *ending_context;
        void (*log)(void *context, enum cdc_log_level level, const char *line);
        void *log_context;
        enum cdc_log_level log_level;
        uint64_t segment_bytes;       /* 0 = 16 MiB */
        unsigned segment_age_seconds; /* 0 = 300 */
        bool is_barrier_off;          /* never takes the application's write lock */
        bool is_wake_off; /* pollinginterval is the real wait between two passes, as in SQL Server
                           */
        unsigned linger_seconds; /* how long a withdrawn file opens by its name; 0 = 900 */
        uint64_t max_store;      /* bytes of the store, over which holds yield; 0 = no limit */
        uint32_t formats;        /* that files are closed in: cdc_parse_formats; 0 = all */
};

/* Checks that the database is enabled and can be captured, and that no other process runs its
 * jobs (-EBUSY; the message names its pid). One that is ending is waited for, up to 5 s. Opens
 * nothing that must not cross a fork; may be called in a process that forks afterwards. */
CDC_API int cdc_engine_check(const struct cdc_engine_options *options, struct cdc_error *ret_error);
/* Takes the lock, opens source and store, decides where to go on, starts the threads. Call it
 * after the last fork. */
CDC_API int cdc_engine_start(const struct cdc_engine_options *options,
        struct cdc_engine **ret_engine, struct cdc_error *ret_error);
/* What only a running engine knows, for documents: idle time writes nothing to the store. */
struct cdc_pulse {
        char end_of_log[24]; /* the last commit in the log that a look found; "" = none yet */
        int64_t as_of_ns;    /* when the last look found the end of the log */
        bool is_caught_up;   /* everything up to end_of_log is captured */
};
/* As of now, from any thread. */
CDC_API void cdc_engine_pulse(struct cdc_engine *engine, struct cdc_pulse *ret_pulse);
/* No request is answered from here on, so that whoever comes next waits for the end of this engine
 * instead of relying on it. Does not wait; cdc_engine_stop must follow. NULL is allowed. */
CDC_API void cdc_engine_halt(struct cdc_engine *engine);
/* Makes everything captured durable, stops the threads, lets go of the source. NULL is allowed.
 * 0, or the error that had stopped the engine. */
CDC_API int cdc_engine_stop(struct cdc_engine *engine);

/* ---- the view -------------------------------------------------------------------------- */

/* What a mount shows, read from the store alone: works beside an agent of another process and
 * with the source absent. Thread-safe; each thread that calls gets a read connection of its own,
 * which goes with the thread or with the view.
 *
 *      cdc_view_open(&database, &view, &error);
 *      struct cdc_catalog *catalog = cdc_view_catalog(view);
 *      instance = cdc_catalog_find_instance(catalog, "main_orders");
 *      for (uint64_t after = 0; (file = cdc_catalog_next_file(catalog, instance, 0, after));
 *              after = file->ordinal)
 *              cdc_content_open(view, file->ino, &content) …
 *      cdc_catalog_unref(catalog);
 */
struct cdc_view;
/* An immutable picture: instances and their closed files. Reference-counted; what is found in it
 * is good as long as the caller's reference. */
struct cdc_catalog;

/* Inode numbers are persisted, below 2^52 and never used again. Directories and documents take
 * theirs from blocks: one for the root, from cdc_catalog_base_ino() on, and one an instance. */
enum { CDC_ROOT_INOS = 1024, CDC_INSTANCE_INOS = 64 };

struct cdc_file {
        uint64_t ino;
        uint64_t ordinal; /* per instance and format, 1, 2, 3 …: order of the listing */
        uint64_t size;
        int64_t mtime_ns;
        char from_lsn[21]; /* the digits of the name */
        char to_lsn[21];
        bool is_mapping;   /* of what cdc_catalog_mapping gives, not of an instance */
        bool is_withdrawn; /* by cleanup: found by name and inode for a while, not listed */
        uint8_t format;
};

struct cdc_instance {
        int64_t object_id; /* from 1, never used again: order of the listing */
        uint64_t base_ino; /* of its directory; its documents and folders follow */
        int64_t mtime_ns;  /* moves whenever a file comes or goes */
        const char *name;
        const char *directory; /* its name in the mount */
        bool has_role;         /* a group alone may read it, beside the owner: */
        uint32_t role_gid;     /* this one; UINT32_MAX where no group has the name any more */
        bool supports_net_changes;
};

/* What can be made as a small document. The ones marked * exist per instance too. */
enum cdc_document {
        CDC_DOCUMENT_README,
        CDC_DOCUMENT_VALIDITY,          /* * validity.json */
        CDC_DOCUMENT_MIN_LSN,           /* * */
        CDC_DOCUMENT_MAX_LSN,           /* * */
        CDC_DOCUMENT_DDL_HISTORY,       /* * csv */
        CDC_DOCUMENT_DDL_HISTORY_JSONL, /* * */
        CDC_DOCUMENT_CAPTURED_COLUMNS,  /* * csv, as those that follow */
        CDC_DOCUMENT_CHANGE_TABLES,
        CDC_DOCUMENT_INDEX_COLUMNS,
        CDC_DOCUMENT_JOBS,
        CDC_DOCUMENT_SCAN_SESSIONS,
        CDC_DOCUMENT_ERRORS,
        CDC_DOCUMENT_SCHEMA,     /* of an instance only; json */
        CDC_DOCUMENT_FILES,      /* of an instance only; csv: a line for each listed file */
        CDC_DOCUMENT_PARTITIONS, /* of the root only; csv: Qlik's control table */
};

/* -ENOENT (22901): the database is not enabled. Nothing is created. */
CDC_API int cdc_view_open(const struct cdc_database *database, struct cdc_view **ret_view,
        struct cdc_error *ret_error);
/* No other thread may be in a call of this view. Contents that are still open go with it,
 * catalogs live on. NULL is allowed. */
CDC_API void cdc_view_close(struct cdc_view *view);
/* The path of the store: whoever wants news watches it and its WAL. */
CDC_API const char *cdc_view_store(const struct cdc_view *view);
/* Owner, group and mode bits (0666 masked) that the files of the mount have: the source's, or
 * the store's where there is no source. As of the last refresh. */
CDC_API void cdc_view_owner(
        struct cdc_view *view, uint32_t *ret_uid, uint32_t *ret_gid, uint32_t *ret_mode);
/* The same of an instance's directory and of all in it: with a role the owner and that group read,
 * and nobody else. */
CDC_API void cdc_view_instance_owner(struct cdc_view *view, const struct cdc_instance *instance,
        uint32_t *ret_uid, uint32_t *ret_gid, uint32_t *ret_mode);
/* Reads what is new in the store; next to nothing is done where nothing is. 1 if the catalog
 * changed, 0 if not, or negative errno. */
CDC_API int cdc_view_refresh(struct cdc_view *view);
CDC_API struct cdc_catalog *cdc_view_catalog(struct cdc_view *view); /* a reference of its own */
CDC_API void cdc_catalog_unref(struct cdc_catalog *catalog);         /* NULL is allowed */

CDC_API uint64_t cdc_catalog_base_ino(const struct cdc_catalog *catalog);
/* When the newest file or instance came, or one went. */
CDC_API int64_t cdc_catalog_mtime(const struct cdc_catalog *catalog);
CDC_API void cdc_catalog_totals(
        const struct cdc_catalog *catalog, uint64_t *ret_files, uint64_t *ret_bytes);
/* How many there are, but for the one that follows. */
CDC_API size_t cdc_catalog_instances(const struct cdc_catalog *catalog);
/* The first instance whose object_id is greater than `after`, or NULL. */
CDC_API const struct cdc_instance *cdc_catalog_next_instance(
        const struct cdc_catalog *catalog, int64_t after);
CDC_API const struct cdc_instance *cdc_catalog_find_object(
        const struct cdc_catalog *catalog, int64_t object_id);
/* What has the files that are no instance's, or NULL: no instance itself, without a name. Its files
 * of these formats are those of lsn_time_mapping and of transactions. */
enum { CDC_MAPPING_TABLE = 0, CDC_MAPPING_TRANSACTIONS = 1 };
CDC_API const struct cdc_instance *cdc_catalog_mapping(const struct cdc_catalog *catalog);
/* Has any instance a role? */
CDC_API bool cdc_catalog_has_roles(const struct cdc_catalog *catalog);
/* By its directory's name, exactly. */
CDC_API const struct cdc_instance *cdc_catalog_find_instance(
        const struct cdc_catalog *catalog, const char *directory);
/* The instance whose block of inode numbers holds `ino`. */
CDC_API const struct cdc_instance *cdc_catalog_find_block(
        const struct cdc_catalog *catalog, uint64_t ino);
/* Formats of all changes: 0 csv, 1 jsonl, … From cdc_formats() on follow those of net changes,
 * which only instances that support them have; the file of a segment has the same name in each.
 * Names are NULL from cdc_formats() + cdc_net_formats() on. */
CDC_API unsigned cdc_formats(void);
CDC_API unsigned cdc_net_formats(void);
CDC_API const char *cdc_format_name(unsigned format);   /* the folder: "csv" */
CDC_API const char *cdc_format_suffix(unsigned format); /* of the file: ".csv" */
/* "csv:jsonl:debezium:qlik" or some of it as a set of formats: bit `format`, of all changes and of
 * net changes, for each folder named. -EINVAL. */
CDC_API int cdc_parse_formats(const char *list, uint32_t *ret_formats);
/* What catalogs and manifests of the view list: all formats, but for a call of this, before any
 * other thread has the view. What is not listed opens as a range. */
CDC_API void cdc_view_list_formats(struct cdc_view *view, uint32_t formats);
CDC_API bool cdc_catalog_lists(const struct cdc_catalog *catalog, unsigned format);
/* The first file whose ordinal is greater than `after`, or NULL. */
CDC_API const struct cdc_file *cdc_catalog_next_file(const struct cdc_catalog *catalog,
        const struct cdc_instance *instance, unsigned format, uint64_t after);
/* The one with the greatest ordinal, or NULL. */
CDC_API const struct cdc_file *cdc_catalog_last_file(
        const struct cdc_catalog *catalog, const struct cdc_instance *instance, unsigned format);
/* By its whole name, suffix included. */
CDC_API const struct cdc_file *cdc_catalog_find_file(const struct cdc_catalog *catalog,
        const struct cdc_instance *instance, unsigned format, const char *name);
CDC_API const struct cdc_file *cdc_catalog_find_ino(
        const struct cdc_catalog *catalog, uint64_t ino);
/* Whose anything with an inode number is: a file, listed or live, a directory or a document. true
 * with the instance, or with NULL for what is no instance's; false: nobody's (any more). */
CDC_API bool cdc_catalog_find_owner(
        const struct cdc_catalog *catalog, uint64_t ino, const struct cdc_instance **ret_instance);

/* The inode number of what live/ shows of an instance in a format: its oldest file that is not
 * listed yet. It keeps the number when it is listed. 0: there is none, the instance is pending. */
CDC_API uint64_t cdc_catalog_live(
        const struct cdc_catalog *catalog, const struct cdc_instance *instance, unsigned format);
/* Whose live file has the number; NULL: it is none of the catalog's. */
CDC_API const struct cdc_instance *cdc_catalog_find_live(
        const struct cdc_catalog *catalog, uint64_t ino, unsigned *ret_format);

/* Renders a document as of now: *ret_bytes is the caller's to free. instance NULL = the root's;
 * pulse NULL = no engine runs here. *ret_mtime_ns: of what it tells, 0 if nothing dates it.
 * -ENOENT: the instance is gone, or has no such document. */
CDC_API int cdc_document_render(struct cdc_view *view, const struct cdc_instance *instance,
        enum cdc_document document, const struct cdc_pulse *pulse, char **ret_bytes,
        size_t *ret_size, int64_t *ret_mtime_ns);

/* The bytes of one closed file. Any number of threads may read. They are rendered when they are
 * first asked for and shared by all who read the file. */
struct cdc_content;
/* -ENOENT: no such file. */
CDC_API int cdc_content_open(struct cdc_view *view, uint64_t ino, struct cdc_content **ret_content);
/* Fills `size` bytes at `offset` but for the end of the file: never a short count elsewhere.
 * May render, or wait for another thread that does. */
CDC_API int cdc_content_read(
        struct cdc_content *content, uint64_t offset, void *buffer, size_t size, size_t *ret_size);
/* The same at once, or -EAGAIN where the bytes must be rendered first. */
CDC_API int cdc_content_try_read(
        struct cdc_content *content, uint64_t offset, void *buffer, size_t size, size_t *ret_size);
/* Its inode number, size and mtime. */
CDC_API void cdc_content_status(
        struct cdc_content *content, uint64_t *ret_ino, uint64_t *ret_size, int64_t *ret_mtime_ns);
CDC_API void cdc_content_close(struct cdc_content *content); /* NULL is allowed */

/* Ranges have inode numbers from here on: counted in each view, not persisted. */
#define CDC_FIRST_RANGE_INO (UINT64_C(1) << 52)

/* Asked between pieces of long work: true ends it with -EINTR. */
struct cdc_stop {
        bool (*is_stopped)(void *context);
        void *context;
};

/* Has it the form of a range's name in this format? FROM-TO and the suffix, where both are LSNs
 * (both included) or both times, 20261130T100000Z (after the first, up to the second). */
CDC_API bool cdc_range_is_name(unsigned format, const char *name);
/* The rows of any range of LSNs or window of times as a content: what its name says, rendered to
 * the end so that its size is known. The same name gives the same content as long as anybody has it
 * open, and for some time after; cdc_content_open finds it by its number meanwhile. mtime: of the
 * newest commit up to TO. Where there are no rows it is what the format has without any. What an
 * ended call has done stays done, so that the next one goes on.
 * pulse: of the engine that runs here, asked before; NULL = none, and then no window may end after
 * the last commit that is captured. stop: may be NULL.
 * -EINVAL: FROM is after TO; -ERANGE: outside the validity interval, or an end later than as_of;
 * -ENODATA: it touches a gap; -ENOENT: no such name or instance; -EINTR: ended by stop. */
CDC_API int cdc_range_open(struct cdc_view *view, const struct cdc_instance *instance,
        unsigned format, const char *name, const struct cdc_pulse *pulse,
        const struct cdc_stop *stop, struct cdc_content **ret_content);

/* A file that is not listed yet (or was so when it was opened): it grows by whole transactions. */
struct cdc_live;
struct cdc_live_status {
        uint64_t size;
        int64_t mtime_ns; /* moves with each growth */
        bool is_listed;   /* meanwhile: size and mtime will never change again */
};
/* As of the newest commit in the store. What is rendered for it is remembered, and the next call
 * goes on from there. -ENOENT: no such file; -ESTALE: its instance is gone. */
CDC_API int cdc_live_stat(struct cdc_view *view, uint64_t ino, struct cdc_live_status *ret_status);
/* The same if it is quick; -EAGAIN where much must be rendered first. */
CDC_API int cdc_live_try_stat(
        struct cdc_view *view, uint64_t ino, struct cdc_live_status *ret_status);
/* A handle, good until it is closed, also when the file is listed meanwhile. Reads give what the
 * last cdc_live_stat of anybody told, at least; otherwise as those of a content. */
CDC_API int cdc_live_open(struct cdc_view *view, uint64_t ino, struct cdc_live **ret_live);
CDC_API int cdc_live_read(
        struct cdc_live *live, uint64_t offset, void *buffer, size_t size, size_t *ret_size);
CDC_API int cdc_live_try_read(
        struct cdc_live *live, uint64_t offset, void *buffer, size_t size, size_t *ret_size);
CDC_API void cdc_live_close(struct cdc_live *live); /* NULL is allowed */

#endif
