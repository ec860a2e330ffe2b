/* SPDX-License-Identifier: MIT
 *
 * readers: threads that answer the reads whose bytes must be rendered first.
 *
 * A render takes milliseconds, a large file seconds. FUSE's workers hand such reads over and go
 * on, so that ls and stat always find a worker, however many clients read what is not there yet.
 * Order is first come, first served; the queue is as long as the kernel's.
 */
#ifndef CDCFS_READERS_H
#define CDCFS_READERS_H

#include "fuse_api.h"

#include "buffers.h"
#include "cdc.h"

struct readers;

enum { READERS_COUNT = 4 };

/* Starts the threads; the caller has blocked signals. 0 or negative errno. `buffers` is
 * borrowed. */
int readers_start(struct buffers *buffers, struct readers **ret_readers);
/* Answers what is queued with EIO, waits for the threads. Before the session is destroyed. NULL
 * is allowed. */
void readers_stop(struct readers *readers);
/* Takes the request over and answers it. The content must stay open until then, as it does:
 * the kernel releases a file after its reads were answered. 0, or -ENOMEM with the request still
 * the caller's. */
int readers_post(struct readers *readers, fuse_req_t request, struct cdc_content *content,
        uint64_t offset, size_t size);

#endif
