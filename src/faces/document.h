/* SPDX-License-Identifier: MIT
 *
 * document: the small files beside the change files.
 *
 * Each function appends the whole document. object_id 0 is the database, else an instance
 * (-ENOENT if it is not there). A document is a pure function of the store and the pulse; a
 * caller that wants its parts of one state has a read transaction open.
 */
#ifndef CDC_DOCUMENT_H
#define CDC_DOCUMENT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "faces/render.h"
#include "ground/buf.h"
#include "ground/lsn.h"

/* What only a running agent knows: idle time writes nothing to the store. */
struct document_pulse {
        struct lsn end_of_log; /* the last commit in the log that a look found */
        int64_t as_of_ns;      /* when the last look found the end of the log */
        bool is_caught_up;     /* everything up to end_of_log is captured */
};

/* What the tree is, in one screen. source: the path of the database. */
void document_readme(const char *source, struct buf *buf);
/* validity.json. Without a pulse (NULL) end_of_log, as_of and caught_up are null. */
int document_validity(
        sqlite3 *store, int64_t object_id, const struct document_pulse *pulse, struct buf *buf);
/* One line of text LSN; nothing while pending. */
int document_min_lsn(sqlite3 *store, int64_t object_id, struct buf *buf);
int document_max_lsn(sqlite3 *store, int64_t object_id, struct buf *buf);
/* The columns of sys.sp_cdc_get_ddl_history, by LSN. */
int document_ddl_history(
        sqlite3 *store, int64_t object_id, const struct renderer *renderer, struct buf *buf);
/* schema.json of an instance: its captured columns, in order. */
int document_schema(sqlite3 *store, int64_t object_id, struct buf *buf);
/* Qlik's control table of change data partitions: a row for each listed file in the format qlik,
 * its columns first, then `FILE`, the file's path in the mount. server: the name of this machine.
 */
int document_partitions(sqlite3 *store, const char *server, struct buf *buf);
/* A metadata table (change_tables, captured_columns, index_columns, cdc_jobs,
 * dm_cdc_log_scan_sessions, dm_cdc_errors) with SQL Server's columns, change_tables with its
 * `directory` after them. object_id 0 = every row. -ENOENT for any other table. */
int document_table(sqlite3 *store, const char *table, int64_t object_id,
        const struct renderer *renderer, struct buf *buf);

#endif
