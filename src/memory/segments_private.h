/* SPDX-License-Identifier: MIT
 *
 * segments_private: what segments.c (borders), segments_rules.c and segments_load.c (the counts at
 * the start) share.
 */
#ifndef CDC_SEGMENTS_PRIVATE_H
#define CDC_SEGMENTS_PRIVATE_H

#include "memory/segments.h"

struct segments {
        const struct files_format *formats; /* borrowed */
        size_t format_count;
        struct segments_tally *tallies; /* owned, by object_id */
        size_t count;
};

/* Keeps the order. 0 or -ENOMEM. */
int segments_add_tally(struct segments *segments, const struct segments_tally *tally);
void segments_tally_add(struct segments_tally *tally, enum change_operation operation,
        uint64_t number, uint64_t csv_bytes, int64_t commit_ns, int64_t seen_ns);
/* Bytes of one row with its metadata. */
uint64_t segments_estimate_row(const struct value *values, unsigned columns);

#endif
