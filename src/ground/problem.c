/* SPDX-License-Identifier: MIT
 *
 * problem: fills in why a call failed, and reads SQLite's results as errno values.
 *
 * The words come from the room that failed. It refuses to know who will read them: a face
 * adds the prefix, the number and the exit code.
 */
#include "ground/problem.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ground/text.h"

int problem_set(struct problem *problem, int error, int number, const char *format, ...)
{
        if (!problem)
                return -error;
        /* Formatted aside, because an argument may be the old message. One byte longer, so that
         * the cut sees where a character ends. */
        char message[sizeof(problem->message) + 1];
        va_list arguments;
        va_start(arguments, format);
        int wanted = vsnprintf(message, sizeof(message), format, arguments);
        va_end(arguments);
        if (wanted < 0)
                message[0] = 0;
        size_t size =
                text_cut((const uint8_t *)message, strlen(message), sizeof(problem->message) - 1);
        memcpy(problem->message, message, size);
        problem->message[size] = 0;
        problem->number = number;
        return -error;
}

int problem_errno(int sqlite_result)
{
        if (sqlite_result == SQLITE_IOERR_NOMEM)
                return -ENOMEM;
        switch (sqlite_result & 0xff) {
        case SQLITE_OK:
        case SQLITE_ROW:
        case SQLITE_DONE:
                return 0;
        case SQLITE_NOMEM:
                return -ENOMEM;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
                return -EAGAIN;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
                return -EBADMSG;
        case SQLITE_FULL:
                return -ENOSPC;
        case SQLITE_READONLY:
                return -EROFS;
        case SQLITE_PERM:
        case SQLITE_CANTOPEN:
                return -EACCES;
        case SQLITE_INTERRUPT:
                return -EINTR;
        default:
                return -EIO;
        }
}
