/* SPDX-License-Identifier: MIT
 *
 * queue: a queue of byte strings, written once and then read from any entry on. The first megabytes
 * stay in memory; what is more goes to an unlinked file. Knows nothing of what it holds.
 */
#ifndef CDC_QUEUE_H
#define CDC_QUEUE_H

#include <stdint.h>
#include "ground/buf.h"

struct queue {
        const char *directory; /* borrowed: where the file is made; NULL = /var/tmp */
        struct buf memory;     /* entries not in the file yet; when reading from it, the window */
        int fd;                /* owned, -1 = nothing spilled */
        uint64_t spilled;      /* bytes in the file */
        uint64_t window;       /* offset of the window while reading */
        uint64_t size;         /* bytes of all entries */
};

void queue_init(struct queue *queue, const char *directory);
void queue_release(struct queue *queue);
/* Empties it for the next use; gives the file back. */
void queue_reset(struct queue *queue);
/* Adds an entry. 0, -ENOMEM, -ENOSPC, -EIO. */
int queue_append(struct queue *queue, const struct buf *entry);
/* The entry that begins at *offset (0, or what an earlier call left there); moves *offset behind
 * it. The bytes hold until the next call. No append may follow before a reset.
 * 1, 0 at the end, -ENOMEM, -EIO. */
int queue_read(
        struct queue *queue, uint64_t *offset, const uint8_t **ret_bytes, uint32_t *ret_size);

#endif
