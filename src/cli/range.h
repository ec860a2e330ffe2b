/* SPDX-License-Identifier: MIT
 *
 * range: what the two change functions share on the command line: a range of LSNs or a window of
 * time, and what their answer means.
 */
#ifndef CDCCTL_RANGE_H
#define CDCCTL_RANGE_H

#include "command.h"

/* The rows of --help for a window of time, between a command's own. */
#define RANGE_OPTIONS                                                                              \
        {"--from-time", "TIME",                                                                    \
                "instead of FROM: commits after this moment;\nwithout it, from the first on"},     \
        {                                                                                          \
                "--to-time", "TIME",                                                               \
                        "instead of TO: commits up to this moment;\nwithout it, to the last one"   \
        }

typedef int (*range_function)(const struct cdc_database *database, const char *instance,
        const char *from, const char *to, const char *row_filter, struct cdc_rows **ret_rows,
        struct cdc_error *ret_error);

/* Runs by_lsn, or by_time where one of RANGE_OPTIONS is given, and prints. The arguments are
 * DATABASE INSTANCE [FROM] [TO]. */
enum exit_code range_run(
        const struct invocation *invocation, range_function by_lsn, range_function by_time);

#endif
