/* SPDX-License-Identifier: MIT
 *
 * ranges: the ranges that the kernel knows, by node id.
 *
 * A range has no place in the catalog: it is there because somebody looked its name up, and until
 * the kernel forgets it:
 *
 *      lookup   ranges_take     with what cdc_range_open gave
 *      getattr  ranges_status
 *      forget   ranges_forget
 *
 * The node id is the number that the library gave it. What it holds is a handle of the content:
 * some hundred bytes; how many bytes of ranges are kept is the library's budget.
 *
 * Thread-safe; its lock is a leaf.
 */
#ifndef CDCFS_RANGES_H
#define CDCFS_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "cdc.h"

struct ranges;

struct ranges_status {
        uint64_t ino; /* the node id too */
        int64_t object_id;
        uint64_t size;
        int64_t mtime_ns;
};

/* NULL: no memory. */
struct ranges *ranges_new(void);
void ranges_free(struct ranges *ranges); /* NULL is allowed */
/* Counts a lookup of a range of an instance and takes the handle over, on failure too. 0 or
 * -ENOMEM. */
int ranges_take(struct ranges *ranges, int64_t object_id, struct cdc_content *content,
        struct ranges_status *ret_status);
/* -ESTALE: not known (any more). */
int ranges_status(struct ranges *ranges, uint64_t id, struct ranges_status *ret_status);
void ranges_forget(struct ranges *ranges, uint64_t id, uint64_t lookups);
/* How many are known now. */
size_t ranges_count(struct ranges *ranges);

#endif
