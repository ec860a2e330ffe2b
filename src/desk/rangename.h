/* SPDX-License-Identifier: MIT
 *
 * rangename: what the name of a range says: FROM-TO and the suffix of its format.
 *
 *   by LSN    00000001000000020001-00000001000000050001.csv       both ends included
 *   by time   20261130T100000Z-20261130T110000Z.csv               after the first, up to the second
 *
 * A time is UTC in the basic form of ISO 8601; up to six decimals may follow its seconds
 * (20261130T100000.25Z). It knows neither store nor rows.
 */
#ifndef CDC_RANGENAME_H
#define CDC_RANGENAME_H

#include <stdbool.h>
#include <stdint.h>

#include "ground/lsn.h"

struct rangename {
        bool is_by_time;
        struct lsn from_lsn, to_lsn; /* by LSN */
        int64_t from_ns, to_ns;      /* by time */
};

/* 0, or -ENOENT: no such name. What it says is not judged. */
int rangename_parse(const char *name, const char *suffix, struct rangename *ret_range);

#endif
