/* SPDX-License-Identifier: MIT
 *
 * capture: the capture job of one database, one step at a time. A step looks at the log, writes
 * what is new into the store, keeps both durable by the rule below, moves the pin, drives
 * checkpoints and answers requests. It starts no thread and waits for nothing but the disk, the
 * store's lock and at most 11 ms for a checkpoint; it returns how long it may be left alone.
 *
 * Durability: the source's WAL, then the store, are synced at most every 100 ms while there is
 * work, and always before a pin moves, a file is listed, or a request is answered.
 */
#ifndef CDC_CAPTURE_H
#define CDC_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include "ground/clock.h"
#include "ground/log.h"
#include "ground/lsn.h"
#include "ground/problem.h"
#include "memory/files.h"
#include "memory/segments.h"

struct capture;

struct capture_options {
        const char *source; /* borrowed for the life of the capture, as the next two */
        const char *store;
        const struct log *log;
        struct segments_limits limits;
        bool is_barrier_off;
        /* Asked before a request is answered: one that ends leaves it to whoever comes next. NULL
         * is allowed. */
        bool (*is_ending)(void *context);
        void *ending_context;
        bool is_wake_off;          /* the job works in passes, with pollinginterval between them */
        bool is_scan;              /* of a command: one pass, whether the job is stopped or not */
        uint32_t formats;          /* that files are closed in, as render_parse_formats; 0 = all */
        int64_t linger_ns;         /* how long a withdrawn file can still be opened */
        uint64_t max_store;        /* bytes; over it holds yield. 0 = no limit */
        const struct clock *clock; /* of cleanup; NULL = the system's */
};

/* What a step found; for those who wait for news. */
struct capture_pulse {
        struct lsn end_of_log; /* last commit in the log that a look found; zero = none yet */
        int64_t as_of_ns;      /* wall time of the last look that found the end of the log */
        bool is_caught_up;
};

/* What has been measured of a closed file, by the sealing thread. */
struct capture_measure {
        uint64_t ino;
        struct files_measure measure;
};

/* Takes the lock (identity.h), opens store and source, decides where to go on and records a gap
 * where that is not behind the stored position. -EBUSY: another process runs the jobs. -EADDRINUSE:
 * those of the store, for another database. -EXDEV: the store belongs to another database. Else the
 * error of what could not be opened, told in *problem. */
int capture_open(const struct capture_options *options, struct capture **ret_capture,
        struct problem *problem);
/* Captures what is committed, makes it durable, and lets go. NULL is allowed. */
void capture_close(struct capture *capture);
/* is_event: something was seen to move since the last step. *ret_wait_ns: when to call again at
 * the latest. 0, or an error after which the next step tries again from the stored position;
 * *problem tells it. */
int capture_step(
        struct capture *capture, bool is_event, int64_t *ret_wait_ns, struct problem *problem);
/* One pass for a command: at most maxscans cycles of maxtrans transactions, made durable.
 * Instances that are pending are recognised. */
int capture_run_scan(struct capture *capture, int64_t maxtrans, int64_t maxscans);
/* True once after files were closed or published, or anything else that a mount shows has
 * changed. */
bool capture_take_news(struct capture *capture);
/* True once after files were closed that wait to be measured. */
bool capture_take_closed(struct capture *capture);
/* Each time that an instance's open file has grown much: true with the instance and the last
 * change that is in the store. Ask until it is false. */
bool capture_take_grown(struct capture *capture, int64_t *ret_object_id, uint64_t *ret_end);
/* Lists measured files: they appear, durable. 0 or negative errno (to be tried again). */
int capture_publish(struct capture *capture, const struct capture_measure *measures, size_t count);
void capture_pulse(const struct capture *capture, struct capture_pulse *ret_pulse);
/* The files whose writes wake the job: the source's WAL and file, the store's WAL. */
const char *capture_source_path(const struct capture *capture);
const char *capture_store_path(const struct capture *capture);

#endif
