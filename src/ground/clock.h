/* SPDX-License-Identifier: MIT
 *
 * clock: wall time and monotonic time, as nanoseconds; times as text.
 *
 * Wall time is since 1970 in UTC. A test sets another clock in its own struct; nothing global.
 */
#ifndef CDC_CLOCK_H
#define CDC_CLOCK_H

#include <stdint.h>

enum { CLOCK_TEXT_SIZE = 28 }; /* 2026-11-30T10:00:00.000000Z and the NUL */

struct clock {
        int64_t (*wall)(void *context);      /* NULL = CLOCK_REALTIME */
        int64_t (*monotonic)(void *context); /* NULL = CLOCK_MONOTONIC */
        void *context;
};

int64_t clock_wall(const struct clock *clock);      /* clock may be NULL: the system's */
int64_t clock_monotonic(const struct clock *clock); /* clock may be NULL: the system's */
/* Microseconds, truncated. */
void clock_format(int64_t wall_ns, char ret_text[CLOCK_TEXT_SIZE]);
/* The form that clock_format writes; fraction optional. 0 or -EINVAL. */
int clock_parse(const char *text, int64_t *ret_wall_ns);
/* now, or last + 1 where the clock has not moved on: strictly rising stamps. */
int64_t clock_stamp_after(int64_t now_ns, int64_t last_ns);

#endif
