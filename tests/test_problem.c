/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/problem.h"
#include "ground/text.h"

Test(problem, words_and_number_are_kept_and_the_error_returned)
{
        struct problem problem = {0};
        cr_expect_eq(problem_set(&problem, ENOENT, 22981, "no table %s", "t"), -ENOENT);
        cr_expect_eq(problem.number, 22981);
        cr_expect_str_eq(problem.message, "no table t");
        cr_expect_eq(problem_set(&problem, EINVAL, 0, "later"), -EINVAL);
        cr_expect_eq(problem.number, 0);
        cr_expect_str_eq(problem.message, "later");
}

Test(problem, null_is_allowed)
{
        cr_expect_eq(problem_set(NULL, EIO, 1, "%d", 5), -EIO);
}

Test(problem, the_old_message_may_be_part_of_the_new_one)
{
        struct problem problem = {.message = "disk gone"};
        problem_set(&problem, EIO, 0, "cannot read %s: %s", "app.db", problem.message);
        cr_expect_str_eq(problem.message, "cannot read app.db: disk gone");
}

Test(problem, a_long_message_is_cut_before_a_character)
{
        for (int filler = 1015; filler <= 1030; filler++) {
                struct problem problem = {0};
                problem_set(&problem, EIO, 0, "%0*d€€€€", filler, 0);
                size_t length = strlen(problem.message);
                cr_expect(length > 1020 && length <= 1023, "%d: %zu", filler, length);
                cr_expect(text_is_utf8((const uint8_t *)problem.message, length), "%d", filler);
        }
}

Test(problem, results_of_sqlite_are_errno_values)
{
        static const struct {
                int result, error;
        } cases[] = {
                {SQLITE_OK, 0},
                {SQLITE_ROW, 0},
                {SQLITE_DONE, 0},
                {SQLITE_NOMEM, -ENOMEM},
                {SQLITE_IOERR_NOMEM, -ENOMEM},
                {SQLITE_BUSY, -EAGAIN},
                {SQLITE_BUSY_SNAPSHOT, -EAGAIN},
                {SQLITE_LOCKED, -EAGAIN},
                {SQLITE_LOCKED_SHAREDCACHE, -EAGAIN},
                {SQLITE_CORRUPT, -EBADMSG},
                {SQLITE_CORRUPT_INDEX, -EBADMSG},
                {SQLITE_NOTADB, -EBADMSG},
                {SQLITE_FULL, -ENOSPC},
                {SQLITE_READONLY, -EROFS},
                {SQLITE_READONLY_DIRECTORY, -EROFS},
                {SQLITE_PERM, -EACCES},
                {SQLITE_CANTOPEN, -EACCES},
                {SQLITE_CANTOPEN_ISDIR, -EACCES},
                {SQLITE_INTERRUPT, -EINTR},
                {SQLITE_IOERR, -EIO},
                {SQLITE_IOERR_READ, -EIO},
                {SQLITE_ERROR, -EIO},
                {SQLITE_PROTOCOL, -EIO},
                {SQLITE_MISUSE, -EIO},
        };
        for (size_t i = 0; i < COUNT(cases); i++)
                cr_expect_eq(problem_errno(cases[i].result), cases[i].error, "%d", cases[i].result);
}
