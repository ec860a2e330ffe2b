/* SPDX-License-Identifier: MIT
 *
 * buffers: scratch memory for replies, one piece a thread.
 *
 * A reply of a MiB from fresh memory costs more in page faults than in copying, so each thread
 * keeps what it once took.
 */
#ifndef CDCFS_BUFFERS_H
#define CDCFS_BUFFERS_H

#include <pthread.h>
#include <stddef.h>

struct buffers {
        pthread_key_t key;
};

/* 0 or negative errno. */
int buffers_init(struct buffers *buffers);
/* Frees what the calling thread has; other threads free theirs when they end. */
void buffers_release(struct buffers *buffers);
/* At least `size` bytes, the calling thread's until its next call. NULL: no memory. */
char *buffers_take(struct buffers *buffers, size_t size);

#endif
