/* SPDX-License-Identifier: MIT
 *
 * readers: threads that answer the requests whose bytes must be rendered first.
 *
 * A render takes milliseconds, a large file seconds. FUSE's workers hand such requests over and
 * go on, so that ls and stat always find a worker, however many clients read what is not there
 * yet. Order is first come, first served; the queue is as long as the kernel's.
 *
 * A request that was interrupted is given up with EINTR, but not at once: programs that send
 * themselves signals all the time would never be done, and one that was killed must not wait for
 * ever. It has five seconds more, in the queue as at work.
 */
#ifndef CDCFS_READERS_H
#define CDCFS_READERS_H

#include <stdbool.h>

#include "fuse_api.h"

struct openfile;
struct readers;

enum { READERS_COUNT = 4, READERS_RANGE_COUNT = 2, READERS_MAX = 16, READERS_GRACE_S = 5 };

/* One request, with what its answer needs. */
struct readers_job {
        void (*answer)(const struct readers_job *job); /* replies, on a thread of this room */
        fuse_req_t request;
        fuse_ino_t id;
        struct openfile *file; /* open until then: it is released after its reads are answered */
        uint64_t offset;
        size_t size;
        void *context; /* owned: freed after the answer; NULL = none */
};

/* Starts the threads; the caller has blocked signals. 0 or negative errno. */
int readers_start(unsigned count, struct readers **ret_readers);
/* Answers what is queued with EIO, waits for the threads. Before the session is destroyed. NULL
 * is allowed. */
void readers_stop(struct readers *readers);
/* Takes the request over: it is answered. 0, or -ENOMEM with the request still the caller's. */
int readers_post(struct readers *readers, const struct readers_job *request);
/* Asked by an answer at work, now and then: shall it be given up? */
bool readers_should_stop(const struct readers_job *job);

#endif
