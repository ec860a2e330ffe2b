/* SPDX-License-Identifier: MIT
 *
 * segments_private: what segments.c (borders), segments_rules.c, segments_load.c (the counts at the
 * start) and segments_mapping.c (the files that are no instance's) share.
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
/* Ends the open files of an instance, of one format or (NULL) of all; *closed counts them. */
int segments_close_files(struct store *store, const struct segments_tally *tally,
        const char *format, struct lsn to_lsn, int64_t segment, int64_t now_ns, unsigned *closed);

/* The files of lsn_time_mapping and of transactions/ take part in every border, in the caller's
 * transaction: opens the first of each from from_lsn on, unless one is open; */
int segments_open_mapping(
        const struct segments *segments, struct store *store, struct lsn from_lsn);
/* at the start, where a store has rows and no such files yet; */
int segments_load_mapping(const struct segments *segments, struct store *store);
/* ends those that are open and opens the next, if there are rows in them. */
int segments_close_mapping(const struct segments *segments, struct store *store, struct lsn to_lsn,
        int64_t segment, int64_t now_ns);
/* Bytes of one row with its metadata. */
uint64_t segments_estimate_row(const struct value *values, unsigned columns);

#endif
