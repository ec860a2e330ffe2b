/* SPDX-License-Identifier: MIT
 *
 * instances: capture instances: what change_tables, captured_columns, index_columns,
 * cdcfs_source_tables and cdcfs_instances hold, as structs. Enabling and disabling is in
 * memory/enable.h.
 *
 * An instance's names, columns, ordinals and key are fixed for life (sqlserver-cdc §1.2); what
 * follows the source is source_table, source_rowid, source_sql and each column's position, set
 * with instances_bind after DDL. It does not read the source.
 *
 * Every change here raises state.catalog_version by one, in the caller's transaction.
 */
#ifndef CDC_INSTANCES_H
#define CDC_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ground/lsn.h"
#include "memory/store.h"

enum { INSTANCE_INO_COUNT = 64 }; /* inode numbers from base_ino on, for directory and documents */

struct instance_column {
        char *name;          /* as at enable; stays over a rename of the source column */
        char *declared_type; /* "" if none; captured_columns.column_type */
        char affinity;       /* as struct schema_column */
        bool is_computed;    /* generated, virtual or stored */
        unsigned column_id;  /* position in the source at enable, from 1; never changes */
        int position;        /* index in schema_table.columns now; -1: dropped */
};

struct instance {
        int64_t object_id;        /* never reused */
        int64_t source_object_id; /* shared by the instances of one table */
        char *name;
        char *directory;      /* in the mount */
        char *change_table;   /* "<name>_CT", unquoted */
        char *rowid_name;     /* `_rowid_`, `rowid` or `oid`: what no captured column hides */
        char *source_table;   /* the table's name now */
        int64_t source_rowid; /* in sqlite_schema: the table's identity while it lives */
        char *source_sql;     /* its CREATE text as last seen by capture (at enable at first) */
        bool has_start;       /* false: pending, capture has not recognised it yet */
        struct lsn start_lsn; /* low-water mark */
        bool supports_net_changes;
        bool has_drop_pending;
        char *role;       /* NULL = none */
        char *index_name; /* NULL = no declared key; "PRIMARY KEY" where that has no index */
        int64_t create_time_ns;
        int64_t changed_ns; /* mtime of its directory */
        uint64_t base_ino;
        char *error;                     /* NULL, or why it stopped */
        struct instance_column *columns; /* columns[ordinal - 1] */
        unsigned column_count;
        unsigned *key;      /* ordinals (from 1), in key order: the row's identity */
        unsigned key_count; /* 0: the rowid identifies a row */
        char statement[32]; /* name of its cached insert (changetable) */
};

struct instances {
        struct instance *items; /* by object_id */
        size_t count;
};

/* All instances. 0, -ENOMEM, -EBADMSG or another negative errno. */
int instances_load(struct store *store, struct instances *ret_instances);
void instances_release(struct instances *instances);
/* One instance that is in no list. */
void instance_release(struct instance *instance);
/* By name, exactly (design §2), or NULL. The list owns the result. */
const struct instance *instances_find(const struct instances *instances, const char *name);
const struct instance *instances_find_object(const struct instances *instances, int64_t object_id);

/* Capture has taken it up: start_lsn is the last commit before that. Also the database's min_lsn
 * if it has none. The caller adds the mapping row at start_lsn (mapping_append, a dummy) and opens
 * its files (segments_open). -ENOENT: no such instance. */
int instances_recognise(struct store *store, int64_t object_id, struct lsn start_lsn);
/* Only upwards (cleanup). */
int instances_set_start(struct store *store, int64_t object_id, struct lsn start_lsn);
/* The source table is gone: has_drop_pending. */
int instances_set_dropped(struct store *store, int64_t object_id);
/* It cannot go on (text), or can again (NULL). */
int instances_set_error(struct store *store, int64_t object_id, const char *error);
/* What the instance is bound to after DDL; positions has column_count entries, -1 = dropped.
 * Other instances of the same source table must be bound too, each with its own call. */
int instances_bind(struct store *store, const struct instance *instance, const char *table,
        int64_t schema_rowid, const char *sql, const int *positions);
/* declared type of a captured column changed (required_column_update). */
int instances_set_type(struct store *store, int64_t object_id, unsigned ordinal, const char *type);

#endif
