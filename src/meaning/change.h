/* SPDX-License-Identifier: MIT
 *
 * change: one row change of one capture instance, and what else a transaction brings.
 *
 * These are the small types that pass between the log reader (or a scripted source in tests)
 * and the memory floor. Values are the captured columns in ordinal order.
 */
#ifndef CDC_CHANGE_H
#define CDC_CHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include "bytes/value.h"
#include "ground/lsn.h"

enum change_operation { CHANGE_DELETE = 1, CHANGE_INSERT = 2, CHANGE_UPDATE = 4 };

/* Borrowed until the next call to the source. */
struct change {
        int64_t object_id; /* the instance, change_tables.object_id */
        enum change_operation operation;
        unsigned columns;
        const struct value *before; /* NULL for an insert */
        const struct value *after;  /* NULL for a delete */
        const uint8_t *mask;        /* mask_size(columns) bytes (SQL Server, __$update_mask) */
};

enum change_event_type {
        CHANGE_EVENT_DDL,     /* goes to ddl_history */
        CHANGE_EVENT_BOUND,   /* the table or its columns are others now: `binding` */
        CHANGE_EVENT_DROPPED, /* the source table is gone: has_drop_pending */
        CHANGE_EVENT_STOPPED, /* the instance cannot go on: an error, and a gap that stays open */
};

/* Where an instance finds its table and columns from this commit on. */
struct change_binding {
        const char *table;
        int64_t schema_rowid; /* the table's row in sqlite_schema */
        const char *sql;
        const int *positions;     /* of the captured columns in the table, -1 = dropped */
        const char *const *types; /* their declared types, NULL where dropped */
        unsigned count;
};

/* Something that happened to one instance at this commit, before its rows. Borrowed. */
struct change_event {
        enum change_event_type type;
        int64_t object_id;
        bool required_column_update;
        const char *text; /* the derived statement, or why the instance stopped */
        const struct change_binding *binding; /* CHANGE_EVENT_BOUND */
};

/* A committed transaction. */
struct change_transaction {
        struct lsn lsn;
        int64_t time_ns; /* when the commit was seen */
        uint32_t frames; /* frames it has in the log */
        uint32_t pages;  /* pages of the database after it */
        bool is_ddl;     /* the schema changed */
        unsigned event_count;
        const struct change_event *events; /* borrowed until the next transaction */
};

#endif
