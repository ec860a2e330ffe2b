/* SPDX-License-Identifier: MIT
 *
 * spool: rendered bytes put aside, in a file without a name: it goes with the process.
 *
 * Small ones live in memory (memfd), large ones on a disk. Written by one thread at a time at
 * the end, read by any number of threads in what is written. Knows nothing of its bytes.
 */
#ifndef CDC_SPOOL_H
#define CDC_SPOOL_H

#include <stddef.h>
#include <stdint.h>

enum { SPOOL_MEMORY_SIZE = 8 << 20 }; /* from this size on it goes to the disk */

/* For about `size` bytes; `directory` is where a large one goes if it can (else TMPDIR or
 * /var/tmp). *ret_fd is the caller's to close. */
int spool_open(const char *directory, uint64_t size, int *ret_fd);
/* All bytes at `offset`, or a negative errno (-ENOSPC). */
int spool_write(int fd, const void *bytes, size_t size, uint64_t offset);
/* Gives the room of bytes back that nobody reads any more. Negative errno: they take room until the
 * spool is closed. */
int spool_discard(int fd, uint64_t offset, uint64_t size);
/* All bytes, which must have been written: -EIO where they are not there. */
int spool_read(int fd, void *buffer, size_t size, uint64_t offset);

#endif
