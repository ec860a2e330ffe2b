/* SPDX-License-Identifier: MIT
 *
 * instance: the capture instances of a round: which tables, which columns, what identifies a row;
 * chosen at random and enabled through cdcctl.
 */
#ifndef DIFFERENTIAL_INSTANCE_H
#define DIFFERENTIAL_INSTANCE_H

#include "catalog.h"
#include "names.h"
#include "program.h"
#include "shared.h"

struct instance {
        char *name;
        char *table;           /* its name when the instance was chosen */
        unsigned number;       /* naming.h */
        char *index;           /* the unique index that identifies rows (--index), or NULL */
        struct names columns;  /* captured, in ordinal order */
        struct names identity; /* key columns in key order; none: the rowid */
        bool is_listed;        /* enabled with --captured-columns */
        bool is_named;         /* enabled with --capture-instance */
        bool is_late;          /* enabled while writers run */
        uint64_t chosen_after; /* late: the last transaction that its choice saw */
        bool is_enabled;
};

struct instances {
        struct instance *items; /* the marker table's first */
        unsigned count;
};

void instances_release(struct instances *instances);
/* Chooses instances of the tables that exist, and sets which tables are watched. */
int instances_choose(sqlite3 *db, struct random *random, struct shared *shared, bool leaves_some,
        struct instances *ret_instances);
/* One more for a watched table that has none, or a second one. NULL: there is none. */
struct instance *instances_choose_late(sqlite3 *db, struct random *random,
        const struct shared *shared, struct instances *instances);
/* cdcctl enable-table. The exit status, or negative errno. */
int instance_enable(struct instance *instance, const struct programs *programs,
        const struct settings *settings);

#endif
