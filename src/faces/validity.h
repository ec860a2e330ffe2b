/* SPDX-License-Identifier: MIT
 *
 * validity: may this range of LSNs be asked for?
 *
 * The interval [min_lsn, max_lsn] of an instance is what its change table can answer for. A
 * range not wholly inside it, or one that touches a gap, is an error that names the cause, the
 * interval and what was asked, never a shorter result (sys.fn_cdc_check_parameters, which gave
 * one message, 313, for every cause).
 *
 * The order of the checks binds, because a consumer acts on the first that fails:
 *   gap      -ENODATA  something is missing in the range, or capture of the instance stopped
 *   nothing  -EAGAIN   from is the LSN after max_lsn (and to is not before max_lsn): the
 *                      consumer has read everything, and asks again later
 *   reversed -EINVAL   from > to
 *   outside  -ERANGE   number 313; also every range of a pending instance
 * Each cause has words of its own. Ranges of time are timerange's.
 */
#ifndef CDC_VALIDITY_H
#define CDC_VALIDITY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "ground/lsn.h"
#include "ground/problem.h"

struct validity {
        bool is_pending; /* no agent has recognised it: there is no interval yet */
        struct lsn min;
        struct lsn max;
};

/* An LSN in any text form; name: what the message calls it. 0 or -EINVAL. */
int validity_parse_lsn(
        const char *name, const char *text, struct lsn *ret_lsn, struct problem *problem);
/* The two ends of a range. */
int validity_parse(const char *from, const char *to, struct lsn *ret_from, struct lsn *ret_to,
        struct problem *problem);
/* The interval of an instance, or of the database with object_id 0. -ENOENT for an instance that
 * is not there. */
int validity_read(sqlite3 *store, int64_t object_id, struct validity *ret_validity);
/* 0 if [from, to] may be read from the instance. The rows must be read in the same read
 * transaction, or a cleanup may come between. */
int validity_check(
        sqlite3 *store, int64_t object_id, struct lsn from, struct lsn to, struct problem *problem);
/* Its first check alone: 0 or -ENODATA. */
int validity_check_gap(
        sqlite3 *store, int64_t object_id, struct lsn from, struct lsn to, struct problem *problem);

#endif
