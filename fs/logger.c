/* SPDX-License-Identifier: MIT
 *
 * logger: one line to stderr or syslog.
 */
#include "logger.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

void logger_engine_line(void *context, enum cdc_log_level level, const char *line)
{
        struct logger *logger = context;
        if (level > logger->level)
                return;
        if (atomic_load(&logger->is_syslog)) {
                syslog(level, "%s", line);
                return;
        }
        char text[1200];
        int size = snprintf(text, sizeof text, "cdcfs: %s\n", line);
        if (size >= (int)sizeof text)
                size = (int)strlen(text);
        if (write(STDERR_FILENO, text, (size_t)size) < 0)
                return; /* nobody is there to be told */
}

void logger_line(struct logger *logger, enum cdc_log_level level, const char *format, ...)
{
        char line[1100];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(line, sizeof line, format, arguments);
        va_end(arguments);
        logger_engine_line(logger, level, line);
}

void logger_leave_terminal(struct logger *logger)
{
        openlog("cdcfs", LOG_PID, LOG_DAEMON);
        atomic_store(&logger->is_syslog, true);
}
