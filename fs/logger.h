/* SPDX-License-Identifier: MIT
 *
 * logger: lines for the human: to stderr while a terminal may be listening, to syslog once the
 * daemon has left it.
 *
 * Lines that are no errors wait for nobody: one write, no lock. Thread-safe.
 */
#ifndef CDCFS_LOGGER_H
#define CDCFS_LOGGER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cdc.h"

struct logger {
        enum cdc_log_level level; /* lines above it are dropped */
        atomic_bool is_syslog;
};

void logger_line(struct logger *logger, enum cdc_log_level level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* The same with the shape of the engine's callback. */
void logger_engine_line(void *logger, enum cdc_log_level level, const char *line);
/* From now on to syslog, as a daemon. */
void logger_leave_terminal(struct logger *logger);

#endif
