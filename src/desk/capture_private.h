/* SPDX-License-Identifier: MIT
 *
 * capture_private: the state that the files of the room "capture" share. Nobody else includes it.
 *
 *   capture.c          the step: when to do what
 *   capture_open.c     opening: lock, store, source, where to go on
 *   capture_cycle.c    one scan cycle, durability, the pin
 *   capture_request.c  instances that come and go, requests of commands
 *   capture_jobs.c     the job: running, stopped, in passes
 *   capture_cleanup.c  the cleanup job
 */
#ifndef CDC_CAPTURE_PRIVATE_H
#define CDC_CAPTURE_PRIVATE_H

#include "desk/capture.h"
#include "desk/scan.h"
#include "meaning/logreader.h"
#include "memory/cleanup.h"
#include "memory/jobs.h"
#include "memory/requests.h"
#include "source/checkpoint.h"
#include "source/identity.h"
#include "source/pin.h"

/* The cleanup job (capture_cleanup.c). */
struct capture_cleanup {
        int64_t due_ns;        /* wall time: when it begins next */
        int64_t linger_due_ns; /* monotonic: when a withdrawn file may go */
        int64_t retry_ns;      /* monotonic: not before */
        int64_t threshold;     /* rows a batch, of the purge at work */
        bool is_purging;
        struct cleanup_purge purge;
};

struct capture {
        struct capture_options options;
        struct identity identity;
        int store_fd; /* keeps the lock of the store; never closed */
        int index_fd; /* of the wal-index: asked for locks */
        struct database *database;
        struct checkpoint checkpoint;
        struct logreader *reader;
        struct store *store;
        struct state state;
        struct instances instances;
        struct segments *segments;
        struct sessions *sessions;
        struct files_format *formats;
        struct jobs jobs;
        char *directory; /* of the store: spilled changes go there */

        bool is_dirty;    /* written since the last sync */
        bool is_behind;   /* captured since the pin moved */
        bool is_failed;   /* the reader must be opened anew, from the stored position */
        bool is_held;     /* the log was pinned all the time since the stored position */
        bool is_anchored; /* the pin was taken when the database file held everything */
        bool has_event;   /* something moved, and requests were not looked at since */
        bool has_news, has_closed;
        bool has_unsigned;     /* frames with zeroed salts were met and told */
        int64_t pinned_ns;     /* when the pin moved; monotonic, as all that follow */
        int64_t aside_ns;      /* when it stepped aside */
        int64_t cycle_ns;      /* begin of the last scan cycle */
        int64_t moved_ns;      /* when something last moved */
        int64_t pause_ns;      /* of the watch phase: grows while nothing comes */
        int64_t retry_ns;      /* pause after a failure: grows */
        uint64_t unsigned_cut; /* of the frames without checksum: how many were cut with the log */
        uint32_t blocked_frames; /* length of the log when another reader kept it from being cut */
        bool is_barrier_wanted;  /* and could not be had just now */
        uint32_t seen_frames;    /* length of the log when it was looked at last, */
        int64_t seen_ns;         /* and when that was */
        int64_t open_ns;         /* how long the open part of a checkpoint takes */
        struct capture_pulse pulse;
        bool is_stopped; /* the capture job is; requests are answered, the pin is kept */
        int64_t pass_ns; /* when the next pass is due, if the job works in passes */
        struct capture_cleanup cleanup;
        int64_t rotate_id;  /* request that waits for files to be listed, or 0 */
        int64_t request_id; /* last request taken */
};

/* capture_cycle.c */
/* Captures up to the end of the log as a poll finds it. *ret_count: transactions. */
int capture_scan(struct capture *capture, unsigned *ret_count);
/* The same in at most `cycles` cycles of `limit` transactions: 1 if that was not enough. */
int capture_scan_some(struct capture *capture, int64_t limit, int64_t cycles, unsigned *ret_count);
/* Syncs the source's WAL, then the store. */
int capture_sync(struct capture *capture);
/* Hand over hand: the next pin, everything up to it captured and durable, the old one let go. */
int capture_move_pin(struct capture *capture);
/* Fills the state's position from the reader. */
int capture_note_position(struct capture *capture);
/* Holds the writers and checkpoints if the log has grown beyond what can wait. */
int capture_bound_log(struct capture *capture);
bool capture_is_log_long(const struct capture *capture);
/* Gets out of the way of a checkpoint of the application that waits for the pin. */
int capture_make_way(struct capture *capture, int64_t now);
/* Checkpoints where they are due. */
int capture_drive_checkpoint(struct capture *capture, bool is_idle);
/* Captures what is committed and copies all of the log; true if that is how it stands. */
bool capture_finish_log(struct capture *capture);
/* Closes a segment in a store transaction of its own. */
int capture_close_segment(struct capture *capture, enum segments_cause cause, unsigned *ret_closed);

/* capture_open.c */
/* Opens the reader behind the stored position (after a failure: with the pin it had). */
int capture_reopen(struct capture *capture, struct problem *problem);
/* Loads what the store says of instances, inside or outside a transaction. */
int capture_load_instances(struct capture *capture);

/* capture_request.c */
/* Recognises the loaded instances that no capture has recognised yet. Inside a transaction. */
int capture_recognise_pending(struct capture *capture);
/* Loads instances anew where they changed and lets go of those that went. Inside a transaction. */
int capture_follow_catalog(struct capture *capture);
int capture_answer_requests(struct capture *capture);
/* Finishes a request, durable; problem may be NULL. */
int capture_finish(struct capture *capture, int64_t id, int result, const struct problem *problem);
/* Tells the reader to capture an instance. Errors are recorded with it. Inside a transaction. */
int capture_attach(struct capture *capture, const struct instance *instance);
/* Takes up what the catalog says now: captures all that is committed, then recognises. */
int capture_follow_now(struct capture *capture);

/* capture_jobs.c */
/* Appends the command that makes a capture job run that does not: start-job, or add-job where there
 * is none. */
void capture_hint_start(const struct capture *capture, struct buf *buf);
/* The job starts, or an agent does: reads its parameters and whether it is stopped. */
int capture_read_job(struct capture *capture);
/* Is this another mode than following the log steadily? */
bool capture_is_in_passes(const struct capture *capture);
/* A pass if one is due. */
int capture_run_pass(struct capture *capture, int64_t now);
/* How long it may be left alone, in passes. */
int64_t capture_pass_wait(const struct capture *capture, int64_t now);
/* 1: it was one of start-job, stop-job, scan, and is finished; 0: another; or negative errno. */
int capture_answer_job(struct capture *capture, const struct request *request);

/* capture_cleanup.c */
int capture_open_cleanup(struct capture *capture);
/* Moves marks where that is due, and deletes at most one batch of rows. */
int capture_step_cleanup(struct capture *capture);
/* How long it may be left alone. */
int64_t capture_cleanup_wait(const struct capture *capture);
/* Files were published, in this transaction. */
int capture_note_listed(struct capture *capture);
/* As capture_answer_job: cleanup, stop-cleanup, cleanup-change-table. */
int capture_answer_cleanup(struct capture *capture, const struct request *request);

/* capture.c */
/* The end of the log was found. */
void capture_note_pulse(struct capture *capture);

#endif
