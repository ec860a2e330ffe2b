/* SPDX-License-Identifier: MIT
 *
 * segments: where files end.
 *
 * The capture thread counts each change it appends; after a source transaction it asks whether a
 * border is due, and closes in the same store transaction. A border is global and lies between
 * two transactions; each instance's files take part if they have rows and are large or old enough
 * (design §5). The counts live in memory and are found again from the store at the start.
 *
 * lsn_time_mapping has files too, as a table and as transactions/, which end at every border. It
 * opens successors of what it closes, so that every recognised instance always has one open file in
 * each format that is not off, those of net changes only where it supports them. All are one file
 * as to where they begin and end, so that one of net changes may come out without a row.
 */
#ifndef CDC_SEGMENTS_H
#define CDC_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ground/lsn.h"
#include "meaning/change.h"
#include "memory/files.h"
#include "memory/store.h"

enum segments_cause {
        SEGMENTS_NONE,
        SEGMENTS_SIZE,
        SEGMENTS_AGE,
        SEGMENTS_DDL,
        SEGMENTS_ROTATE,
        SEGMENTS_RESYNC,
        SEGMENTS_GAP,
        SEGMENTS_STOP,
};

struct segments_limits {
        uint64_t size;  /* bytes of CSV of any one instance: border */
        int64_t age_ns; /* of the oldest change in an open file: border */
        uint64_t small; /* an instance's file below this waits until it is age_ns old */
};

#define SEGMENTS_LIMITS_DEFAULT                                                                    \
        {                                                                                          \
                .size = 16 << 20, .age_ns = 300 * INT64_C(1000000000), .small = 64 << 10           \
        }

/* The open file of one instance, all formats together. */
struct segments_tally {
        int64_t object_id;
        struct lsn from_lsn;
        uint64_t csv_bytes;  /* estimated */
        uint64_t told_bytes; /* of them, as segments_take_grown said last */
        int64_t rows;        /* lines; 0: nothing yet */
        int64_t inserts, updates, deletes;
        uint64_t first_change, last_change;
        int64_t first_time_ns, last_time_ns; /* commit times */
        int64_t first_seen_ns;               /* when its first change was captured: its age */
        bool has_net;                        /* files of net changes too */
};

/* The pure rules. Is a border due now? SEGMENTS_SIZE, SEGMENTS_AGE or SEGMENTS_NONE. */
enum segments_cause segments_due(const struct segments_limits *limits,
        const struct segments_tally *open, size_t count, int64_t now_ns);
/* Does this instance's file close at a border of that cause? */
bool segments_should_close(const struct segments_limits *limits, const struct segments_tally *open,
        enum segments_cause cause, int64_t now_ns);
/* When SEGMENTS_AGE will be due if nothing more comes; INT64_MAX = never. */
int64_t segments_deadline(
        const struct segments_limits *limits, const struct segments_tally *open, size_t count);
/* "size", "age", "ddl", "rotate", "resync", "gap", "stop"; "" for none. */
const char *segments_cause_name(enum segments_cause cause);
/* Bytes that a change takes as CSV, metadata included, within a few per cent. */
uint64_t segments_estimate(const struct change *change);

struct segments;

/* Finds the open files of all recognised instances and counts their rows. Formats that an
 * instance has no open file in get one, which begins where the others do: what was closed before
 * has no file in a format that came later. One of a format that is off now is closed with the
 * others and has no successor. In the caller's write transaction. formats is borrowed for
 * the life of the segments. Also call it anew after a rollback: counts in memory are ahead then. */
int segments_load(struct store *store, const struct files_format *formats, size_t format_count,
        struct segments **ret_segments);
void segments_free(struct segments *segments);
void segments_freep(struct segments **segments);

/* An instance was recognised: opens its files from start_lsn on. next_change = state.next_change.
 * In the caller's transaction. */
int segments_open(struct segments *segments, struct store *store, int64_t object_id,
        struct lsn start_lsn, uint64_t next_change);
/* It was disabled. */
void segments_forget(struct segments *segments, int64_t object_id);

/* Counts a change that was appended: number = its `__$seqval`, commit_ns = its commit time. */
void segments_add(struct segments *segments, const struct change *change, uint64_t number,
        int64_t commit_ns, int64_t now_ns);
const struct segments_tally *segments_list(const struct segments *segments, size_t *ret_count);

/* Once for every `step` bytes that an instance's open file grows: true with one of those. */
bool segments_take_grown(struct segments *segments, uint64_t step, int64_t *ret_object_id);

/* A border after to_lsn, in the caller's transaction: closes the files that take part, opens
 * their successors from to_lsn + 1 on and records the segment. *ret_closed: files of
 * instances closed (all formats), 0 where none took part. */
int segments_close(struct segments *segments, struct store *store,
        const struct segments_limits *limits, struct lsn to_lsn, enum segments_cause cause,
        uint64_t next_change, int64_t now_ns, unsigned *ret_closed);
/* After a gap that ended at gap_to (all files with rows were closed before it): open files begin
 * at gap_to + 1. object_id 0: all instances. */
int segments_skip(
        struct segments *segments, struct store *store, int64_t object_id, struct lsn gap_to);

#endif
