/* SPDX-License-Identifier: MIT
 *
 * job_options: parameters of jobs as options, for the commands that take them.
 */
#ifndef CDCCTL_JOB_OPTIONS_H
#define CDCCTL_JOB_OPTIONS_H

#include "command.h"

/* Rows of the table of options; what a parameter may be is the engine's to say. */
#define JOB_OPTIONS_CAPTURE                                                                        \
        {"--maxtrans", "N", "transactions a scan cycle takes at most"},                            \
                {"--maxscans", "N", "scan cycles a pass makes at most"},                           \
                {"--continuous", "0|1", "1: pass after pass; 0: one"},                             \
        {                                                                                          \
                "--pollinginterval", "SECONDS", "the pause between two passes"                     \
        }
#define JOB_OPTIONS_CLEANUP                                                                        \
        {"--retention", "MINUTES", "how long changes are kept"},                                   \
        {                                                                                          \
                "--threshold", "ROWS", "rows that one delete takes at most"                        \
        }

/* A whole number, negative ones too, or CDC_UNSET. EXIT_USAGE with a line on stderr. */
enum exit_code job_options_number(
        const struct invocation *invocation, const char *name, int64_t *ret_number);
/* All that the command has. */
enum exit_code job_options_read(
        const struct invocation *invocation, const char *type, struct cdc_job *ret_job);

#endif
