/* SPDX-License-Identifier: MIT */
#include "logger.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What the function wrote to stderr. */
static ssize_t captured(
        void (*write_lines)(struct logger *), struct logger *logger, char *text, size_t size)
{
        int ends[2], former = dup(STDERR_FILENO);
        cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
        dup2(ends[1], STDERR_FILENO);
        write_lines(logger);
        dup2(former, STDERR_FILENO);
        ssize_t got = read(ends[0], text, size - 1);
        text[got > 0 ? got : 0] = '\0';
        close(ends[0]);
        close(ends[1]);
        close(former);
        return got;
}

static void some_lines(struct logger *logger)
{
        logger_line(logger, CDC_LOG_ERROR, "one %d", 1);
        logger_line(logger, CDC_LOG_DEBUG, "two");
        logger_engine_line(logger, CDC_LOG_INFO, "three %s");
}

static void long_line(struct logger *logger)
{
        char line[3000];
        memset(line, 'x', sizeof line);
        line[sizeof line - 1] = '\0';
        logger_engine_line(logger, CDC_LOG_ERROR, line);
}

Test(logger, writes_lines_up_to_its_level)
{
        struct logger logger = {.level = CDC_LOG_INFO};
        char text[4096];
        captured(some_lines, &logger, text, sizeof text);
        cr_expect_str_eq(text, "cdcfs: one 1\ncdcfs: three %s\n");
        cr_expect_gt(captured(long_line, &logger, text, sizeof text), 1000);
}

Test(logger, is_silent_on_stderr_once_it_has_left_the_terminal)
{
        struct logger logger = {.level = CDC_LOG_INFO};
        char text[4096];
        logger_leave_terminal(&logger);
        captured(some_lines, &logger, text, sizeof text);
        cr_expect_str_eq(text, "");
}
