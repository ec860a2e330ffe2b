/* SPDX-License-Identifier: MIT
 *
 * timerange: a window of commit times as a range of LSNs.
 *
 * The window is half open, (from, to]: the to of one is the from of the next, and nothing is lost
 * or repeated. A gap fails it unless it is known to lie outside: when the changes were made that a
 * gap has lost is known by the transactions before and after it alone.
 *
 *      struct timerange window = {.has_from = true, .from_ns = …, .has_to = true, .to_ns = …};
 *      r = timerange_find(store, object_id, &window, &from, &to, &problem);
 *      if (r > 0)
 *              r = changes_open(store, object_id, from, to, filter, &changes);
 *
 * It is judged as a range of LSNs is, with errors of its own for its ends:
 *   gap      -ENODATA
 *   reversed -EINVAL   313: from > to
 *   outside  -ERANGE   313: from is before the time of min_lsn; to is before it, or later than
 *                      everything known to be captured; an instance that is pending
 * A valid window in which nothing was committed is no error (0). A log that nobody writes to says
 * nothing of how late it is: the caller who knows that everything committed until some moment is
 * captured says so in as_of_ns.
 */
#ifndef CDC_TIMERANGE_H
#define CDC_TIMERANGE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "ground/lsn.h"
#include "ground/problem.h"

struct timerange {
        bool has_from; /* else from min_lsn on, that one included */
        bool has_to;   /* else to max_lsn */
        int64_t from_ns;
        int64_t to_ns;
        int64_t as_of_ns; /* 0: nothing is known but what the store says */
};

/* A time as clock_parse reads it; name: what the message calls it. 0 or -EINVAL. */
int timerange_parse(
        const char *name, const char *text, int64_t *ret_wall_ns, struct problem *problem);
/* 1 with a valid range, 0 where the window is valid and holds no LSN, or negative errno. Rows must
 * be read in the same read transaction. -ENOENT: no such instance. */
int timerange_find(sqlite3 *store, int64_t object_id, const struct timerange *window,
        struct lsn *ret_from, struct lsn *ret_to, struct problem *problem);

#endif
