/* SPDX-License-Identifier: MIT
 *
 * rangename: see the header.
 */
#include "desk/rangename.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ground/clock.h"

enum { DIGITS = LSN_NAME_SIZE - 1, DATE = 8, TIME = 6 };

static bool is_digits(const char *text, size_t count)
{
        return strspn(text, "0123456789") >= count;
}

/* `size` bytes of text as a time: YYYYMMDDThhmmss, a fraction or none, Z. */
static int parse_time(const char *text, size_t size, int64_t *ret_wall_ns)
{
        enum { WHOLE = DATE + 1 + TIME };
        char extended[CLOCK_TEXT_SIZE];
        if (size < WHOLE + 1 || size > CLOCK_TEXT_SIZE - 5 || !is_digits(text, DATE) ||
                text[DATE] != 'T' || !is_digits(text + DATE + 1, TIME))
                return -ENOENT;
        int length = snprintf(extended, sizeof extended, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s%.*s", text,
                text + 4, text + 6, text + 9, text + 11, text + 13, (int)(size - WHOLE),
                text + WHOLE);
        if (length < 0 || (size_t)length >= sizeof extended)
                return -ENOENT;
        return clock_parse(extended, ret_wall_ns) < 0 ? -ENOENT : 0;
}

static int parse_times(const char *name, size_t size, struct rangename *range)
{
        const char *dash = memchr(name, '-', size);
        if (!dash)
                return -ENOENT;
        size_t first = (size_t)(dash - name);
        range->is_by_time = true;
        int r = parse_time(name, first, &range->from_ns);
        return r < 0 ? r : parse_time(dash + 1, size - first - 1, &range->to_ns);
}

static int parse_lsns(const char *name, size_t size, struct rangename *range)
{
        if (size != 2 * DIGITS + 1 || name[DIGITS] != '-' ||
                lsn_parse_name(name, &range->from_lsn) < 0 ||
                lsn_parse_name(name + DIGITS + 1, &range->to_lsn) < 0)
                return -ENOENT;
        return 0;
}

int rangename_parse(const char *name, const char *suffix, struct rangename *ret_range)
{
        size_t size = strlen(name), tail = strlen(suffix);
        struct rangename range = {0};
        if (size < tail || strcmp(name + size - tail, suffix) != 0)
                return -ENOENT;
        size -= tail;
        bool is_by_time = size > DATE && name[DATE] == 'T';
        int r = is_by_time ? parse_times(name, size, &range) : parse_lsns(name, size, &range);
        if (r == 0)
                *ret_range = range;
        return r;
}
