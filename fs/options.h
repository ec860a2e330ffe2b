/* SPDX-License-Identifier: MIT
 *
 * options: the command line of cdcfs, from one table that also prints --help.
 *
 *      cdcfs DATABASE MOUNTPOINT [-f] [-o OPTION,…]
 *
 * mount(8), mount.fuse3 and fstab hand over words that are theirs (nofail, x-systemd.…, rw); they
 * are dropped without a word. Anything else that is not known is refused. It checks form, not
 * whether a path leads anywhere.
 */
#ifndef CDCFS_OPTIONS_H
#define CDCFS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cdc.h"

struct options {
        char *database;   /* owned, as given */
        char *mountpoint; /* owned, as given */
        char *store;      /* owned; NULL = beside the database */
        bool is_foreground;
        bool is_jobs_off;
        bool is_barrier_off;
        bool is_wake_off;
        bool is_allow_other;
        bool is_help;            /* print it and be done; nothing else is set then */
        bool is_version;         /* likewise */
        uint64_t max_store;      /* 0 = no limit */
        uint32_t formats;        /* that are closed and listed; 0 = all */
        unsigned linger_seconds; /* 0 = the engine's default, as the next two */
        uint64_t segment_bytes;
        unsigned segment_age_seconds;
        unsigned max_threads;
        unsigned max_read; /* bytes; 0 = the kernel's */
        enum cdc_log_level log_level;
};

/* One row of the table. */
struct option_row {
        const char *name;     /* as it stands in -o, with its `=` */
        const char *argument; /* what stands after the `=`, or NULL */
        const char *help;
        int (*set)(struct options *options, const char *value); /* 0 or -EINVAL */
};

enum { OPTIONS_MAX_THREADS = 10, OPTIONS_ERROR_SIZE = 256 };

/* 0, or -EINVAL with one line for the user in error, or -ENOMEM. */
int options_parse(
        int argc, char **argv, struct options *ret_options, char error[OPTIONS_ERROR_SIZE]);
void options_release(struct options *options);
/* Fits into 80 columns. */
void options_print_help(FILE *file);
/* The rows that --help shows, ended by one without a name. */
const struct option_row *options_table(void);

#endif
