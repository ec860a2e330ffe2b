/* SPDX-License-Identifier: MIT
 *
 * log: formats one line and hands it to the owner's sink.
 *
 * A line stays one line: names from a database may hold newlines or escape sequences, so
 * control bytes become spaces. It refuses to know where lines go, and adds neither time nor
 * level to them.
 */
#include "ground/log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ground/text.h"

enum { LOG_LINE_MAX = 1000 };

static void make_one_line(char *line)
{
        size_t size = strlen(line);
        while (size > 0 && line[size - 1] == '\n')
                size--;
        size = text_cut((const uint8_t *)line, size, LOG_LINE_MAX);
        line[size] = 0;
        for (size_t i = 0; i < size; i++) {
                if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
                        line[i] = ' ';
        }
}

void log_line(const struct log *log, enum log_level level, const char *format, ...)
{
        if (!log || !log->sink || level > log->level)
                return;
        /* One byte more than a line may have, so that the cut sees where a character ends. */
        char line[LOG_LINE_MAX + 2];
        va_list arguments;
        va_start(arguments, format);
        int size = vsnprintf(line, sizeof(line), format, arguments);
        va_end(arguments);
        if (size < 0)
                return;
        make_one_line(line);
        log->sink(log->context, level, line);
}
