/* SPDX-License-Identifier: MIT
 *
 * clock: reads the system's clocks, or a test's in their place, and writes times as text.
 *
 * All times are UTC. It refuses to know time zones and leap seconds, and keeps no state: a
 * caller that wants rising stamps hands in the last one.
 */
#include "ground/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)

static int64_t read_clock(clockid_t id)
{
        struct timespec now = {0};
        clock_gettime(id, &now);
        return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

int64_t clock_wall(const struct clock *clock)
{
        if (clock && clock->wall)
                return clock->wall(clock->context);
        return read_clock(CLOCK_REALTIME);
}

int64_t clock_monotonic(const struct clock *clock)
{
        if (clock && clock->monotonic)
                return clock->monotonic(clock->context);
        return read_clock(CLOCK_MONOTONIC);
}

void clock_format(int64_t wall_ns, char ret_text[CLOCK_TEXT_SIZE])
{
        int64_t fraction = wall_ns % NS_PER_SECOND;
        time_t seconds = (time_t)(wall_ns / NS_PER_SECOND);
        /* Before 1970 division truncates towards zero; the text wants the second before. */
        if (fraction < 0) {
                fraction += NS_PER_SECOND;
                seconds--;
        }
        struct tm tm = {0};
        gmtime_r(&seconds, &tm);
        /* 64 bits of nanoseconds end in the year 2262; the masks tell the compiler so. */
        snprintf(ret_text, CLOCK_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ",
                (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100,
                (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100,
                (unsigned)tm.tm_sec % 100, (unsigned)(fraction / 1000) % 1000000);
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* Reads the numbers that `form` shows as runs of `d`, with one byte between two of them. */
static const char *parse_fields(const char *text, const char *form, int *field)
{
        *field = 0;
        for (; *form; form++, text++) {
                if (*form == 'd' && is_digit(*text))
                        *field = *field * 10 + (*text - '0');
                else if (*form != 'd' && *text == *form)
                        *++field = 0;
                else
                        return NULL;
        }
        return text;
}

/* A fraction of 1 to 9 digits as nanoseconds; none is 0. */
static const char *parse_fraction(const char *text, int64_t *ret_ns)
{
        *ret_ns = 0;
        if (*text != '.')
                return text;
        const char *digit = text + 1;
        if (!is_digit(*digit))
                return NULL;
        for (int64_t unit = NS_PER_SECOND / 10; unit > 0 && is_digit(*digit); unit /= 10)
                *ret_ns += unit * (*digit++ - '0');
        return digit;
}

/* The date and time up to the whole second; NULL where there is no such moment. */
static const char *parse_seconds(const char *text, int64_t *ret_seconds)
{
        int field[6];
        text = parse_fields(text, "dddd-dd-ddTdd:dd:dd", field);
        if (!text)
                return NULL;
        struct tm tm = {
                .tm_year = field[0] - 1900,
                .tm_mon = field[1] - 1,
                .tm_mday = field[2],
                .tm_hour = field[3],
                .tm_min = field[4],
                .tm_sec = field[5],
        };
        *ret_seconds = timegm(&tm);
        /* timegm carries a 30th of February over into March; such a date does not exist. */
        bool carried = tm.tm_mon != field[1] - 1 || tm.tm_mday != field[2] ||
                       tm.tm_hour != field[3] || tm.tm_min != field[4] || tm.tm_sec != field[5];
        return carried ? NULL : text;
}

int clock_parse(const char *text, int64_t *ret_wall_ns)
{
        int64_t seconds, fraction, wall;
        text = parse_seconds(text, &seconds);
        if (text)
                text = parse_fraction(text, &fraction);
        if (!text || text[0] != 'Z' || text[1] != 0)
                return -EINVAL;
        if (__builtin_mul_overflow(seconds, NS_PER_SECOND, &wall) ||
                __builtin_add_overflow(wall, fraction, &wall))
                return -EINVAL;
        *ret_wall_ns = wall;
        return 0;
}

int64_t clock_stamp_after(int64_t now_ns, int64_t last_ns)
{
        return now_ns > last_ns ? now_ns : last_ns + 1;
}
