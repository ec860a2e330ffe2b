/* SPDX-License-Identifier: MIT
 *
 * log: one line to one sink. Only rooms at the top of a thread log; all others return.
 *
 * A log is a struct that its owner passes on; a NULL log drops everything.
 */
#ifndef CDC_LOG_H
#define CDC_LOG_H

enum log_level {
        LOG_ERR_LEVEL = 3,
        LOG_WARNING_LEVEL = 4,
        LOG_INFO_LEVEL = 6,
        LOG_DEBUG_LEVEL = 7
};

struct log {
        enum log_level level; /* lines above it are dropped */
        void (*sink)(void *context, enum log_level level, const char *line);
        void *context;
};

/* line: no trailing newline, at most 1000 bytes. */
void log_line(const struct log *log, enum log_level level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

#endif
