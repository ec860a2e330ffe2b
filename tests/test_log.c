/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ground/cleanup.h"
#include "ground/log.h"

struct seen {
        unsigned lines;
        enum log_level level;
        char line[2000];
};

static void remember(void *context, enum log_level level, const char *line)
{
        struct seen *seen = context;
        seen->lines++;
        seen->level = level;
        snprintf(seen->line, sizeof(seen->line), "%s", line);
}

Test(log, lines_above_the_level_are_dropped)
{
        static const struct {
                const char *name;
                enum log_level limit, level;
                bool shown;
        } cases[] = {
                {"error at error", LOG_ERR_LEVEL, LOG_ERR_LEVEL, true},
                {"warning at error", LOG_ERR_LEVEL, LOG_WARNING_LEVEL, false},
                {"warning at info", LOG_INFO_LEVEL, LOG_WARNING_LEVEL, true},
                {"debug at info", LOG_INFO_LEVEL, LOG_DEBUG_LEVEL, false},
                {"debug at debug", LOG_DEBUG_LEVEL, LOG_DEBUG_LEVEL, true},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct seen seen = {0};
                struct log log = {.level = cases[i].limit, .sink = remember, .context = &seen};
                log_line(&log, cases[i].level, "n=%d", 5);
                cr_expect_eq(seen.lines, cases[i].shown, "%s", cases[i].name);
                cr_expect_str_eq(seen.line, cases[i].shown ? "n=5" : "", "%s", cases[i].name);
                cr_expect_eq(seen.level, cases[i].shown ? cases[i].level : 0, "%s", cases[i].name);
        }
}

Test(log, no_log_and_no_sink_drop_everything)
{
        struct log log = {.level = LOG_DEBUG_LEVEL};
        log_line(NULL, LOG_ERR_LEVEL, "%s", "x");
        log_line(&log, LOG_ERR_LEVEL, "%s", "x");
}

Test(log, a_line_stays_one_line)
{
        static const struct {
                const char *text, *line;
        } cases[] = {
                {"a\n", "a"},
                {"a\n\n", "a"},
                {"a\nb", "a b"},
                {"\r\x1b[1m\t\x7f", "  [1m  "},
                {"\n", ""},
                {"größe", "größe"},
        };
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct seen seen = {0};
                struct log log = {.level = LOG_INFO_LEVEL, .sink = remember, .context = &seen};
                log_line(&log, LOG_INFO_LEVEL, "%s", cases[i].text);
                cr_expect_eq(seen.lines, 1);
                cr_expect_str_eq(seen.line, cases[i].line);
        }
}

Test(log, a_long_line_is_cut_before_a_character)
{
        static const struct {
                size_t filler;
                size_t length;
        } cases[] = {{997, 1000}, {998, 998}, {999, 999}, {1000, 1000}, {1500, 1000}};
        for (size_t i = 0; i < COUNT(cases); i++) {
                struct seen seen = {0};
                struct log log = {.level = LOG_INFO_LEVEL, .sink = remember, .context = &seen};
                log_line(&log, LOG_INFO_LEVEL, "%0*d€€", (int)cases[i].filler, 0);
                cr_expect_eq(strlen(seen.line), cases[i].length, "%zu: %zu", cases[i].filler,
                        strlen(seen.line));
        }
}
