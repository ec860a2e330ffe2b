/* SPDX-License-Identifier: MIT
 *
 * problem: why a call failed, in words for a human, with SQL Server's message number where it
 * has one. Filled by the room that knows; shown by a face. NULL is allowed everywhere.
 */
#ifndef CDC_PROBLEM_H
#define CDC_PROBLEM_H

struct problem {
        int number; /* SQL Server's message number, or 0 */
        char message[1024];
};

/* Fills *problem (if not NULL) and returns -error (error > 0, an errno). */
int problem_set(struct problem *problem, int error, int number, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
/* A result of SQLite as a negative errno: 0 for OK, ROW and DONE; -ENOMEM, -EAGAIN (busy,
 * locked), -EBADMSG (corrupt, not a database), -ENOSPC (full), -EROFS, -EACCES (permission,
 * cannot open), -EINTR, else -EIO. */
int problem_errno(int sqlite_result);

#endif
