/* SPDX-License-Identifier: MIT
 *
 * state: the one row of cdcfs_state: what the store belongs to, how far it has captured, and the
 * counters that never run backwards.
 *
 * Three owners, so that two writers never overwrite each other's fields:
 *   fixed     written by store_create: store_id, encoding, base_ino
 *   position  written by the capture thread's state_save, at every cycle
 *   counters  changed in place by the functions named beside them; state_save leaves them alone
 * It knows numbers only, not what a WAL is.
 */
#ifndef CDC_STATE_H
#define CDC_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "ground/lsn.h"
#include "ground/text.h"
#include "memory/store.h"

enum {
        STATE_ID_SIZE = 16,
        STATE_INO_COUNT = 1024, /* inode numbers kept free from base_ino on for the mount's own */
};

struct state {
        /* fixed */
        uint8_t store_id[STATE_ID_SIZE]; /* random: two stores never share it */
        enum text_encoding encoding;
        uint64_t base_ino;

        /* position: the source */
        char *source_path; /* owned */
        uint64_t source_device;
        uint64_t source_inode;
        uint32_t page_size;
        /* position: the place in the log */
        uint32_t generation;          /* of LSNs; 0 = never anchored */
        uint8_t wal_salt[8];          /* as in the WAL header; zero = no WAL */
        uint32_t wal_frame;           /* captured up to this commit frame */
        uint8_t wal_frame_header[24]; /* of that frame */
        uint64_t wal_frame_hash;      /* hash_bytes64 of its page image */
        uint32_t database_pages;
        uint32_t schema_cookie;
        bool is_backfilled; /* a clean stop with everything in the database file; then also: */
        int64_t source_size;
        int64_t source_mtime_ns;
        uint32_t source_change_counter;
        /* position: what was captured */
        struct lsn max_lsn;          /* last commit read; zero = none yet. Kept for ever */
        int64_t last_commit_time_ns; /* never falls (mapping_append) */
        uint64_t next_change;        /* next `__$seqval`; starts at 1 */

        /* counters */
        bool has_min_lsn; /* of the database: state_set_min_lsn, instances_recognise */
        struct lsn min_lsn;
        uint64_t next_ino;        /* state_take_inos; below 2^52, never reused */
        int64_t last_mtime_ns;    /* files_publish */
        uint64_t catalog_version; /* +1 by every change of the instances (instances.h) */
        bool capture_stopped;     /* state_set_capture_stopped: the job stays so over restarts */
};

/* 0 or negative errno; -EBADMSG if the row is missing or damaged. Release with state_release. */
int state_load(struct store *store, struct state *ret_state);
void state_release(struct state *state);
/* Writes the position fields, in the caller's transaction. 0 or negative errno. */
int state_save(struct store *store, const struct state *state);

/* In the caller's transaction, like all writes: */
/* Only upwards: a lower mark than the present one is left out. */
int state_set_min_lsn(struct store *store, struct lsn min_lsn);
int state_set_capture_stopped(struct store *store, bool is_stopped);
int state_bump_catalog(struct store *store);
/* Takes `count` neighbouring inode numbers. -EOVERFLOW at 2^52. */
int state_take_inos(struct store *store, unsigned count, uint64_t *ret_first);
/* A strictly rising stamp: at_ns, or one more than the last where that is not later. */
int state_take_mtime(struct store *store, int64_t at_ns, int64_t *ret_mtime_ns);
/* For a look at one number without loading the row. */
int state_catalog_version(struct store *store, uint64_t *ret_version);

#endif
